"""Bugs of single instructions in a copy of the design, one chosen by the plusarg ``+bug=<n>``.

All are in one build, so that a simulator is compiled once for all of them; without the plusarg the
copy is the sound design.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from planting import change, design_copy, extend


@dataclass(frozen=True)
class Bug:
    """One planted bug.

    Attributes:
        about: what it does.
        operation: that goes wrong.
        profile: of random programs that meet it.
        file: of the design.
        context: text in it, there once, with ``{}`` for the expression that goes wrong.
        sound, broken: the expression, and what it is while the bug is chosen.
    """

    about: str
    operation: str
    profile: str
    file: str
    context: str
    sound: str
    broken: str


BUGS = (
    Bug(
        "saturates to -128",
        "VADD",
        "typical",
        "ga2_vadd.sv",
        "clamped = {};",
        "-8'sd127",
        "-8'sd128",
    ),
    Bug(
        "takes the last of equal maxima",
        "AMAX",
        "typical",
        "ga2_amax.sv",
        "if ({})",
        "$signed(rdata) > best_q",
        "$signed(rdata) >= best_q",
    ),
    Bug(
        "rounds negative ties towards zero",
        "RQ",
        "typical",
        "ga2_requantizer.sv",
        "+ {}) >> 1",
        "57'd1",
        "57'(!negative)",
    ),
    Bug(
        "forgets the sign of the last nibble",
        "UNPACK",
        "typical",
        "ga2_unpack.sv",
        "assign wdata = {};",
        "32'($signed(word_q[3:0]))",
        "nibble_q == 3'd7 ? 32'(word_q[3:0]) : 32'($signed(word_q[3:0]))",
    ),
    Bug(
        "leaves out the last product when K is 5",
        "MM",
        "typical",
        "ga2_matmul.sv",
        "{{first ? 6'd0 : wave_q[5:0], {}}}",
        "t_q < k",
        "t_q < (k == 7'd5 ? 7'd4 : k)",
    ),
    Bug(
        "keeps the maximum of the instruction before",
        "AMAX",
        "typical",
        "ga2_amax.sv",
        "best_q <= {};",
        "32'sh8000_0000",
        "best_q",
    ),
    Bug(
        "never ends with five words",
        "UNPACK",
        "typical",
        "ga2_unpack.sv",
        "done_q <= {};",
        "left_q == 9'd1",
        "left_q == 9'd1 && len != 9'd5",
    ),
    Bug(
        "allows a destination that overlaps the second source",
        "VADD",
        "faults",
        "ga2_fault_checker.sv",
        "(meets_c && {})",
        "has_src_c && a != c",
        "has_src_c && a != c && a == b",
    ),
    Bug(
        "loses its place when a response is late",
        "LD",
        "corner",
        "ga2_load.sv",
        "if ({}) waddr_q <= waddr_q + 12'd1;",
        "we_q",
        "we_q && (resp_valid || done)",
    ),
    Bug(
        "flips every sign bit of an even number of words",
        "LD",
        "typical",
        "ga2_load.sv",
        "wdata_q <= {};",
        "resp_data",
        "resp_data ^ {!len[0], 31'd0}",
    ),
    Bug(
        "changes a word when nobody looks",
        "",
        "typical",
        "ga2_scratchpad.sv",
        "mem[waddr] <= {};",
        "wdata",
        "wdata ^ {31'd0, wdata == 32'd1}",
    ),
    Bug(
        "obeys a start in FETCH",
        "",
        "typical",
        "ga2_sequencer.sv",
        "assign begin_run = {};",
        "start && (state_q == StIdle || state_q == StHalted)",
        "start && (state_q == StIdle || state_q == StHalted || state_q == StFetch)",
    ),
    Bug(
        "does not forget its step at reset",
        "UNPACK",
        "corner",
        "ga2_unpack.sv",
        "nibble_q <= {};",
        "'0",
        # Known at power-up, or Icarus would see it at once.
        "(nibble_q[0] === 1'bx ? 3'd0 : nibble_q)",
    ),
    Bug(
        "faults from the third program after a reset on",
        "SM",
        "typical",
        "ga2_sequencer.sv",
        "assign issue_fault = {};",
        "issue && check_code != ga2_pkg::FaultNone",
        "issue && (check_code != 0 || (begun_q == 2'd3 && instr_q[127:124] == 4'd5))",
    ),
)

# Counts programs since a reset, for the last bug.
BEGUN = """  logic [1:0] begun_q;
  always_ff @(posedge clk) begin
    if (rst) begun_q <= '0;
    else if (begin_run && begun_q != 2'd3) begun_q <= begun_q + 2'd1;
  end
"""
CHOICE = """
  int bug;
  initial if ($value$plusargs("bug=%d", bug) == 0) bug = 0;
"""


def plant(source: Path, target: Path) -> Path:
    """Copy the design with all bugs in it; returns the copy's folder.

    Raises:
        PatchError: a text to be replaced is not there exactly once.
    """
    folder = design_copy(source, target)
    for file in dict.fromkeys(bug.file for bug in BUGS):
        text = (folder / file).read_text()
        (folder / file).write_text(extend(text, CHOICE, ""))
    for number, bug in enumerate(BUGS, 1):
        # Unsized literals take the type of their place; so does '0 on either side.
        chosen = f"(bug == {number}) ? {bug.broken} : {bug.sound}"
        change(folder, bug.file, bug.context.format(bug.sound), bug.context.format(f"({chosen})"))
    change(folder, "ga2_sequencer.sv", "assign begin_run =", f"{BEGUN}  assign begin_run =")
    return folder


def replant(source: Path, target: Path, bug: Bug) -> Path:
    """Copy the design with one bug in it for good; returns the copy's folder."""
    folder = design_copy(source, target)
    change(folder, bug.file, bug.context.format(bug.sound), bug.context.format(bug.broken))
    return folder
