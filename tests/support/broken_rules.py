"""A copy of the design that breaks one rule of the protocol checker after the other.

Its programs since power-up are counted; rule ``n`` is broken in program ``2 * n``, so that each
program in between must pass again.
"""

from __future__ import annotations

import re
from pathlib import Path

from planting import design_copy, extend, reconnect, redirect

WRONG = {
    1: {"req_valid": "ok || marked"},
    2: {"wr_valid": "ok || marked"},
    3: {"req_addr": "ok == 16'd7 ? 16'd9 : ok"},
    4: {"wr_addr": "ok == 16'd210 ? 16'd212 : ok"},
    5: {"req_valid": "ok || req_before[0] || req_before[1]"},
    6: {"cyc_vec": "ok + 32'(halted_before)"},
    7: {"fault_pc": "ok + 16'(halted_before)"},
    8: {"halted": "marked ? 1'bx : ok"},
    9: {"wr_data": "wr_addr_ok == 16'd205 ? 'x : ok"},
    10: {"cyc_total": "ok + 32'd1", "cyc_vec": "ok + 32'd1"},
    11: {"cyc_vec": "ok + 32'(halted_ok)"},
    12: {"fault": "ok || marked"},
    13: {"clear": "1'b0"},
    14: {"spad_we": "ok || marked"},
    15: {"spad_ren": "ok || marked"},
}
"""By rule: outputs of the design or of a unit in it, and what they are instead."""

WIDTH = {
    **dict.fromkeys(("req_addr", "wr_addr", "fault_pc"), 16),
    **dict.fromkeys(("wr_data", "cyc_total", "cyc_vec"), 32),
}
STATE = """
  // What breaks the rules.
  integer turn;
  logic [1:0] req_before;
  logic halted_before;
  initial turn = 0;
  wire marked = issue && op == ga2_pkg::OpVadd;
  always_ff @(posedge clk) begin
    if (begin_run) turn <= turn + 1;
    req_before <= rst ? 2'b00 : {req_before[0], req_valid_ok};
    halted_before <= halted_ok && !begin_run;
  end
"""


def plant(source: Path, target: Path) -> Path:
    """Copy the design with all rules broken in turn; returns the copy's folder.

    Raises:
        PatchError: an output is not driven in one place.
    """
    folder = design_copy(source, target)
    top = folder / "ga2.sv"
    text, cleared_by = reconnect(top.read_text(), "ga2_counters", "clear", "clear")
    declared, assigned = ["  wire clear;\n"], [f"  assign clear_ok = {cleared_by};\n"]
    for net in dict.fromkeys(net for wrong in WRONG.values() for net in wrong):
        if net != "clear":
            text = redirect(folder, text, net)
        declared.append(f"  wire [{WIDTH.get(net, 1) - 1}:0] {net}_ok;\n")
        value = f"{net}_ok"
        for rule, wrong in WRONG.items():
            if net in wrong:
                # The counters are cleared when the program begins, before its turn is counted.
                turn = 2 * rule - 1 if net == "clear" else 2 * rule
                other = re.sub(r"\bok\b", f"{net}_ok", wrong[net])
                value = f"turn == {turn} ? ({other}) : ({value})"
        assigned.append(f"  assign {net} = {value};\n")
    top.write_text(extend(text, "".join(declared), STATE + "".join(assigned)))
    return folder
