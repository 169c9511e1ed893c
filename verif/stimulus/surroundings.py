"""Random surroundings of a program: read latency, resets, start pulses, kept scratchpad."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from model.chip.timeline import Slot, timeline
from model.chip.timing import OVERHEAD
from verif.stimulus.profiles import SurroundingsOdds
from verif.stimulus.source import Source

LONGEST_LATENCY = 64

SERIES = 8
"""Programs whose index is a multiple of this load the scratchpad, so a replay can start there."""


def series_start(index: int) -> int:
    """The first program needed to replay program ``index`` with what it finds in the scratchpad."""
    return index - index % SERIES


@dataclass(frozen=True)
class Surroundings:
    """What happens around one program; the fields of the same names in the program item."""

    latency: int
    latencies: tuple[int, ...]
    reset_before: bool
    keep_scratchpad: bool
    start_pulses: tuple[int, ...]
    abort_at: int | None


def random_surroundings(
    source: Source, odds: SurroundingsOdds, program: Sequence[int], index: int
) -> Surroundings:
    """Draw the surroundings of program ``index`` of a series."""
    latency, latencies = _latency(source, odds)
    abort = source.chance(odds.abort)
    pulses = source.chance(odds.start_pulses)
    keep = source.chance(odds.keep_scratchpad) and index % SERIES != 0 and not abort
    abort_at: int | None = None
    start_pulses: tuple[int, ...] = ()
    if abort or pulses:
        slots = timeline(program, latencies or latency)
        if abort:
            abort_at = _cycle(source, slots)
        if pulses:
            drawn = {_cycle(source, slots) for _ in range(source.between(1, 4))}
            start_pulses = tuple(sorted(drawn))
    reset_before = source.chance(odds.reset_before)
    return Surroundings(latency, latencies, reset_before, keep, start_pulses, abort_at)


def random_control(source: Source, odds: SurroundingsOdds, around: Surroundings) -> dict[str, Any]:
    """Draw how long resets last and how start is raised around the end: fields of the item."""
    control: dict[str, Any] = {}
    if around.reset_before or around.abort_at is not None:
        control["reset_cycles"] = source.pick((1, 1, 2, 2, 3, 7))
        control["start_in_reset"] = source.chance(25)
    if source.chance(odds.restart):
        control["restart_after"] = source.pick((0, 0, 0, 1, 1, 2, 3, 4, 6, 9))
        first = control["restart_after"] == 0
        control["start_held"] = first and not around.start_pulses and source.chance(50)
    return control


def _cycle(source: Source, slots: Sequence[Slot]) -> int:
    """A cycle of a random instruction; its first and last ones more often than by chance."""
    slot = source.pick(slots)
    first_busy = min(slot.fetch + OVERHEAD, slot.last)
    end = [max(first_busy, slot.last - before) for before in (2, 1, 0)]
    edges = (slot.fetch, slot.fetch + 1, first_busy, *end)
    kind = source.below(2 * len(edges))
    return edges[kind] if kind < len(edges) else source.between(slot.fetch, slot.last)


def _latency(source: Source, odds: SurroundingsOdds) -> tuple[int, tuple[int, ...]]:
    """A fixed latency, and a series of one latency per request when it varies."""
    draw = source.below(100)
    if draw < odds.varying_latency:
        count = source.between(2, 24)
        most = source.pick((2, 4, 12, LONGEST_LATENCY))
        return 8, tuple(source.between(1, most) for _ in range(count))
    draw -= odds.varying_latency
    if draw < odds.corner_latency:
        return source.pick((1, 1, 2, 3, 63, LONGEST_LATENCY)), ()
    draw -= odds.corner_latency
    if draw < odds.random_latency:
        return source.between(1, LONGEST_LATENCY), ()
    return 8, ()
