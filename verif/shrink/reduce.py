"""The whole reduction: of a series of programs to one if possible, then of each program."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

from verif.items.program_item import ProgramItem
from verif.shrink.memory import simpler_memory, zero_blocks
from verif.shrink.program import (
    clear_unused_fields,
    drop_instructions,
    simpler_addresses,
    simpler_operands,
)
from verif.shrink.steps import Search, Step
from verif.shrink.surroundings import plain_surroundings, simpler_surroundings

Series = tuple[ProgramItem, ...]
"""Programs in the order they run; the last one is the one that fails."""


def _empty_memory(item: ProgramItem) -> Search[ProgramItem]:
    item = yield from zero_blocks(item, "spad")
    return (yield from zero_blocks(item, "image"))


QUICK: tuple[Step, ...] = (plain_surroundings, drop_instructions, clear_unused_fields)
"""These bring a program down to a few instructions within some dozens of candidates."""

THOROUGH: tuple[Step, ...] = (
    simpler_operands,
    drop_instructions,
    _empty_memory,
    simpler_addresses,
    simpler_memory,
    simpler_surroundings,
)
"""These make small what is left; repeated as long as they find something."""


def reduce_series(series: Series) -> Generator[Series, bool, Series]:
    """Reduce a failing series, the last program first.

    Yields:
        Simpler series; send True when the last program of one still fails.

    Returns:
        The simplest series that failed.
    """
    series = yield from _fewer_programs(series)
    for steps, repeat in ((QUICK, False), (THOROUGH, True)):
        for index in reversed(range(len(series))):
            series = yield from _reduce_one(series, index, steps, repeat)
        series = yield from _fewer_programs(series)
    return series


def after_reset(series: Series) -> Series:
    """The series after a reset, so that nothing of what ran before it is left."""
    return (replace(series[0], reset_before=True), *series[1:])


def _fewer_programs(series: Series) -> Generator[Series, bool, Series]:
    """Leave out programs in front of the failing one, many at once first."""
    size = len(series) - 1
    while size:
        at = len(series) - 1 - size
        while at >= 0:
            candidate = after_reset(series[:at] + series[at + size :])
            if (yield candidate):
                series = candidate
            at -= size
        size = min(size // 2, len(series) - 1)
    return series


def _reduce_one(
    series: Series, index: int, steps: tuple[Step, ...], repeat: bool
) -> Generator[Series, bool, Series]:
    """Reduce the program at ``index``, the others staying as they are."""
    while True:
        before = series[index]
        for step in steps:
            search = step(series[index])
            try:
                item = next(search)
                while True:
                    item = search.send((yield (*series[:index], item, *series[index + 1 :])))
            except StopIteration as end:
                series = (*series[:index], end.value, *series[index + 1 :])
        if not repeat or series[index].digest() == before.digest():
            return series
