"""The kinds of job: each turns a specification into an outcome inside the job's own process."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sim.regress.records import Failure, JobSpec, Outcome


def run(spec: JobSpec, folder: Path) -> Outcome:
    """Do the job in `folder`. Raises KeyError for an unknown kind, and what the kind raises."""
    return KINDS[spec.kind](spec, folder)


def fields_of(spec: JobSpec) -> dict[str, Any]:
    """Return the names a command's arguments may refer to, such as `{seed}`."""
    names = ("id", "name", "seed", "simulator", "lat", "depth", "window", "page")
    return {name: getattr(spec, name) for name in names}


def fill(part: str, fields: dict[str, Any]) -> str:
    """Return an argument with its `{fields}` filled in. Raises ValueError for unknown ones."""
    try:
        return part.format(**fields)
    except (KeyError, IndexError, ValueError) as error:
        raise ValueError(f"argument {part!r}: fields are {', '.join(fields)}") from error


def run_command(spec: JobSpec, folder: Path) -> Outcome:
    """Run `params["argv"]`, a list or one string; exit status 0 is a pass of one program.

    `{seed}` and the other fields of the job are filled in. The reason of a failure is the last
    line the command printed.
    """
    argv = spec.params["argv"]
    parts = shlex.split(argv) if isinstance(argv, str) else [str(item) for item in argv]
    filled = [fill(part, fields_of(spec)) for part in parts]
    output = folder / "command.log"
    with output.open("wb") as stream:
        done = subprocess.run(filled, stdout=stream, stderr=subprocess.STDOUT, cwd=folder)
    outcome = Outcome(programs=1, comparisons=1)
    if done.returncode:
        lines = output.read_text(encoding="utf-8", errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "no output")
        outcome.failures.append(Failure("command", f"exit status {done.returncode}: {last}"))
    return outcome


def run_simulation(spec: JobSpec, folder: Path) -> Outcome:
    """Simulate programs; the model and the testbench are imported only by jobs that need them."""
    from sim.regress.workloads import run_workload

    return run_workload(spec, folder)


KINDS: dict[str, Callable[[JobSpec, Path], Outcome]] = {
    "decode": run_simulation,
    "random": run_simulation,
    "directed": run_simulation,
    "command": run_command,
}
