"""Texts of the protocol checker's error codes (``verif/hdl/protocol_checker.sv``)."""

from __future__ import annotations

PROTOCOL_ERRORS = {
    1: "read request outside an LD",
    2: "external write outside an ST",
    3: "read burst whose addresses are not consecutive",
    4: "write burst whose addresses are not consecutive",
    5: "an instruction or program ended with read requests unanswered",
    6: "counters changed after the end of the program",
    7: "halted or the fault outputs changed after the end of the program",
    8: "unknown bit on a control output",
    9: "unknown bit on a data output",
    10: "cyc_total did not count every cycle from 0 (also: a start while running was not ignored)",
    11: "cyc_total is not cyc_mm + cyc_dma + cyc_vec + 2 * n_inst + 2 at the end",
    12: "fault rose without halted",
    13: "a counter, halted, the fault outputs or imem_addr not cleared by reset or start",
    14: "scratchpad written outside an instruction's busy time",
    15: "scratchpad read outside an instruction's busy time",
}
UNKNOWN_BITS = frozenset({8, 9})


def codes_of(mask: int) -> list[int]:
    """Error codes whose bit is set in the checker's mask, ascending."""
    return [code for code in PROTOCOL_ERRORS if mask >> code & 1]
