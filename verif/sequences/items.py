"""The sequence that plays the items the job brings along."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from verif.items.program_item import ProgramItem
from verif.sequences.base import ProgramSequence

FORESEEN = 128  # a prediction takes 50 KiB, with the largest external memory 300


class ItemsSequence(ProgramSequence):
    """Plays ``job.items`` in order."""

    def programs(self) -> Iterable[ProgramItem]:
        """The job's items."""
        return self.job.items

    def foreseen(self) -> Sequence[ProgramItem]:
        """As many items as may have their predictions in memory at once."""
        return self.job.items[:FORESEEN]
