"""The folder of one regression: what was planned, and what came back, as it came back.

    run.json        suite, seed, jobs and the rest of the plan; written once at the start
    results.jsonl   one record a line, appended the moment a job ends
    jobs/ID/        the private folders of a job's attempts, and its record
    summary.json, junit.xml, failures.txt   written at the end, also after Ctrl-C

A killed regression keeps every finished job: a torn last line is skipped, and a record that a
worker wrote but nobody collected is picked up from the job's own folder.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any

from sim.regress.records import JobRecord, JobSpec
from sim.regress.worker import RECORD
from sim.shared import files

PLAN = "run.json"
RESULTS = "results.jsonl"
SUMMARY = "summary.json"


class ResumeError(RuntimeError):
    """There is nothing to resume, or what there is cannot be read."""


def new_run_folder(base: Path, suite: str) -> Path:
    """Make `base/SUITE-DATE-TIME` and return it; two started in one second get two folders."""
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
    for plan in reversed(plans):
        if json.loads(plan.read_text(encoding="utf-8"))["suite"] != suite:
            continue
        summary = plan.parent / SUMMARY
        if not summary.exists():
            return plan.parent
        if json.loads(summary.read_text(encoding="utf-8"))["state"] != "complete":
            return plan.parent
        break
    raise ResumeError(f"no interrupted regression of suite {suite!r} in {base}")


def write_plan(folder: Path, plan: dict[str, Any], jobs: Iterable[JobSpec]) -> None:
    """Write `run.json`: the plan with its jobs."""
    files.write_json(folder / PLAN, {**plan, "jobs": [job.to_json() for job in jobs]}, None)


def read_plan(folder: Path) -> tuple[dict[str, Any], list[JobSpec]]:
    """Return the plan and the jobs of a run folder. Raises ResumeError."""
    try:
        plan = json.loads((folder / PLAN).read_text(encoding="utf-8"))
        return plan, [JobSpec.from_json(job) for job in plan.pop("jobs")]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ResumeError(f"{folder / PLAN} cannot be resumed: {error}") from error


def read_results(folder: Path, jobs: Iterable[JobSpec]) -> dict[str, JobRecord]:
    """Return the records that a run folder holds, by job; the first of a job counts."""
    wanted = {job.id for job in jobs}
    records: dict[str, JobRecord] = {}
    path = folder / RESULTS
    if path.exists():
        for line in path.read_text(encoding="utf-8").split("\n"):
            _take(line, wanted, records)
    for job_id in sorted(wanted - set(records)):
        left = folder / "jobs" / job_id / RECORD
        if left.exists():
            _take(left.read_text(encoding="utf-8"), wanted, records)
    return records


def logged_ids(folder: Path) -> set[str]:
    """Return the jobs whose record is in `results.jsonl`."""
    path = folder / RESULTS
    ids: set[str] = set()
    for line in path.read_text(encoding="utf-8").split("\n") if path.exists() else []:
        try:
            ids.add(json.loads(line)["id"])
        except (ValueError, TypeError, KeyError):
            continue
    return ids


def _take(text: str, wanted: set[str], records: dict[str, JobRecord]) -> None:
    try:
        record = JobRecord.from_json(json.loads(text))
    except (ValueError, TypeError):  # a line torn by a kill or a full disk
        return
    if record.id in wanted:
        records.setdefault(record.id, record)


class ResultLog:
    """Appends records to `results.jsonl`, one whole line a system call."""

    def __init__(self, folder: Path) -> None:
        path = folder / RESULTS
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        size = os.fstat(self._handle).st_size
        # A line torn by a kill must not swallow the next one.
        if size and os.pread(self._handle, 1, size - 1) != b"\n":
            os.write(self._handle, b"\n")

    def __enter__(self) -> ResultLog:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def add(self, record: JobRecord) -> None:
        """Append one record."""
        line = json.dumps(record.to_json(), separators=(",", ":")) + "\n"
        os.write(self._handle, line.encode())

    def close(self) -> None:
        """Bring everything to the disk and close."""
        if self._handle >= 0:
            os.fsync(self._handle)
            os.close(self._handle)
            self._handle = -1


def point_latest(folder: Path) -> None:
    """Make `latest` beside a run folder point to it."""
    link = folder.parent / "latest"
    temporary = folder.parent / f".latest-{os.getpid()}"
    temporary.unlink(missing_ok=True)
    temporary.symlink_to(folder.name)
    os.replace(temporary, link)
