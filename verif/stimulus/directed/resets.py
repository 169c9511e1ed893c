"""Directed programs that are reset in the middle of a unit's work and then run cleanly.

The driver starts the program, asserts reset in cycle ``abort_at``, loads both memories again and
runs the same program to its end: nothing of the aborted run may be left.
"""

from __future__ import annotations

from functools import partial
from itertools import product

from model.chip.isa import Instruction, Op, encode, halt, ld, mm, rq, sm, st, unpack, vadd
from model.chip.operation_table import OPERATIONS
from model.chip.timeline import timeline
from verif.items.program_item import ProgramItem
from verif.stimulus.builder import Builder
from verif.stimulus.data import pattern
from verif.stimulus.directed.control import one_of_each, plain
from verif.stimulus.registry import directed, register

FAMILY = "resets"


def _target(op: Op) -> Instruction:
    """An instruction of ``op`` long enough to have a middle."""
    longer = {
        Op.LD: ld(200, 0, 30),
        Op.ST: st(0, 60, 30),
        Op.MM: mm(400, 200, 300, 4, 9, 4, ldb=4),
        Op.RQ: rq(400, 200, 30, 1 << 20, 33),
        Op.SM: sm(400, 200, 12),
        Op.UNPACK: unpack(400, 300, 4),
    }
    row = OPERATIONS[op]
    return longer.get(op) or plain(row, 400, (200, 300), 30 // len(row.sources))


def _reset_items(op: Op) -> list[ProgramItem]:
    name = f"reset_in_{op.name.lower()}"
    target = _target(op)
    lead = [ld(200, 0, 20), rq(240, 200, 4, 1 << 20, 33)]
    program = [encode(i) for i in (*lead, target)]
    slot = timeline(program, 8)[len(lead)]
    first = slot.fetch + 2
    points = {
        "fetch": slot.fetch,
        "issue": slot.fetch + 1,
        "first": first,
        "second": first + 1,
        "quarter": first + slot.busy // 4,
        "middle": first + slot.busy // 2,
        "three_quarters": first + 3 * slot.busy // 4,
        "before_last": slot.last - 1,
        "last": slot.last,
    }
    items = []
    for i, ((point, cycle), idle) in enumerate(product(points.items(), (0, 4))):
        b = Builder(f"{name}/{point}_{idle}").ext(0, pattern(40, salt=50 + i))
        b.out = 100
        # The clean run starts with the interrupted operation: stale state would meet it at once,
        # or has some cycles in which to show by itself.
        b.add(*lead, target).keep(195, 60).keep(400, 36)
        items.append(b.item(abort_at=cycle, idle_after=idle))
    return items


def _register_resets() -> None:
    for op in list(Op)[1:]:
        about = f"Reset in every phase of {op.name}, then a clean run."
        register(f"reset_in_{op.name.lower()}", FAMILY, about, partial(_reset_items, op))


_register_resets()


@directed(FAMILY)
def reset_with_responses_in_flight() -> list[ProgramItem]:
    """Reset with 1 to 64 read responses under way, then a program whose first act is to load."""
    items = []
    for latency in (1, 2, 8, 30, 64):
        # Requests leave from the first busy cycle on (cycle 3); the last points are after the
        # final request, where only responses are left.
        for after in dict.fromkeys((1, 2, latency, latency + 1, 40, 39 + latency)):
            b = Builder(f"reset_with_responses_in_flight/{latency}_{after}")
            b.ext(0, pattern(80, salt=latency + after))
            b.add(ld(500, 0, 40), ld(600, 30, 50)).keep(495, 160)
            items.append(b.item(abort_at=2 + after, latency=latency))
    return items


@directed(FAMILY)
def reset_with_late_answers() -> list[ProgramItem]:
    """A memory that answers after the reset what was requested before it."""
    items = []
    for abort in (3, 5, 12):
        # The last request leaves in the cycle of the reset at the latest, the clean run's first
        # one five cycles after it: an answer in that cycle is the last that is allowed.
        for latency in (3, 4, 5):
            b = Builder(f"reset_with_late_answers/{abort}_{latency}")
            b.ext(0, pattern(80, salt=abort + latency))
            b.add(ld(500, 0, 40), ld(600, 30, 50)).keep(495, 160)
            items.append(b.item(abort_at=abort, latencies=(latency,), late_answers=True))
    # Here they meet the instruction with which the clean run begins.
    for first in (sm(300, 0, 20), vadd(300, 0, 100, 40), st(0, 900, 100)):
        b = Builder(f"reset_with_late_answers/in_{Op(first.op).name.lower()}")
        b.ext(0, pattern(80, salt=first.op)).add(first, ld(500, 0, 40)).keep(300, 250)
        loading = timeline(b.program, 64)[1].fetch + 2
        items.append(
            b.item(abort_at=loading + 20, latencies=(60, 50, 64), late_answers=True, depth=2048)
        )
    return items


@directed(FAMILY)
def reset_in_last_cycles() -> list[ProgramItem]:
    """Reset, or a start pulse, in the FETCH and the ISSUE of a HALT and of a fault."""
    items = []
    for name, last in (("halt", halt()), ("fault", Instruction(11))):
        ending = timeline([encode(st(0, 0, 3)), encode(last)], 8)[-1]
        for phase, cycle in (("fetch", ending.fetch), ("issue", ending.last)):
            for variant in ("reset", "start"):
                b = Builder(f"reset_in_last_cycles/{name}_{phase}_{variant}").add(st(0, 0, 3), last)
                abort = cycle if variant == "reset" else None
                pulses = (cycle,) if variant == "start" else ()
                items.append(b.item(abort_at=abort, start_pulses=pulses))
    return items


@directed(FAMILY)
def resets_of_every_length() -> list[ProgramItem]:
    """Resets of one to four cycles, start low or high in them, in each phase of each operation."""
    items = []
    program = [encode(instruction) for instruction in one_of_each()]
    slots = timeline(program, 3)
    shapes = (
        ((1, False), (2, True), (3, False)),  # in FETCH
        ((1, False), (1, True), (3, True)),  # in ISSUE
        ((1, False), (1, True), (4, False)),  # in the first busy cycle
    )
    for slot in slots:
        for phase, (length, high) in (
            (n, shape) for n, some in enumerate(shapes) for shape in some
        ):
            cycle = slot.fetch + phase
            if cycle > slot.last:
                continue
            name = f"resets_of_every_length/{cycle}_{length}_{'start' if high else 'alone'}"
            b = Builder(name).ext(0, pattern(40, salt=cycle))
            b.add(*one_of_each())
            items.append(
                b.item(
                    latency=3,
                    idle_after=6,
                    abort_at=cycle,
                    reset_cycles=length,
                    start_in_reset=high,
                )
            )
    return items


@directed(FAMILY)
def reset_while_streaming() -> list[ProgramItem]:
    """A reset of one cycle in every step of a product's stream, then the product again."""
    target = mm(400, 200, 300, 3, 6, 4, ldb=4)
    busy = timeline([encode(target)], 8)[0]
    writes = 3 * 4 + 2  # of the sums, and the end
    items = []
    for back in range(6 + 3 + 4 - 1):
        b = Builder(f"reset_while_streaming/{back}").spad(200, pattern(140, salt=90 + back))
        b.add(target).keep(400, 12)
        items.append(b.item(abort_at=busy.last - writes - back, reset_cycles=1))
    return items


@directed(FAMILY)
def reset_with_varying_latency() -> list[ProgramItem]:
    """Reset while responses with different delays are under way."""
    items = []
    for cycle in (4, 9, 17, 40, 71):
        b = Builder(f"reset_with_varying_latency/{cycle}").ext(0, pattern(80, salt=cycle))
        b.add(ld(500, 0, 40), ld(600, 30, 50)).keep(495, 160)
        items.append(b.item(abort_at=cycle, latencies=(5, 60, 1, 33, 2, 2, 64, 7)))
    return items


@directed(FAMILY)
def reset_at_every_cycle() -> list[ProgramItem]:
    """One short program of all operations, reset in each of its cycles in steps of five."""
    program = [encode(instruction) for instruction in one_of_each()]
    total = timeline(program, 3)[-1].last
    items = []
    for cycle in range(1, total + 1, 5):
        b = Builder(f"reset_at_every_cycle/{cycle}").ext(0, pattern(40, salt=cycle))
        items.append(b.add(*one_of_each()).item(abort_at=cycle, latency=3))
    return items
