"""The kind of job that simulates nothing: a part of the proofs, or of the mutants against them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sim.regress.records import Failure, FormalParams, JobReport, JobSpec
from sim.shared.files import read_json, read_text
from verif.typed import convert

MODULES = {"proofs": "sim.formal", "mutants": "sim.mutate.proofs"}
FINE = ("refuted", "equivalent")
LOG = "formal.log"


class FormalError(RuntimeError):
    """The tool ended without a result; the message is the last that it said."""


def command(spec: JobSpec, folder: Path) -> list[str]:
    """Return the command of a job, whose result goes to a folder."""
    params = convert(spec.params, FormalParams, f"{spec.name}: params")
    words = [sys.executable, "-m", MODULES[params.ask], "--jobs=1", f"--out={folder}"]
    words.append(f"--part={params.part}/{params.parts}")
    if params.ask == "mutants":
        words.append(f"--sample={params.sample}")
    return [*words, f"--rtl={spec.rtl}"] if spec.rtl else words


def run_formal(spec: JobSpec, folder: Path) -> JobReport:
    """Do a part; each property that is not proved and each mutant left over is a failure.

    Raises:
        FormalError: there is no result.
    """
    # No child of its own: it is one of the group of this process, which ends with its worker.
    with (folder / LOG).open("wb") as stream:
        done = subprocess.run(
            command(spec, folder), stdout=stream, stderr=subprocess.STDOUT, cwd=folder
        )
    result = read_json(folder / "formal.json") or {}
    rows = result.get("mutants" if spec.params["ask"] == "mutants" else "properties")
    if done.returncode not in (0, 1) or rows is None:
        last = [line for line in read_text(folder / LOG).splitlines() if line.strip()][-1:]
        raise FormalError(f"exit status {done.returncode}: {''.join(last) or 'no output'}")
    found = list(failures(rows))
    if done.returncode and not found:
        found = [Failure("formal", "exit status 1, and nothing in the result says why")]
    return JobReport(programs=len(rows), comparisons=len(rows), failures=found, files={"log": LOG})


def failures(rows: list[dict[str, Any]]) -> Iterator[Failure]:
    """Yield what is wrong in the rows of a result."""
    for row in rows:
        if "property" in row:
            noticed = row["mutant"].startswith("fails")
            if row["verdict"] != "proved" or not noticed:
                what = row["verdict"] if row["verdict"] != "proved" else row["mutant"]
                again = f"make formal MODULES={row['module'].removeprefix('ga2_')}"
                yield Failure(
                    "property", f"{row['module']}: {row['property']}: {what}", rerun=again
                )
        elif row["status"] not in FINE:
            where = f"{row['file']}:{row['line']}"
            again = "make mutate ENGINE=formal"
            yield Failure("mutant", f"{row['status']}: {where} {row['description']}", rerun=again)
