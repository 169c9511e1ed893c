"""Where jobs run: this machine, or a farm under Slurm, LSF, SGE or PBS.

All kinds give the same thing, a Dask cluster and a client on it, so the engine has one code path.
On this machine the scheduler and one worker with a thread a job live in our own process: a job is
a child process anyway, so worker processes would only cost start-up time.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shlex
import shutil
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dask
from distributed import Client, LocalCluster

from sim.regress.suites import check_keys
from sim.regress.worker import environment
from sim.shared.paths import ROOT

FARMS = {"slurm": "SLURMCluster", "lsf": "LSFCluster", "sge": "SGECluster", "pbs": "PBSCluster"}
SUBMIT = {"slurm": "sbatch", "lsf": "bsub", "sge": "qsub", "pbs": "qsub"}
KINDS = ("local", *FARMS)
OPTIONS = {
    "queue",
    "account",
    "project",
    "memory",
    "walltime",
    "slots",
    "interface",
    "port",
    "directives",
    "prologue",
    "resource_spec",
}

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


class ClusterError(RuntimeError):
    """The farm cannot be used as asked; the message says what is missing."""


@dataclass
class Cluster:
    """A running Dask cluster, its client, and how many jobs it shall run at a time.

    `slots` is the number of jobs one worker runs at a time, `in_process` tells that the only
    worker is in this very process.
    """

    kind: str
    jobs: int
    slots: int
    in_process: bool
    dask: Any
    client: Any

    def workers(self) -> int:
        """Return how many workers are connected now."""
        return len(self.dask.scheduler.workers)

    def active(self) -> int:
        """Return how many jobs the connected workers are busy with."""
        states = self.dask.scheduler.workers.values()
        return sum(min(len(state.processing), state.nthreads) for state in states)

    def keep_size(self) -> None:
        """Ask for replacements of workers that are gone; costs nothing otherwise."""
        if not self.in_process:
            self.dask.scale(-(-self.jobs // self.slots))

    def close(self, timeout: float = 5.0) -> None:
        """End all workers and the scheduler.

        What does not end within `timeout` seconds each ends by itself: workers without a
        scheduler give up, and so do jobs without a worker.
        """
        with suppress(TimeoutError, asyncio.TimeoutError):
            self.client.close(timeout=timeout)
        with suppress(TimeoutError, asyncio.TimeoutError):
            self.dask.close(timeout=timeout)


def log_to(path: Path) -> None:
    """Send what Dask has to say into a file instead of over the progress display."""
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
    kind: str, jobs: int, options: Mapping[str, Any], folder: Path, processes: bool = False
) -> Cluster:
    """Start a cluster that runs `jobs` jobs at a time.

    Args:
        kind: one of `KINDS`.
        jobs: jobs at a time, 1 or more.
        options: the section of `clusters` in the regression file for this kind.
        folder: the run folder; logs of the workers go there.
        processes: local only: a worker process for each job instead of threads of ours.

    Raises:
        ClusterError: an unknown kind, or a farm whose commands are not on PATH.
    """
    dask.config.set(DASK)
    log_to(folder / "dask.log")
    slots = 1
    in_process = kind == "local" and not processes
    if kind == "local":
        cluster: Any = LocalCluster(
            n_workers=jobs if processes else 1,
            threads_per_worker=1 if processes else jobs,
            processes=processes,
            dashboard_address=None,
            memory_limit=0,
            local_directory=str(folder / "dask"),
            silence_logs=logging.ERROR if processes else False,
        )
    elif kind in FARMS:
        cluster, slots = farm(kind, options, folder)
        cluster.scale(-(-jobs // slots))
    else:
        raise ClusterError(f"CLUSTER={kind}: known: {', '.join(KINDS)}")
    return Cluster(kind, jobs, slots, in_process, cluster, Client(cluster))


def farm(kind: str, options: Mapping[str, Any], folder: Path) -> tuple[Any, int]:
    """Return a dask-jobqueue cluster without workers yet, and the slots of one worker."""
    # Importing it takes over Ctrl-C.
    before = signal.getsignal(signal.SIGINT)
    import dask_jobqueue

    signal.signal(signal.SIGINT, before)
    check_keys(f"clusters: {kind}", options, OPTIONS)
    if not shutil.which(SUBMIT[kind]):
        raise ClusterError(f"CLUSTER={kind}: {SUBMIT[kind]} is not on PATH")
    slots = int(options.get("slots", 1))
    logs = folder / "workers"
    logs.mkdir(exist_ok=True)
    # Not every farm passes the environment on.
    names = ("PATH", "PYTHONPATH")
    prologue = [f"export {name}={shlex.quote(environment(folder)[name])}" for name in names]
    prologue.append(f"cd {shlex.quote(str(ROOT))}")
    scheduler: dict[str, Any] = {"dashboard_address": None}
    if "port" in options:
        scheduler["port"] = int(options["port"])
    arguments: dict[str, Any] = {
        "cores": slots,
        "processes": 1,
        "memory": str(options.get("memory", f"{slots} GB")),
        "walltime": options.get("walltime"),
        "queue": options.get("queue"),
        "account": options.get("account"),
        "project": options.get("project"),
        "resource_spec": options.get("resource_spec"),
        "interface": options.get("interface"),
        "job_extra_directives": list(options.get("directives") or []),
        "job_script_prologue": [*(options.get("prologue") or []), *prologue],
    }
    try:
        return getattr(dask_jobqueue, FARMS[kind])(
            job_name="ga2-regress",
            # With exec the farm's signals reach the worker itself, not a shell that dies first.
            python=f"exec {sys.executable}",
            nanny=False,
            death_timeout=60,
            local_directory=os.environ.get("TMPDIR", "/tmp"),
            log_directory=str(logs),
            scheduler_options=scheduler,
            **{key: value for key, value in arguments.items() if value is not None},
        ), slots
    except (RuntimeError, TypeError, ValueError) as error:
        raise ClusterError(f"CLUSTER={kind}: {error}") from error
