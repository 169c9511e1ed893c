"""Where jobs run: this machine, or a farm (``farms``).

All kinds give the same thing, a Dask cluster and a client on it, so the engine has one code path.
On this machine the scheduler and one worker with a thread a job live in our own process: a job is
a child process anyway, so worker processes would only cost start-up time.
"""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dask
from distributed import Client, LocalCluster

from sim.regress.farms import ClusterError, farm
from sim.regress.suites import FarmOptions

DASK = {
    # A free thread takes the next job; none waits behind a long one on a busy worker.
    "distributed.scheduler.worker-saturation": 1.0,
    # How often a job may take its worker down before it counts as lost.
    "distributed.scheduler.allowed-failures": 5,
    # A worker that went silent (power, network) is given up after this.
    "distributed.scheduler.worker-ttl": "60s",
    "distributed.deploy.lost-worker-timeout": "1s",
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
    "distributed.admin.large-graph-warning-threshold": "100MB",
    "distributed.comm.timeouts.connect": "30s",
}


ANSWER_SECONDS = 60.0


@dataclass
class Cluster:
    """A running Dask cluster, its client, and how many jobs it shall run at a time.

    ``slots`` is the number of jobs one worker runs at a time, ``in_process`` tells that the only
    worker is in this very process.
    """

    kind: str
    jobs: int
    slots: int
    in_process: bool
    dask: Any
    client: Any
    refusals: list[str] = field(default_factory=list)

    def workers(self) -> int:
        """Return how many workers are connected now."""
        return len(self.dask.scheduler.workers)

    def active(self) -> int:
        """Return how many jobs the connected workers are busy with."""
        states = self.dask.scheduler.workers.values()
        return sum(min(len(state.processing), state.nthreads) for state in states)

    def keep_size(self) -> None:
        """Ask for all workers, or for replacements of those that are gone.

        Raises:
            ClusterError: there is no worker, and the farm takes no more; with its own words.
        """
        if self.in_process:
            return
        self.dask.scale(-(-self.jobs // self.slots))
        if self.refusals and not self.workers() and not self.accepted():
            raise ClusterError(f"CLUSTER={self.kind}: {self.refusals[-1]}")

    def accepted(self) -> int:
        """Return how many workers the farm has taken on, whether they run or wait."""
        return sum(bool(getattr(one, "job_id", None)) for one in self.dask.workers.values())

    def first_worker(self) -> None:
        """Ask a farm for one worker and wait until it is accepted.

        Raises:
            ClusterError: it is refused, or the farm does not answer.
        """
        if self.kind == "local":
            return
        self.dask.scale(1)
        end = time.monotonic() + ANSWER_SECONDS
        while not self.accepted():
            if self.refusals:
                raise ClusterError(f"CLUSTER={self.kind}: {self.refusals[-1]}")
            if time.monotonic() > end:
                raise ClusterError(f"CLUSTER={self.kind}: no answer in {ANSWER_SECONDS:g} s")
            time.sleep(0.02)

    def close(self, timeout: float = 5.0) -> None:
        """End all workers and the scheduler.

        What does not end within ``timeout`` seconds each ends by itself: workers without a
        scheduler give up, and so do jobs without a worker.
        """
        with suppress(TimeoutError, asyncio.TimeoutError):
            self.client.close(timeout=timeout)
        # Dask asserts that every worker of a farm was accepted once.
        with suppress(TimeoutError, asyncio.TimeoutError, AssertionError):
            self.dask.close(timeout=timeout)


def log_to(path: Path) -> None:
    """Send what Dask has to say into a file instead of over the progress display."""
    # A log on a full disk must not fill the screen with traces.
    logging.raiseExceptions = False
    handler = logging.FileHandler(path, delay=True)
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(levelname)s %(message)s"))
    families = ("distributed", "dask_jobqueue", "tornado", "bokeh")
    for name in (*families, *logging.root.manager.loggerDict):
        if name.split(".")[0] in families:
            logger = logging.getLogger(name)
            logger.handlers[:] = [handler] if name in families else []
            logger.propagate = name not in families
            logger.setLevel(logging.WARNING)


def start(
    kind: str,
    jobs: int,
    folder: Path,
    options: FarmOptions | None = None,
    processes: bool = False,
) -> Cluster:
    """Start a cluster that runs ``jobs`` jobs at a time; a farm's is asked for by ``keep_size``.

    Args:
        kind: one of ``KINDS``.
        jobs: jobs at a time, 1 or more.
        folder: the run folder; logs of the workers go there.
        options: how a farm's workers are asked for.
        processes: local only: a worker process for each job instead of threads of ours.

    Raises:
        ClusterError: a farm whose commands are not on PATH, or that refuses the first worker.
    """
    dask.config.set(DASK)
    log_to(folder / "dask.log")
    if kind != "local":
        options = options or FarmOptions()
        refusals: list[str] = []
        asked = farm(kind, options, folder, refusals)
        cluster = Cluster(kind, jobs, options.slots, False, asked, Client(asked), refusals)
        try:
            cluster.first_worker()
        except BaseException:
            cluster.close(timeout=1.0)
            raise
        return cluster
    local = LocalCluster(
        n_workers=jobs if processes else 1,
        threads_per_worker=1 if processes else jobs,
        processes=processes,
        dashboard_address=None,
        memory_limit=0,
        local_directory=str(folder / "dask"),
        silence_logs=logging.ERROR if processes else False,
    )
    return Cluster(kind, jobs, 1, not processes, local, Client(local))
