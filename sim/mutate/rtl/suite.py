"""The tests that mutants have to survive: directed and random programs of the flow itself."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from model.chip.isa import SPAD_WORDS
from verif.items.program_item import ProgramItem
from verif.stimulus.directed import REGISTRY
from verif.stimulus.random_program import random_items

RANDOM_SERIES = (("typical", 1, 40), ("typical", 2, 40))
"""Profile, seed and number of random programs of each series."""


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
        return hashlib.sha256("\0".join(names).encode()).hexdigest()


def suite() -> list[TestSeries]:
    """Return all tests: every directed program, then the random series."""
    found = [
        TestSeries(test.name, _anchored(test.items()), test.slow, test.family)
        for test in REGISTRY.values()
    ]
    for profile, seed, count in RANDOM_SERIES:
        items = _anchored(list(random_items(seed, profile, count)))
        found.append(TestSeries(f"random {profile} seed {seed}", items))
    return found


def suite_digest(tests: list[TestSeries]) -> str:
    """Return a name for the contents of all tests together."""
    digest = hashlib.sha256()
    for test in tests:
        digest.update(test.digest().encode())
    return digest.hexdigest()[:16]


def _anchored(items: list[ProgramItem]) -> tuple[ProgramItem, ...]:
    """Give the first program a scratchpad of its own, so that no test depends on another."""
    first, *others = items
    if first.spad is None:
        first = replace(first, spad=np.zeros(SPAD_WORDS, dtype=np.uint32))
    return (first, *others)


def all_items(tests: list[TestSeries]) -> Iterator[ProgramItem]:
    """Yield every program of every test."""
    for test in tests:
        yield from test.items
