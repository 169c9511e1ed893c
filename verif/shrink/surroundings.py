"""Steps on the surroundings: no start pulses, no reset, a plain memory with a plain latency."""

from __future__ import annotations

from model.chip.machine import DEFAULT_DEPTH
from model.chip.timing import DEFAULT_LATENCY
from verif.items.program_item import RESET_CYCLES, ProgramItem
from verif.shrink.steps import Search, changed, first_that_fails, lowest

SURROUNDINGS = (
    *("depth", "idle_after", "start_held", "restart_after", "start_in_reset", "reset_cycles"),
    *("start_pulses", "late_answers", "abort_at", "latencies", "latency"),
)


def plain_surroundings(item: ProgramItem) -> Search[ProgramItem]:
    """Everything as ``make run`` has it by default, all at once or as much as possible."""
    plain = changed(
        item,
        start_pulses=(),
        abort_at=None,
        late_answers=False,
        latencies=(),
        latency=DEFAULT_LATENCY,
        depth=DEFAULT_DEPTH if item.image.size <= DEFAULT_DEPTH else item.depth,
        idle_after=0,
        start_held=False,
        restart_after=None,
        start_in_reset=False,
        reset_cycles=RESET_CYCLES,
        cycle_limit=None,
    )
    if same_surroundings(plain, item):
        return item
    if (yield plain):
        return plain
    for name in SURROUNDINGS:
        value = getattr(plain, name)
        # Late answers need the reset and the latencies, so these cannot go first.
        bound = item.late_answers and name in ("abort_at", "latencies")
        if getattr(item, name) != value and not bound:
            item = yield from first_that_fails(item, changed(item, **{name: value}))
    return item


def same_surroundings(one: ProgramItem, other: ProgramItem) -> bool:
    """Whether two items differ at most in program and memory contents."""
    return all(getattr(one, name) == getattr(other, name) for name in SURROUNDINGS)


def simpler_surroundings(item: ProgramItem) -> Search[ProgramItem]:
    """Fewer and earlier start pulses, an earlier reset, lower and fewer latencies."""
    item = yield from _fewer_pulses(item)
    if item.abort_at is not None:
        aborted = item
        cycle = yield from lowest(1, item.abort_at, lambda c: changed(aborted, abort_at=c))
        item = changed(item, abort_at=cycle)
    if item.restart_after:
        late = item
        after = yield from lowest(0, item.restart_after, lambda n: changed(late, restart_after=n))
        item = changed(item, restart_after=after)
    if item.latencies:
        item = yield from _fewer_latencies(item)
    elif item.latency != DEFAULT_LATENCY:
        slow = item
        latency = yield from lowest(1, item.latency, lambda v: changed(slow, latency=v))
        item = changed(item, latency=latency)
    return item


def _fewer_pulses(item: ProgramItem) -> Search[ProgramItem]:
    if len(item.start_pulses) > 1:
        item = yield from first_that_fails(
            item, *(changed(item, start_pulses=(cycle,)) for cycle in item.start_pulses)
        )
    if len(item.start_pulses) == 1:
        pulsed = item
        cycle = yield from lowest(
            1, item.start_pulses[0], lambda c: changed(pulsed, start_pulses=(c,))
        )
        item = changed(item, start_pulses=(cycle,))
    return item


def _fewer_latencies(item: ProgramItem) -> Search[ProgramItem]:
    # A fixed latency needs no reactive memory; late answers do.
    values = () if item.late_answers else sorted(set(item.latencies))
    fixed = (changed(item, latencies=(), latency=value) for value in values)
    single = yield from first_that_fails(item, *fixed)
    if not single.latencies:
        return single
    while len(item.latencies) > 1:
        shorter = changed(item, latencies=item.latencies[: (len(item.latencies) + 1) // 2])
        if not (yield shorter):
            break
        item = shorter
    for place in range(len(item.latencies)):
        before = item

        def variant(latency: int, item: ProgramItem = before, place: int = place) -> ProgramItem:
            values = (*item.latencies[:place], latency, *item.latencies[place + 1 :])
            return changed(item, latencies=values)

        item = variant((yield from lowest(1, item.latencies[place], variant)))
    return item
