"""What all reducing steps share: their type, and loops that take the largest step that works."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from typing import Any, TypeVar

from verif.items.program_item import ProgramItem, ProgramItemError

T = TypeVar("T")

Search = Generator[ProgramItem, bool, T]
"""Yields candidates, is sent True for each that still fails, returns what it found."""

Step = Callable[[ProgramItem], Search[ProgramItem]]


def changed(item: ProgramItem, **fields: Any) -> ProgramItem:
    """Return a copy with other fields; late answers go when the others no longer allow them."""
    try:
        return replace(item, **fields)
    except ProgramItemError:
        if not item.late_answers:
            raise
        return replace(item, **{**fields, "late_answers": False})


def first_that_fails(item: ProgramItem, *candidates: ProgramItem) -> Search[ProgramItem]:
    """The first candidate that still fails, or ``item``."""
    for candidate in candidates:
        if (yield candidate):
            return candidate
    return item


def lowest(
    low: int, high: int, variant: Callable[[int], ProgramItem], tries: int = 16
) -> Search[int]:
    """A small value in low..high whose variant still fails, found by bisection; high if none.

    ``high`` is known to fail. Failing need not be monotonous: what is returned did fail.
    """
    if low >= high:
        return high
    if (yield variant(low)):
        return low
    while high - low > 1 and tries:
        tries -= 1
        middle = (low + high) // 2
        if (yield variant(middle)):
            high = middle
        else:
            low = middle
    return high
