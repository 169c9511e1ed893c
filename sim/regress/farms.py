"""Workers on a farm under Slurm, LSF, SGE or PBS, by dask-jobqueue."""

from __future__ import annotations

import re
import shlex
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

from sim.regress.suites import FarmOptions
from sim.regress.worker import environment
from sim.shared.errors import ToolError
from sim.shared.paths import ROOT

CLASSES = {"slurm": "SLURMCluster", "lsf": "LSFCluster", "sge": "SGECluster", "pbs": "PBSCluster"}
SUBMIT = {"slurm": "sbatch", "lsf": "bsub", "sge": "qsub", "pbs": "qsub"}
# The lines of a job script that ask for memory; where there is none a resource_spec would hold it.
MEMORY_LINES = {"slurm": ["--mem="], "lsf": ["-M "], "sge": [], "pbs": []}


class ClusterError(ToolError):
    """The farm cannot be used as asked; the message has what is missing, or the farm's words."""


def farm(kind: str, options: FarmOptions, folder: Path, refusals: list[str]) -> Any:
    """Return a dask-jobqueue cluster without workers yet.

    Args:
        kind: a key of ``CLASSES``.
        options: how workers are asked for.
        folder: the run folder; logs of the workers go there.
        refusals: what the farm says whenever it does not accept a worker is added here.

    Raises:
        ClusterError: its commands are not on PATH, or the options do not go together.
    """
    if not shutil.which(SUBMIT[kind]):
        raise ClusterError(f"CLUSTER={kind}: {SUBMIT[kind]} is not on PATH")
    # Importing it takes over Ctrl-C.
    before = signal.getsignal(signal.SIGINT)
    import dask_jobqueue

    signal.signal(signal.SIGINT, before)
    base = getattr(dask_jobqueue, CLASSES[kind])
    logs = folder / "workers"
    logs.mkdir(exist_ok=True)
    try:
        return base(
            job_cls=watched(base.job_cls, refusals),
            job_name="ga2-regress",
            # With exec the farm's signals reach the worker itself, not a shell that dies first.
            python=f"exec {sys.executable}",
            nanny=False,
            death_timeout=60,
            local_directory=tempfile.gettempdir(),
            log_directory=str(logs),
            **arguments(kind, options, folder),
        )
    except (RuntimeError, TypeError, ValueError) as error:
        raise ClusterError(f"CLUSTER={kind}: {error}") from error


def arguments(kind: str, options: FarmOptions, folder: Path) -> dict[str, Any]:
    """Return what dask-jobqueue is told of the options; what is left out is the farm's default."""
    # Not every farm passes the environment on.
    names = ("PATH", "PYTHONPATH")
    prologue = [f"export {name}={shlex.quote(environment(folder)[name])}" for name in names]
    prologue.append(f"cd {shlex.quote(str(ROOT))}")
    scheduler: dict[str, Any] = {"dashboard_address": ":0"}
    if options.port is not None:
        scheduler["port"] = options.port
    memory = None if options.memory == "none" else options.memory
    chosen: dict[str, Any] = {
        "walltime": options.walltime,
        "queue": options.queue,
        "account": options.account,
        "project": options.project,
        "resource_spec": options.resource_spec,
        "interface": options.interface,
    }
    if options.memory == "none":
        chosen["job_directives_skip"] = MEMORY_LINES[kind]
        if kind == "pbs" and options.resource_spec is None:
            chosen["resource_spec"] = f"select=1:ncpus={options.slots}"
    return {
        "cores": options.slots,
        "processes": 1,
        "memory": memory or f"{options.slots} GB",
        "job_extra_directives": options.directives,
        "job_script_prologue": [*options.prologue, *prologue],
        "scheduler_options": scheduler,
        **{key: value for key, value in chosen.items() if value is not None},
    }


def watched(base: Any, refusals: list[str]) -> Any:
    """Return a class of farm jobs that keeps what the farm says when it refuses one.

    Dask itself only logs it, and waits for the worker for ever.
    """

    class Watched(base):  # type: ignore[misc]
        async def _submit_job(self, script: str) -> Any:
            try:
                return await super()._submit_job(script)
            except (RuntimeError, OSError) as error:
                refusals.append(words(str(error)))
                raise

        def _job_id_from_submit_output(self, out: str) -> Any:
            try:
                return super()._job_id_from_submit_output(out)
            except ValueError:
                refusals.append(f"no job number in its answer: {words(out)}")
                raise

    return Watched


def words(text: str) -> str:
    """Return the farm's own words in the error of a failed command, in one line.

    >>> words("Command exited with ...\\nstdout:\\n\\nstderr:\\nsbatch: error: no such queue\\n")
    'sbatch: error: no such queue'
    """
    parts = re.split(r"^(?:stdout|stderr):$", text, flags=re.MULTILINE)
    said = [part.strip() for part in parts[1:] if part.strip()] or [text.strip()]
    return "; ".join(line.strip() for line in said[-1].splitlines() if line.strip())
