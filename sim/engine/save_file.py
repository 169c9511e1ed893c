"""A GTKWave save file beside every wave: ``gtkwave build/waves/<name>.gtkw`` shows what matters."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path

from pywellen import Waveform
from vcd.gtkw import GTKWSave

from sim.shared.files import write_text

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


class WaveError(ValueError):
    """A file that is not a complete wave file of a known format; the message names it."""


def save_path(waves: Path) -> Path:
    """Return where the save file of a wave file lies."""
    return waves.with_suffix(".gtkw")


def signal_names(path: Path) -> list[str]:
    """Return all signals of an FST or VCD as GTKWave names them: ``ga2_tb.dut.pc_q[15:0]``.

    The range follows from the width: the design counts all bits down to 0.

    Raises:
        WaveError: the file is cut off, of another format, or not there.
    """
    try:
        signals = list(Waveform(str(path)).all_vars())
    except RuntimeError as error:
        raise WaveError(f"{path}: {' '.join(str(error).split())}") from None
    widths = [(signal.full_name, signal.bitwidth or 1) for signal in signals]
    return [name if width == 1 else f"{name}[{width - 1}:0]" for name, width in widths]


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
    text = io.StringIO()
    save = GTKWSave(text)
    save.dumpfile(str(waves))
    save.savefile(str(save_path(waves)))
    save.timestart(0)
    save.size(1500, 950)
    save.pos(-1, -1)
    save.sst_expanded(True)
    for group, signals in groups.items():
        if signals:
            with save.group(group):
                for short, name in signals.items():
                    vector = "hex" if name.endswith("]") else "bin"
                    save.trace(name, datafmt="dec" if short in DECIMAL else vector)
    return text.getvalue()


def write_save_file(waves: Path) -> Path | None:
    """Write the save file of a wave file and return it; None when the waves cannot be read."""
    try:
        groups = choose(signal_names(waves))
    except WaveError:  # the simulator died over it
        return None
    path = save_path(waves)
    write_text(path, save_text(waves, groups))
    return path
