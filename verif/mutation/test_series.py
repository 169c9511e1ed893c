"""A series of programs that judges mutants."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from verif.items.program_item import ProgramItem


@dataclass(frozen=True)
class TestSeries:
    """Programs that run in order, from a known scratchpad; a mutant dies at the first that fails.

    ``slow``: more than about 50,000 cycles; run last. ``family``: of a directed test.
    """

    __test__ = False

    name: str
    items: tuple[ProgramItem, ...]
    slow: bool = False
    family: str = ""

    def digest(self) -> str:
        """Return a name for the contents: the same in every run with the same stimulus."""
        names = (self.name, *(item.digest() for item in self.items))
        return hashlib.sha256("\0".join(names).encode()).hexdigest()[:16]


def all_items(tests: Iterable[TestSeries]) -> Iterator[ProgramItem]:
    """Yield every program of every test."""
    for test in tests:
        yield from test.items
