"""The sequence that generates its programs in the simulator, one by one, from seed and profile."""

from __future__ import annotations

from collections.abc import Iterable

from verif.agents.control.program_item import ProgramItem
from verif.sequences.base import ProgramSequence
from verif.stimulus.random_program import random_items


class RandomSequence(ProgramSequence):
    """Plays programs ``first`` to ``first + count - 1`` of (``seed``, ``profile``).

    These four are the job's parameters. A program depends on nothing but seed, profile and its
    index, so the same command plays the same programs on every simulator.
    """

    def programs(self) -> Iterable[ProgramItem]:
        """Programs as they are needed: no time or memory goes into them beforehand."""
        params = self.job.params
        return random_items(params["seed"], params["profile"], params["count"], params["first"])
