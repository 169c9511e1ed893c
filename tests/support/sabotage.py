"""Faults planted in a copy of the design, to see the testbench find them.

One build holds all of them. A program chooses one by a number in a field that its first
instruction, an LD, does not use; a program that chooses 0 runs on the sound design.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from planting import design_copy, extend, reconnect, redirect

CLEAR = "begin_clear"


CLEAR = "begin_clear"


@dataclass(frozen=True)
class Sabotage:
    """One planted fault.

    Attributes:
        name: what it is.
        net: net of ``ga2`` it falsifies.
        width: bits of the net.
        wrong: the net's value while the fault is chosen; ``{0}`` is the sound value.
    """

    name: str
    net: str
    width: int
    wrong: str


def _counter(net: str) -> Sabotage:
    # Only once the program is over, so that nothing but the final value is wrong.
    return Sabotage(f"{net} one too high", net, 32, "{0} + 32'(halted)")


WRONG_ADDRESS = 205  # of the external word that some of the faults hit
HIT = f"(wr_addr == 16'd{WRONG_ADDRESS})"

SABOTAGES = (
    Sabotage("wrong word", "wr_data", 32, "{0} ^ 32'(" + HIT + ")"),
    Sabotage("dropped write", "wr_valid", 1, "{0} && !" + HIT),
    _counter("cyc_total"),
    _counter("cyc_mm"),
    _counter("cyc_dma"),
    _counter("cyc_vec"),
    _counter("n_inst"),
    Sabotage("hang", "amax_done", 1, "1'b0"),
    Sabotage("spurious fault", "check_code", 4, "op == 6 ? 4'd5 : {0}"),
    Sabotage("extra read", "req_valid", 1, "{0} || req_last"),
    Sabotage("wrong product", "mm_wdata", 32, "{0} ^ 32'd64"),
    Sabotage("late instruction", "rq_done", 1, "rq_late"),
    Sabotage("unknown word", "wr_data", 32, "(" + HIT + " ? 'x : {0})"),
    Sabotage("counter not held", "cyc_vec", 32, "{0} + 32'(after_end)"),
    Sabotage("read outside LD", "req_valid", 1, "{0} || (op == 6 && issue)"),
    Sabotage("start not ignored", CLEAR, 1, "start"),
    # Shows in the next program, because a program chooses its fault after it was started.
    Sabotage("not cleared", CLEAR, 1, "1'b0"),
    Sabotage("write outside ST", "wr_valid", 1, "{0} || (op == 6 && issue)"),
    Sabotage("read skips", "req_addr", 16, "{0} + 16'({0} > 50)"),
    Sabotage("write skips", "wr_addr", 16, "{0} + 16'({0} > 205)"),
    Sabotage("early end", "ld_done", 1, "req_last && !req_valid_ok"),
    Sabotage("end not held", "fault_pc", 16, "{0} + 16'(after_end)"),
    Sabotage("fault alone", "fault", 1, "{0} || (op == 6 && issue)"),
    Sabotage("stray write", "mm_we", 1, "{0} || (op == 3 && issue)"),
)

STATE = """
  // Planted faults.
  logic [17:0] chosen;
  logic req_last, rq_late, after_end;
  always_ff @(posedge clk) begin
    if (rst || begin_run) chosen <= '0;
    else if (issue && pc_q == 0) chosen <= instr[17:0];
    req_last <= req_valid_ok;
    rq_late <= rq_done_ok;
    after_end <= halted;
  end
"""


def number(name: str) -> int:
    """The number by which a program chooses the fault."""
    return next(i for i, sabotage in enumerate(SABOTAGES, 1) if sabotage.name == name)


def plant(source: Path, target: Path) -> Path:
    """Copy the design and plant all faults in the copy's top; returns the copy's folder.

    Raises:
        PatchError: a net is not driven in one place.
    """
    folder = design_copy(source, target)
    top = folder / "ga2.sv"
    # An input of the counters: what was connected to it is the sound value.
    text, cleared_by = reconnect(top.read_text(), "ga2_counters", "clear", CLEAR)
    declarations, assigns = [f"  wire {CLEAR};"], [f"  assign {CLEAR}_ok = {cleared_by};"]
    for net in dict.fromkeys(s.net for s in SABOTAGES):
        mine = [(i, s) for i, s in enumerate(SABOTAGES, 1) if s.net == net]
        if net != CLEAR:
            text = redirect(folder, text, net)
        declarations.append(f"  wire [{mine[0][1].width - 1}:0] {net}_ok;")
        value = f"{net}_ok"
        for i, s in mine:
            value = f"chosen == 18'd{i} ? ({s.wrong.format(net + '_ok')}) : ({value})"
        assigns.append(f"  assign {net} = {value};")
    top.write_text(extend(text, "\n".join(declarations) + "\n", STATE + "\n".join(assigns) + "\n"))
    return folder
