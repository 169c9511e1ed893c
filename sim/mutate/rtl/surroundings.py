"""What surrounds single modules on the chip: when they start, with what, and what holds still.

A proof about a module alone lets its inputs be anything. Here they are what the chip gives them.
The rules carry the labels that ``hw/formal`` gives such things. What has no label is plain from the
sequencer's text: a run begins while none runs, an instruction is of one operation, and FETCH and
ISSUE lie between the work of two units.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

LEGAL = "start_is_legal"
HOLD = "operands_hold"
RETIRE = "retire_is_waiting"


@dataclass(frozen=True)
class Surroundings:
    """Rules for the inputs of a module.

    Attributes:
        assumes: labels of ``hw/formal/proofs.yaml``.
        legal: condition on the operands of a start, for a unit; empty for what is none.
        held: inputs that keep their values from the start to the end, for a unit.
        done: output that ends a unit's work.
        rules: expressions for other inputs, of inputs, and outputs ``raw_<name>``.
    """

    assumes: tuple[str, ...]
    legal: str = ""
    held: tuple[str, ...] = ()
    done: str = "done"
    rules: tuple[tuple[str, str], ...] = ()


_SOME = "len != 0"
_UNIT = (LEGAL, HOLD)

SURROUNDINGS = {
    "ga2_load": Surroundings(_UNIT, _SOME, ("dst", "src", "len")),
    "ga2_store": Surroundings(_UNIT, _SOME, ("dst", "src", "len")),
    "ga2_matmul": Surroundings(
        _UNIT,
        "m != 0 && m <= 4 && k != 0 && k <= 64 && n != 0 && n <= 4",
        ("dst", "base_a", "base_b", "m", "k", "n", "tb", "lda", "ldb", "ldc"),
    ),
    "ga2_requant": Surroundings(_UNIT, _SOME, ("dst", "src", "len", "m", "s", "relu")),
    "ga2_softmax": Surroundings(_UNIT, _SOME, ("dst", "src", "len")),
    "ga2_vadd": Surroundings(_UNIT, _SOME, ("dst", "src1", "src2", "len")),
    "ga2_amax": Surroundings(_UNIT, _SOME, ("dst", "src", "len")),
    "ga2_unpack": Surroundings(_UNIT, _SOME, ("dst", "src", "len"), "done_q"),
    "ga2_sequencer": Surroundings((RETIRE,), rules=(("retire", "retire && raw_waiting"),)),
    "ga2_counters": Surroundings(
        (RETIRE,),
        rules=(
            ("waiting", "waiting && running"),
            ("retire", "retire && waiting && running"),
            ("clear", "clear && !running"),
            ("is_dma", "is_dma && !is_mm"),
        ),
    ),
}


def inputs(module: str, widths: dict[str, int]) -> str:
    """Return Verilog that drives ``use_<name>`` for each input ``<name>`` by a module's rules.

    Args:
        module: whose rules.
        widths: of its inputs by name.
    """
    rules = SURROUNDINGS[module]
    given = dict(rules.rules)
    lines = []
    if rules.legal:
        given["start"] = f"start && !busy && !rests && ({rules.legal})"
        given |= {name: f"busy ? (sane ? held_{name} : 1) : {name}" for name in rules.held}
        lines += ["  reg busy;", "  reg rests;"]
        lines += [f"  reg [{widths[name] - 1}:0] held_{name};" for name in rules.held]
        # What is held is always legal; saying so once more spares the engines to find it out.
        sane = re.sub("|".join(rf"\b{name}\b" for name in rules.held), r"held_\g<0>", rules.legal)
        lines.append(f"  wire sane = {sane};")
    for name, width in widths.items():
        lines.append(f"  wire [{width - 1}:0] use_{name} = {given.get(name, name)};")
    if rules.legal:
        held = " ".join(f"held_{name} <= {name};" for name in rules.held)
        lines += [
            "  always @(posedge clk) begin",
            f"    busy <= !rst && (use_start || (busy && !raw_{rules.done}));",
            "    rests <= busy;",  # FETCH and ISSUE lie between two units' work
            f"    if (use_start) begin {held} end",
            "  end",
        ]
    return "\n".join(lines)
