"""The sequence that generates its programs in the simulator, one by one, from seed and profile."""

from __future__ import annotations

from collections.abc import Iterator

from verif.items.program_item import ProgramItem
from verif.sequences.base import ProgramSequence
from verif.stimulus.profiles import ALL, PROFILES
from verif.stimulus.random_program import random_item


class RandomSequence(ProgramSequence):
    """Plays programs ``first`` to ``first + count - 1`` of (``seed``, ``profile``).

    These four are the job's parameters, and ``rerun``, if given: the command that plays one of the
    programs again, with ``{profile}`` and ``{index}`` in their places. A program depends on nothing
    but seed, profile and its index, so the same command plays the same programs on every simulator.
    The profile ``all`` takes one program of each in turn.
    """

    def programs(self) -> Iterator[ProgramItem]:
        """Programs as they are needed: no time or memory goes into them beforehand."""
        params = self.job.params
        seed, first = params["seed"], params["first"]
        for number in range(first, first + params["count"]):
            profile, index = params["profile"], number
            if profile == ALL:
                index, which = divmod(number, len(PROFILES))
                profile = list(PROFILES)[which]
            item = random_item(seed, profile, index)
            again = params.get("rerun", "")
            item.rerun = again.replace("{profile}", profile).replace("{index}", str(index))
            yield item
