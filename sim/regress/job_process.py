"""The process of one job: ``python -m sim.regress.job_process JOB/spec.json``.

It reads the specification, does the job in the folder of that file, and writes ``outcome.json``
there in one step. The exit status is 0 for a pass, 1 for failures found, 2 for an exception, so
that the same command also serves a bare shell loop.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

from sim.regress.formal import run_formal
from sim.regress.records import CommandParams, Failure, JobReport, JobSpec
from sim.regress.run_folder import OUTCOME
from sim.shared import files
from verif.typed import convert, plain, read_json


def do(spec: JobSpec, folder: Path) -> JobReport:
    """Do the job in ``folder``. Raises what the kind of job raises."""
    if spec.kind == "command":
        return run_command(spec, folder)
    if spec.kind == "formal":
        return run_formal(spec, folder)
    # The model and the testbench are imported only by jobs that need them.
    from sim.regress.workloads import run_workload

    return run_workload(spec, folder)


def fields_of(spec: JobSpec) -> dict[str, Any]:
    """Return the names a command's arguments may refer to, such as ``{seed}``."""
    names = ("id", "name", "seed", "simulator", "lat", "depth", "window", "page", "rtl")
    return {name: getattr(spec, name) for name in names}


def fill(part: str, fields: dict[str, Any]) -> str:
    """Return an argument with its ``{fields}`` filled in. Raises ValueError for unknown ones."""
    try:
        return part.format(**fields)
    except (KeyError, IndexError, ValueError, AttributeError) as error:
        raise ValueError(f"argument {part!r}: fields are {', '.join(fields)}") from error


def run_command(spec: JobSpec, folder: Path) -> JobReport:
    """Run the job's command; exit status 0 is a pass of one program.

    ``{seed}`` and the other fields of the job are filled in. The reason of a failure is the last
    line the command printed.
    """
    argv = convert(spec.params, CommandParams, spec.id).argv
    parts = shlex.split(argv) if isinstance(argv, str) else [str(item) for item in argv]
    filled = [fill(part, fields_of(spec)) for part in parts]
    output = folder / "command.log"
    # No child of its own: it is one of the group of this process, which ends with its worker.
    with output.open("wb") as stream:
        done = subprocess.run(filled, stdout=stream, stderr=subprocess.STDOUT, cwd=folder)
    outcome = JobReport(programs=1, comparisons=1)
    if done.returncode:
        lines = output.read_text(encoding="utf-8", errors="backslashreplace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "no output")
        outcome.failures.append(Failure("command", f"exit status {done.returncode}: {last}"))
    return outcome


def main(argv: list[str]) -> int:
    """Run the job whose specification is ``argv[0]`` and return the exit status."""
    path = Path(argv[0]).resolve()
    status = 0
    try:
        outcome = do(read_json(path, JobSpec), path.parent)
    except Exception as error:
        traceback.print_exc()
        lines = f"{type(error).__name__}: {error}".splitlines()
        outcome = JobReport(failures=[Failure("error", lines[0])])
        status = 2
    files.write_json(path.parent / OUTCOME, plain(outcome), None)
    return status or int(bool(outcome.failures))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
