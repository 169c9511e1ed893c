"""The sequence that reduces a failing program by replaying candidates in this one simulation."""

from __future__ import annotations

import time

from verif.items.job import Job, job_folder
from verif.sequences.base import ProgramSequence
from verif.shrink.failure import FailureClass, failure_class
from verif.shrink.reduce import Series, after_reset, reduce_series
from verif.shrink.report import SHRUNK, ShrinkReport


class ShrinkSequence(ProgramSequence):
    """Reduces ``job.items``, whose last program fails, perhaps only after those before it.

    A candidate counts as failing only when its failure is of the same class: a second bug that it
    happens to meet must not take the place of the first.

    The job's parameter ``seconds`` ends the search early. The result is left in the job's folder:
    the reduced series as a job, and a ``ShrinkReport``.
    """

    async def body(self) -> None:
        """Play candidates until none is simpler, or the time is over."""
        started = time.monotonic()
        until = started + float(self.job.params["seconds"])
        best = await self.reproduce()
        played = 0
        finished = False
        known: dict[tuple[str, ...], bool] = {}
        if best is not None:
            wanted = self.wanted
            search = reduce_series(best)
            try:
                candidate = next(search)
                while time.monotonic() < until:
                    seen = tuple(item.digest() for item in candidate)
                    if seen not in known:
                        known[seen] = await self.verdict(candidate) == wanted
                        played += 1
                    if known[seen]:
                        best = candidate
                    candidate = search.send(known[seen])
            except StopIteration as end:
                best = end.value
                finished = True
        folder = job_folder()
        Job("items", {}, list(best or self.job.items)).save(folder / SHRUNK)
        seconds = time.monotonic() - started
        ShrinkReport(best is not None, finished, played, seconds).save(folder)

    async def reproduce(self) -> Series | None:
        """The failing program alone if that is enough, else the whole series, if that fails."""
        series = tuple(self.job.items)
        for tried in (after_reset(series[-1:]), after_reset(series)):
            self.wanted = await self.verdict(tried)
            if self.wanted is not None:
                return tried
        return None

    async def verdict(self, series: Series) -> FailureClass | None:
        """Play a series after a reset; class of its last program's failure, None for a pass."""
        for item in series:
            result = await self.play(item)
        assert result is not None
        return failure_class(result)
