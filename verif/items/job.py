"""A job: what one simulation is to do. The front end saves it, the simulator loads it."""

from __future__ import annotations

import os
import pickle
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from verif.items.program_item import ProgramItem

JOB_VARIABLE = "GA2_JOB"  # environment variable that names the job's folder
JOB_FILE = "job.pkl"
RESULTS_FILE = "results.jsonl"
KEPT = 100  # failing programs of a job that are kept
FAILING = "failing"  # subfolder of a job: its first failing programs as jobs of their own
MEMORY_FILE = "memory.npy"  # with keep_memory
COVERAGE_FILE = "coverage.xml"  # functional coverage of the programs that passed


class JobError(RuntimeError):
    """The simulator was started without a job, or the job is not one."""


@dataclass
class Job:
    """Sequence to play and what it plays.

    Attributes:
        sequence: name in ``verif.sequences.registry``.
        params: for the sequence; ``keep_retires=True`` puts retire records into the results,
            ``keep_memory=True`` leaves the last program's final memory in ``memory.npy``,
            ``coverage=False`` collects no functional coverage.
        items: programs for the sequence ``items``, in order.
    """

    sequence: str = "items"
    params: dict[str, Any] = field(default_factory=dict)
    items: list[ProgramItem] = field(default_factory=list)

    def save(self, folder: Path) -> None:
        """Write the job into ``folder``, which is created when missing."""
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / JOB_FILE, "wb") as file:
            pickle.dump(self, file)


def load_job(folder: Path) -> Job:
    """Read the job of a folder.

    Raises:
        JobError: there is none.
    """
    path = folder / JOB_FILE
    if not path.exists():
        raise JobError(f"no job in {path}")
    with open(path, "rb") as file:
        job = pickle.load(file)
    if not isinstance(job, Job):
        raise JobError(f"{path} holds a {type(job).__name__}, not a job")
    return job


def job_folder() -> Path:
    """Folder of this simulation's job, from the environment.

    Raises:
        JobError: the variable is not set.
    """
    name = os.environ.get(JOB_VARIABLE)
    if not name:
        raise JobError(f"{JOB_VARIABLE} is not set: it names the folder of the job to play")
    return Path(name)
