"""The tests that mutants have to survive: directed and random programs of the flow itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from model.chip.isa import SPAD_WORDS
from verif.items.program_item import ProgramItem
from verif.mutation.test_series import TestSeries
from verif.stimulus.directed import REGISTRY
from verif.stimulus.random_program import random_items

RANDOM_SERIES = (("typical", 1, 40), ("typical", 2, 40))
"""Profile, seed and number of random programs of each series."""


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


def _anchored(items: list[ProgramItem]) -> tuple[ProgramItem, ...]:
    """Give the first program a scratchpad of its own, so that no test depends on another."""
    first, *others = items
    if first.spad is None:
        first = replace(first, spad=np.zeros(SPAD_WORDS, dtype=np.uint32))
    return (first, *others)
