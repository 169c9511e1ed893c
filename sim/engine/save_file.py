"""A GTKWave save file beside every wave: ``gtkwave build/waves/<name>.gtkw`` shows what matters."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sim.engine.wave_names import WaveError, signal_names

# What to show, in groups; names as in the top of the design.
GROUPS: dict[str, tuple[str, ...]] = {
    "Sequencer": (
        *("clk", "rst", "start", "u_sequencer.state_q", "pc_q", "op", "issue", "retire"),
        *("issue_fault", "issue_start", "halted", "fault", "fault_code", "fault_pc"),
    ),
    "Counters": ("cyc_total", "cyc_mm", "cyc_dma", "cyc_vec", "n_inst"),
    "External bus": (
        *("req_valid", "req_addr", "resp_valid", "resp_data", "wr_valid", "wr_addr", "wr_data"),
    ),
    "Scratchpad ports": (
        *("spad_ren", "spad_raddr", "spad_rdata", "spad_we", "spad_waddr", "spad_wdata"),
    ),
    "Units that end": (
        *("ld_done", "st_done", "mm_done", "rq_done", "sm_done", "vadd_done", "amax_done"),
        "unpack_done",
    ),
}
TOP = "ga2_tb.dut."
DECIMAL = frozenset(GROUPS["Counters"])
# Display flags of GTKWave: kind of number, justified to the right; groups that open and close.
BIT, HEX, UNSIGNED, OPEN, CLOSE = "@28", "@22", "@24", "@800200", "@1000200"


def save_path(waves: Path) -> Path:
    """Return where the save file of a wave file lies."""
    return waves.with_suffix(".gtkw")


def choose(names: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return for each group the signals of a wave that belong to it: {short name: full name}."""
    found: dict[str, str] = {}
    for name in names:
        # Verilator has a scope of its own above the testbench.
        _, top, rest = name.rpartition(TOP)
        if top:
            found.setdefault(rest.partition("[")[0], name)
    return {
        group: {wanted: found[wanted] for wanted in signals if wanted in found}
        for group, signals in GROUPS.items()
    }


def save_text(waves: Path, groups: dict[str, dict[str, str]]) -> str:
    """Return the text of a save file."""
    lines = [
        f'[dumpfile] "{waves.resolve()}"',
        f'[savefile] "{save_path(waves).resolve()}"',
        *("[timestart] 0", "[size] 1500 950", "[pos] -1 -1"),
        *("[sst_width] 200", "[signals_width] 260", "[sst_expanded] 1"),
    ]
    for group, signals in groups.items():
        if not signals:
            continue
        lines += [OPEN, f"-{group}"]
        for short, name in signals.items():
            vector = name.endswith("]")
            lines += [UNSIGNED if short in DECIMAL else HEX if vector else BIT, name]
        lines += [CLOSE, f"-{group}"]
    return "\n".join([*lines, "[pattern_trace] 1", "[pattern_trace] 0", ""])


def write_save_file(waves: Path) -> Path | None:
    """Write the save file of a wave file and return it; None when the waves cannot be read."""
    try:
        groups = choose(signal_names(waves))
    except (WaveError, OSError):  # the simulator died over it
        return None
    path = save_path(waves)
    path.write_text(save_text(waves, groups))
    return path
