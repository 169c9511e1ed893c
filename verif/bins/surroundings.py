"""Bins of what happens around a program: latency, restarts, start pulses, resets, its end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from model.chip.isa import FaultCode, Op, decode
from model.chip.machine import RunResult
from model.chip.operation_table import OPERATIONS
from model.chip.timeline import Slot, slot_at, timeline
from model.chip.timing import OVERHEAD
from verif.bins.sheet import Hit
from verif.items.program_item import ProgramItem


def surroundings_hits(
    item: ProgramItem, result: RunResult, previous: RunResult | None
) -> Iterator[Hit]:
    """Bins of ``item`` with the outcome ``result``, played after ``previous`` (None: first)."""
    yield "program_end", _end(item, result)
    yield "program_length", length_class(len(item.program))
    yield "external_memory", "kept" if item.inherits else "loaded"
    if item.inherits and previous is not None:
        yield from _inherited_hits(result, previous)
    yield "scratchpad", "kept" if item.spad is None else "loaded"
    if previous is not None:
        ended = "halt" if previous.fault == FaultCode.NONE else "fault"
        yield "start_after", f"{'reset' if item.reset_before else 'start'}_after_{ended}"
    latency = latency_class(item)
    for burst in result.bursts:
        if burst.kind == "read":
            yield "latency", f"{latency}/{_burst_class(item, burst.length)}"
    if item.restart_after is not None:
        ended = "halt" if result.fault == FaultCode.NONE else "fault"
        yield "restart", f"{ended}/{restart_class(item)}"
    if item.reset_before or item.abort_at is not None:
        length = str(item.reset_cycles) if item.reset_cycles < 3 else "3_or_more"
        yield "reset_length", f"{length}/{'start' if item.start_in_reset else 'alone'}"
    if item.start_pulses or item.abort_at is not None:
        yield from _timed_hits(item)


def _inherited_hits(result: RunResult, previous: RunResult) -> Iterator[Hit]:
    """What a program does with an external memory that the one before has written."""
    stored = [(b.addr, b.addr + b.length) for b in previous.bursts if b.kind == "write"]
    for burst in result.bursts:
        first, end = burst.addr, burst.addr + burst.length
        if any(first < other_end and other < end for other, other_end in stored):
            yield "inherited_memory", "read" if burst.kind == "read" else "written_over"
        if burst.kind == "write" and any(first == other_end for _, other_end in stored):
            yield "inherited_memory", "appended"
    for load, store in pairwise(result.bursts):
        if (load.kind, store.kind, load.length) == ("read", "write", store.length):
            yield "inherited_memory", "copied"


def _end(item: ProgramItem, result: RunResult) -> str:
    if result.fault != FaultCode.NONE:
        return "fault"
    return "halt" if result.counters.n_inst < len(item.program) else "past_the_end"


def length_class(words: int) -> str:
    """Class of a program's length in words."""
    if words <= 1:
        return ("empty", "one")[words]
    return "short" if words < 64 else "medium" if words < 1024 else "long"


def restart_class(item: ProgramItem) -> str:
    """Halted cycle in which an item is started again, 0 the first."""
    if item.start_held:
        return "held"
    after = item.restart_after or 0
    return str(after) if after < 4 else "4_or_later"


def latency_class(item: ProgramItem) -> str:
    """Class of an item's read latency."""
    if item.latencies:
        return "varying"
    if item.latency <= 2 or item.latency in (8, 63, 64):
        return str(item.latency)
    return "3-7" if item.latency < 8 else "9-62"


def _burst_class(item: ProgramItem, length: int) -> str:
    if length == 1:
        return "one"
    if item.latencies:
        return "several"
    return "within_latency" if length <= item.latency else "beyond_latency"


def _timed_hits(item: ProgramItem) -> Iterator[Hit]:
    slots = timeline(item.program, item.read_latency)
    for cycle in item.start_pulses:
        slot = slot_at(slots, cycle)
        if slot is not None:
            yield "start_pulse", f"{operation(slot.op)}/{slot.phase(cycle)}"
    if item.abort_at is not None:
        slot = slot_at(slots, item.abort_at)
        if slot is not None:
            yield "reset_point", f"{operation(slot.op)}/{slot.phase(item.abort_at)}"
            if slot.op == Op.LD and slot.busy:
                yield "reset_in_flight", _in_flight(item, slots, slot)


def operation(op: int) -> str:
    """Name of an operation code, also of an undefined one."""
    return OPERATIONS[op].name if op in OPERATIONS else "undefined"


def _in_flight(item: ProgramItem, slots: Sequence[Slot], slot: Slot) -> str:
    """What the read port is doing when an LD is reset in cycle ``item.abort_at``."""
    length = decode(item.program[slot.pc]).c
    made = sum(decode(item.program[s.pc]).c for s in slots[: slot.pc] if s.op == Op.LD)
    into = item.abort_at - slot.fetch - OVERHEAD if item.abort_at is not None else 0
    asked = max(0, min(length, into + 1))
    answered = 0
    due = -1
    for i in range(asked):
        latencies = item.latencies
        delay = latencies[(made + i) % len(latencies)] if latencies else item.latency
        due = max(due + 1, i + delay)
        answered += due <= into
    if asked == answered:
        return "none" if asked else "before_first_request"
    return "requests_and_responses" if asked < length else "responses_only"
