"""Counting while a regression runs: how far it is, how fast, and how long it still takes."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sim.regress.records import JobRecord, JobSpec

Group = tuple[str, str]


def group_of(spec: JobSpec) -> Group:
    """Return what jobs of similar duration share: the group's name and the simulator."""
    return spec.name, spec.simulator


@dataclass
class Progress:
    """Running totals. ``known`` holds the mean seconds of a job by group from past regressions."""

    jobs: Mapping[str, JobSpec]
    slots: int
    known: Mapping[Group, float] = field(default_factory=dict)
    started: float = field(default_factory=time.monotonic)
    done: int = 0
    failed: int = 0
    running: int = 0
    workers: int = 0
    programs: int = 0
    cycles: int = 0

    def __post_init__(self) -> None:
        self._left = Counter(group_of(spec) for spec in self.jobs.values())
        self._seconds: dict[Group, float] = defaultdict(float)
        self._count: Counter[Group] = Counter()

    @property
    def total(self) -> int:
        """Jobs of the regression, with those of an earlier, interrupted part."""
        return len(self.jobs)

    @property
    def elapsed(self) -> float:
        """Seconds since this part started."""
        return time.monotonic() - self.started

    def resume(self, records: Iterable[JobRecord]) -> None:
        """Count records of an earlier part: done, but no measure of the present speed."""
        for record in records:
            self._count_record(record)

    def add(self, record: JobRecord) -> None:
        """Count a record that has just come in."""
        self._count_record(record)
        group = group_of(self.jobs[record.id])
        self._seconds[group] += record.seconds
        self._count[group] += 1
        self.programs += record.programs
        self.cycles += record.cycles

    def _count_record(self, record: JobRecord) -> None:
        self.done += 1
        self.failed += not record.passed
        self._left[group_of(self.jobs[record.id])] -= 1

    def eta(self) -> float | None:
        """Return the seconds still needed, None while nothing is known to tell by."""
        measured = sum(self._count.values())
        overall = sum(self._seconds.values()) / measured if measured else None
        work = 0.0
        for group, left in self._left.items():
            mean: float | None
            if self._count[group]:
                mean = self._seconds[group] / self._count[group]
            else:
                mean = self.known.get(group, overall)
            if left and mean is None:
                return None
            work += left * (mean or 0.0)
        return work / max(1, min(self.slots, sum(self._left.values())))

    def rates(self) -> tuple[float, float]:
        """Return programs and simulated cycles per second of wall time, of this part."""
        seconds = max(self.elapsed, 1e-9)
        return self.programs / seconds, self.cycles / seconds


def longest_first(jobs: Iterable[JobSpec], known: Mapping[Group, float]) -> list[JobSpec]:
    """Order jobs so that the end does not wait for one long job that started last.

    Unmeasured groups come first: they may be long. Jobs of one group keep their order.
    """
    return sorted(jobs, key=lambda job: -known.get(group_of(job), float("inf")))
