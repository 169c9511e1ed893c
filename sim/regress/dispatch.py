"""Hand jobs to workers and take their records: each job is accounted for exactly once.

Only a window of jobs, about twice what can run, is with Dask at any time. A lost worker's job
goes back into Dask's own queue and runs again on another worker; a job that takes worker after
worker down ends as "lost". What Dask would keep per job is dropped as soon as its record is in.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from distributed import as_completed

from sim.regress.clusters import Cluster
from sim.regress.progress import group_of
from sim.regress.records import Failure, JobRecord, JobSpec
from sim.regress.stop import Stop
from sim.regress.worker import run_job, stop_children
from sim.shared import process as supervise
from sim.shared.outcome import Outcome
from verif.typed import convert, plain

TICK_SECONDS = 0.1
KEEP_SECONDS = 2.0


def window(slots: int) -> int:
    """Return how many jobs may be with Dask: enough to never starve, few enough to stay fast."""
    return 2 * slots + 32


def family(spec: JobSpec) -> str:
    """Return the part of a Dask key that jobs of similar duration share.

    Dask keeps statistics for every such prefix and walks over all of them at each step: a prefix
    of its own for each job would make the cost of a regression quadratic.
    """
    return "_".join(group_of(spec)).replace("-", "_")


def run_jobs(
    cluster: Cluster,
    jobs: Sequence[JobSpec],
    folder: Path,
    *,
    design: str,
    stop: Stop,
    on_record: Callable[[JobRecord], None],
    on_tick: Callable[[int, int], None],
    keep_passed: bool = False,
) -> None:
    """Run all jobs, or those that end before ``stop``.

    Args:
        cluster: where they run.
        jobs: in the order to start them.
        folder: the run folder, on a file system that all workers share.
        design: hash of what is tested, for the records.
        stop: looked at ten times a second.
        on_record: called once a job, in this thread, as records come in.
        on_tick: called about ten times a second with the running jobs and connected workers.
        keep_passed: keep the private folders of passing jobs too.

    Raises:
        ClusterError: there is no worker, and the farm takes no more.
    """
    waiting = iter(jobs)
    given = Given(cluster, run_folder=str(folder), design=design, keep_passed=keep_passed)
    given.submit(list(itertools.islice(waiting, window(cluster.jobs))))
    ticked = kept = time.monotonic()
    try:
        while given.by_key and not stop:
            again: list[JobSpec] = []
            done = 0
            for spec, record in given.next_records():
                if stop:
                    break
                if record is None:
                    again.append(spec)
                    continue
                done += 1
                record.design = design
                on_record(record)
            given.submit([*again, *itertools.islice(waiting, done)])
            now = time.monotonic()
            if now - ticked >= TICK_SECONDS:
                ticked = now
                on_tick(cluster.active(), cluster.workers())
            if now - kept >= KEEP_SECONDS:
                kept = now
                cluster.keep_size()
    finally:
        given.take_back()


class Given:
    """The jobs that are with Dask.

    Args:
        cluster: where they run.
        arguments: of ``run_job``, beside the job.
    """

    def __init__(self, cluster: Cluster, **arguments: Any) -> None:
        self.by_key: dict[str, JobSpec] = {}
        self._cluster = cluster
        self._arguments = arguments
        self._tracker = as_completed(with_results=True, raise_errors=False)
        self._serial = itertools.count()

    def submit(self, specs: Sequence[JobSpec]) -> None:
        """Give jobs to Dask."""
        if not specs:
            return
        keys = [f"{family(spec)}-{next(self._serial)}" for spec in specs]
        self.by_key.update(zip(keys, specs, strict=True))
        jobs = [plain(spec) for spec in specs]
        futures = self._cluster.client.map(run_job, jobs, key=keys, pure=False, **self._arguments)
        self._tracker.update(futures)

    def next_records(self) -> Iterator[tuple[JobSpec, JobRecord | None]]:
        """Wait a moment and yield what has come back; None for a job that must run again."""
        with self._tracker.thread_condition:
            if not self._tracker.has_ready():
                self._tracker.thread_condition.wait(TICK_SECONDS)
        for future, result in self._tracker.next_batch(block=False):
            spec = self.by_key.pop(future.key)
            yield spec, record_of(spec, future.status, result)

    def take_back(self) -> None:
        """Kill what still runs."""
        if self.by_key:
            self._tracker.clear()
            stop_workers(self._cluster)


def record_of(spec: JobSpec, status: str, result: Any) -> JobRecord | None:
    """Turn what Dask returned into the record of a job; None when the job must run again."""
    if status == "finished":
        return convert(result, JobRecord, spec.id)
    if status != "error":  # cancelled: Dask lost sight of it
        return None
    error = result[1]
    if isinstance(error, supervise.StoppedError):
        # Either all of us stop, or a single worker was told to end.
        return None
    name = type(error).__name__
    if name == "KilledWorker":
        message = "every worker that ran this job was lost"
        return JobRecord(spec.id, Outcome.LOST, failures=[Failure("lost", message)])
    lines = str(error).splitlines() or [""]
    return JobRecord(spec.id, Outcome.CRASHED, failures=[Failure("engine", f"{name}: {lines[0]}")])


def stop_workers(cluster: Cluster) -> None:
    """Kill the jobs on all workers; those of unreachable ones die with their worker."""
    supervise.stop()
    if cluster.in_process:
        return
    # Whatever cannot be reached is ended by the leash of each job instead.
    with suppress(Exception):
        cluster.client.run(stop_children, wait=False)
