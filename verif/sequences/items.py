"""The sequence that plays the items the job brings along."""

from __future__ import annotations

from collections.abc import Iterable

from verif.agents.control.program_item import ProgramItem
from verif.sequences.base import ProgramSequence


class ItemsSequence(ProgramSequence):
    """Plays ``job.items`` in order."""

    def programs(self) -> Iterable[ProgramItem]:
        """The job's items."""
        return self.job.items
