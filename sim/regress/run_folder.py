"""The folder of one regression: what was planned, and what came back, as it came back.

    run.json        suite, seed, design, jobs and the rest of the plan
    results.jsonl   one record a line, appended the moment a job ends
    jobs/ID/        the private folders of a job's attempts, and its record
    summary.json, junit.xml, failures.txt   written at the end, also after Ctrl-C

A killed regression keeps every finished job: a torn last line is skipped, and a record that a
worker wrote but nobody collected is picked up from the job's own folder.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct

from sim.regress.inputs import Inputs
from sim.regress.records import JobRecord, JobSpec
from sim.shared import files
from sim.shared.errors import ToolError
from sim.shared.paths import ROOT
from verif.typed import RecordError, convert, plain, read_json

SUITES = ROOT / "sim" / "regress" / "suites.yaml"

PLAN = "run.json"
RESULTS = "results.jsonl"
SUMMARY = "summary.json"
JUNIT = "junit.xml"
COUNTERS = "counters.csv"
FAILURES = "failures.txt"
BUILDS = "builds.json"  # the compiled simulators that the jobs use
# In a job's folder:
RECORD = "record.json"
COVERAGE = "coverage.xml"  # functional coverage, beside the record
# In the folder of an attempt:
SPEC = "spec.json"
OUTCOME = "outcome.json"
LOG = "job.log"
# In the base folder:
HISTORY = "history.sqlite"
LATEST = "latest"


class ResumeError(ToolError):
    """There is nothing to resume, or what there is cannot be gone on with."""


class Plan(Struct, kw_only=True):
    """What a regression is to do; ``parts`` are the seconds of each part that was interrupted.

    ``revision`` is that of the sources; ``started`` is in seconds since the epoch.
    """

    id: str
    suite: str
    seed: int
    started: float
    revision: str
    inputs: Inputs
    jobs: list[JobSpec]
    cluster: str = "local"
    slots: int = 1
    parts: list[float] = []


class State(Struct):
    """What resuming needs of a summary."""

    state: str


def new_run_folder(base: Path, suite: str) -> Path:
    """Make ``base/SUITE-DATE-TIME`` and return it; two started in one second get two folders."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    for number in range(1000):
        folder = base / (f"{suite}-{stamp}" + (f"-{number}" if number else ""))
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        return folder
    raise OSError(f"cannot make a run folder in {base}")


def find_unfinished(base: Path, suite: str) -> Path:
    """Return the latest regression of a suite that did not complete. Raises ResumeError."""
    plans = sorted(base.glob(f"{suite}-*/{PLAN}"), key=lambda path: path.stat().st_mtime)
    for path in reversed(plans):
        folder = path.parent
        if read_plan(folder).suite != suite:
            continue
        if not (folder / SUMMARY).exists() or _state(folder) != "complete":
            return folder
        break
    raise ResumeError(f"RESUME=1: no interrupted regression of suite {suite!r} in {base}")


def _state(folder: Path) -> str:
    try:
        return read_json(folder / SUMMARY, State).state
    except RecordError as error:
        raise ResumeError(f"RESUME=1: {error}") from None


def write_plan(folder: Path, plan: Plan) -> None:
    """Write ``run.json`` in one step."""
    files.write_json(folder / PLAN, plain(plan), None)


def read_plan(folder: Path) -> Plan:
    """Return the plan of a run folder. Raises ResumeError."""
    try:
        return read_json(folder / PLAN, Plan)
    except RecordError as error:
        raise ResumeError(str(error)) from None


def read_results(folder: Path, jobs: Iterable[JobSpec], design: str) -> dict[str, JobRecord]:
    """Return the records that a run folder holds about a design, by job; the first one counts."""
    wanted = {job.id for job in jobs}
    records: dict[str, JobRecord] = {}

    def take(text: bytes) -> None:
        try:
            record = convert(msgspec.json.decode(text), JobRecord, folder.name)
        except (RecordError, msgspec.DecodeError, UnicodeDecodeError):
            return  # torn by a kill or a full disk: the job runs again
        if record.id in wanted and record.design == design:
            records.setdefault(record.id, record)

    for line in _lines(folder):
        take(line)
    for job_id in sorted(wanted - set(records)):
        left = folder / "jobs" / job_id / RECORD
        if left.exists():
            take(left.read_bytes())
    return records


def logged_ids(folder: Path) -> set[str]:
    """Return the jobs whose record is in ``results.jsonl``."""
    ids: set[str] = set()
    for line in _lines(folder):
        try:
            ids.add(msgspec.json.decode(line)["id"])
        except (msgspec.DecodeError, UnicodeDecodeError, TypeError, KeyError):
            continue
    return ids


def _lines(folder: Path) -> list[bytes]:
    path = folder / RESULTS
    return path.read_bytes().split(b"\n") if path.exists() else []


def point_latest(folder: Path) -> None:
    """Make ``latest`` beside a run folder point to it."""
    link = folder.parent / LATEST
    temporary = folder.parent / f".latest-{os.getpid()}"
    temporary.unlink(missing_ok=True)
    temporary.symlink_to(folder.name)
    os.replace(temporary, link)
