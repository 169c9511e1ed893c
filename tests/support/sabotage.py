"""Faults planted in a copy of the design, to see the testbench find them.

One build holds all of them. A program chooses one by a number in a field that its first
instruction, an LD, does not use; a program that chooses 0 runs on the sound design.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Sabotage:
    """One planted fault.

    Attributes:
        name: what it is.
        net: net of ``ga2`` it falsifies.
        width: bits of the net.
        driver: pattern of the port connection that drives the net in ``ga2.sv``.
        wrong: the net's value while the fault is chosen; ``{0}`` is the sound value.
    """

    name: str
    net: str
    width: int
    driver: str
    wrong: str


def _counter(net: str) -> Sabotage:
    # Only once the program is over, so that nothing but the final value is wrong.
    return Sabotage(f"{net} one too high", net, 32, rf"\.{net}\b(?!\()", "{0} + 32'(halted)")


WRONG_ADDRESS = 205  # of the external word that some of the faults hit
HIT = f"(wr_addr == 16'd{WRONG_ADDRESS})"

SABOTAGES = (
    Sabotage("wrong word", "wr_data", 32, r"\.wr_data_q\(wr_data\)", "{0} ^ 32'(" + HIT + ")"),
    Sabotage("dropped write", "wr_valid", 1, r"\.wr_valid_q\(wr_valid\)", "{0} && !" + HIT),
    _counter("cyc_total"),
    _counter("cyc_mm"),
    _counter("cyc_dma"),
    _counter("cyc_vec"),
    _counter("n_inst"),
    Sabotage("hang", "amax_done", 1, r"\.done\(amax_done\)", "1'b0"),
    Sabotage("spurious fault", "check_code", 4, r"\.code\(check_code\)", "op == 6 ? 4'd5 : {0}"),
    Sabotage("extra read", "req_valid", 1, r"\.req_valid_q\(req_valid\)", "{0} || req_last"),
    Sabotage("wrong product", "mm_wdata", 32, r"\.wdata\(mm_wdata\)", "{0} ^ 32'd64"),
    Sabotage("late instruction", "rq_done", 1, r"\.done\(rq_done\)", "rq_late"),
    Sabotage("unknown word", "wr_data", 32, "", "(" + HIT + " ? 'x : {0})"),
    Sabotage("counter not held", "cyc_vec", 32, "", "{0} + 32'(after_end)"),
    Sabotage("read outside LD", "req_valid", 1, "", "{0} || (op == 6 && issue)"),
    Sabotage("start not ignored", "begin_clear", 1, r"\.clear\(begin_run\)", "start"),
    # Shows in the next program, because a program chooses its fault after it was started.
    Sabotage("not cleared", "begin_clear", 1, "", "1'b0"),
    Sabotage("write outside ST", "wr_valid", 1, "", "{0} || (op == 6 && issue)"),
    Sabotage("read skips", "req_addr", 16, r"\.req_addr_q\(req_addr\)", "{0} + 16'({0} > 50)"),
    Sabotage("write skips", "wr_addr", 16, r"\.wr_addr_q\(wr_addr\)", "{0} + 16'({0} > 205)"),
    Sabotage("early end", "ld_done", 1, r"\.done\(ld_done\)", "req_last && !req_valid_ok"),
    Sabotage("end not held", "fault_pc", 16, r"\.fault_pc\b(?!\()", "{0} + 16'(after_end)"),
    Sabotage("fault alone", "fault", 1, r"\.fault\b(?!\()", "{0} || (op == 6 && issue)"),
    Sabotage("stray write", "mm_we", 1, r"\.we_q\(mm_we\)", "{0} || (op == 3 && issue)"),
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
        ValueError: a net is not driven the way the fault expects, once.
    """
    shutil.copytree(source, target)
    top = target / "ga2.sv"
    text = top.read_text()
    declarations, assigns = [], []
    for net in dict.fromkeys(s.net for s in SABOTAGES):
        mine = [(i, s) for i, s in enumerate(SABOTAGES, 1) if s.net == net]
        driver, width = mine[0][1].driver, mine[0][1].width
        text, wrong_text = _redirect(text, driver, net)
        declarations.append(f"  wire [{width - 1}:0] {net}_ok;")
        value = f"{net}_ok"
        for i, s in mine:
            value = f"chosen == 18'd{i} ? ({s.wrong.format(net + '_ok')}) : ({value})"
        assigns.append(wrong_text + f"  assign {net} = {value};")
    header = "\n".join([*declarations, "  wire begin_clear;"])
    text = text.replace("\n);\n", f"\n);\n{header}\n", 1)  # behind the ports
    body = STATE + "\n".join(assigns) + "\n"
    text = re.sub(r"\nendmodule", lambda _: f"\n{body}\nendmodule", text)
    top.write_text(text)
    return target


def _redirect(text: str, driver: str, net: str) -> tuple[str, str]:
    """Connect the driver of ``net`` to ``<net>_ok`` instead."""
    if net == "begin_clear":  # an input of the counters: the connection reads the net
        text, count = re.subn(driver, ".clear(begin_clear)", text)
        extra = "  assign begin_clear_ok = begin_run;\n"
    else:
        port = driver.split(r"\(")[0].replace(r"\b(?!", "")
        text, count = re.subn(driver, f"{port.replace(chr(92), '')}({net}_ok)", text)
        extra = ""
    if count != 1:
        raise ValueError(f"{net} is connected {count} times by {driver!r} in ga2.sv, expected once")
    return text, extra
