"""From a counterexample to a program: the instructions that were started, and what they read."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from model.chip.image import Words
from model.chip.isa import EXT_WORDS, SPAD_WORDS, Instruction, encode
from model.chip.machine import DEFAULT_DEPTH
from model.chip.operation_table import EXECUTED, Operation
from model.chip.timing import DEFAULT_LATENCY
from sim.formal.trace import Trace
from verif.items.program_item import MAX_LATENCY, ProgramItem

CHIP, CHECKER = "ga2", "ga2_fault_checker"
PORTS = {"A": "base_a", "B": "base_b"}  # of MM; others are called as their operands
UNITS = {operation.module: operation for operation in EXECUTED}


def program_of(trace: Trace, label: str) -> ProgramItem | None:
    """Return the program that a trace shows since its last reset.

    Returns:
        None where the trace has no instruction: its module executes none, or none was started.
    """
    words = list(_instructions(trace))
    if not words:
        return None
    image = _external(trace)
    return ProgramItem(
        f"{trace.top}-{label}",
        words,
        _filled(image),
        spad=_filled(_scratchpad(trace), SPAD_WORDS),
        latency=_latency(trace),
        depth=EXT_WORDS if max(image, default=0) >= DEFAULT_DEPTH else DEFAULT_DEPTH,
    )


def _instructions(trace: Trace) -> Iterator[int]:
    """Instruction words in their order."""
    if trace.top == CHECKER:
        fields = {name: trace.at(name, trace.cycles - 1) for name in ("op", *"abcdfgh")}
        yield encode(Instruction(**fields))
    elif trace.top == CHIP:
        yield from _fetched(trace)
    elif trace.top in UNITS:
        for cycle in trace.since_reset():
            if trace.at("start", cycle):
                yield _started(trace, UNITS[trace.top], cycle)


def _started(trace: Trace, operation: Operation, cycle: int) -> int:
    word = int(operation.op) << 124
    for operand in operation.operands:
        value = trace.at(PORTS.get(operand.name, operand.name.lower()), cycle)
        word |= (value & (1 << operand.width) - 1) << operand.shift
    return word


def _fetched(trace: Trace) -> list[int]:
    """What the chip has taken from the instruction memory, from address 0 on."""
    found: dict[int, int] = {}
    for cycle in trace.since_reset():
        if trace.at("running", cycle) and not (
            trace.at("issue", cycle) or trace.at("waiting", cycle)
        ):
            found[trace.at("imem_addr", cycle)] = trace.at("imem_data", cycle)
    return [found[at] for at in range(len(found)) if at in found]


def _scratchpad(trace: Trace) -> dict[int, int]:
    """Words of the scratchpad as they must have been: what was read before it was written."""
    found: dict[int, int] = {}
    written: set[int] = set()
    ren, raddr, rdata, we, waddr = (
        trace.any_of(*names)
        for names in (
            ("spad_ren", "ren_q", "ren"),
            ("spad_raddr", "raddr_q", "addr_q"),
            ("spad_rdata", "rdata"),
            ("spad_we", "we_q"),
            ("spad_waddr", "waddr_q"),
        )
    )
    cycles = trace.since_reset()
    for cycle, next_ in pairwise(cycles):
        address = trace.at(raddr, cycle)
        if trace.at(ren, cycle) and address not in written:
            found.setdefault(address, trace.at(rdata, next_))
        if trace.at(we, cycle):
            written.add(trace.at(waddr, cycle))
    if sum(trace.at("start", cycle) for cycle in cycles) == 1:
        found |= _followed(trace)
    return found


def _followed(trace: Trace) -> dict[int, int]:
    """The words that the properties follow, as they were at the only start."""
    scopes = [name.removesuffix(".old") for name in trace.signals if name.endswith(".old")]
    last = trace.cycles - 1
    return {
        trace.at(f"{each}.address", last): trace.at(f"{each}.old", last)
        for each in scopes
        if f"{each}.address" in trace.signals
    }


def _external(trace: Trace) -> dict[int, int]:
    """Words of the external memory: the answers, in the order of the requests."""
    cycles = trace.since_reset()
    request = trace.any_of("req_valid_q", "req_valid")
    address = trace.any_of("req_addr_q", "req_addr")
    asked = [trace.at(address, cycle) for cycle in cycles if trace.at(request, cycle)]
    told = [trace.at("resp_data", cycle) for cycle in cycles if trace.at("resp_valid", cycle)]
    return dict(zip(asked, told, strict=False))


def _latency(trace: Trace) -> int:
    name = trace.any_of("f_latency", "u_load.f_latency")
    found = trace.at(name, trace.cycles - 1)
    return found if 1 <= found <= MAX_LATENCY else DEFAULT_LATENCY


def _filled(words: dict[int, int], size: int = 0) -> Words:
    result = np.zeros(max(size, max(words, default=-1) + 1), dtype=np.uint32)
    for address, value in words.items():
        result[address] = value
    return result
