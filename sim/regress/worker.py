"""What a Dask worker does with one job: start its process, wait, and record how it ended."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sys
import time
from pathlib import Path
from typing import Any

from sim.regress.job_process import OUTCOME
from sim.regress.records import (
    CRASHED,
    FAILED,
    PASSED,
    TIMEOUT,
    Failure,
    JobRecord,
    JobSpec,
    Outcome,
)
from sim.shared import files
from sim.shared import process as supervise
from sim.shared.paths import ROOT

COVERAGE_FILE = "coverage.xml"  # functional coverage of a job, beside its record
BUILDS = "builds.json"  # in the run folder: the compiled simulators that its jobs use
BUILDS_VARIABLE = "GA2_REGRESS_BUILDS"  # names that file to a job
RECORD = "record.json"
LOG = "job.log"


def attempt_folder(run: Path, job_id: str) -> tuple[Path, int]:
    """Make the private folder of the next attempt at a job and return it with its number.

    Creating a folder either succeeds or fails, also on a network file system, so a lost worker
    that is still alive somewhere never shares a folder with the worker that took over.
    """
    number = 1
    while True:
        folder = run / "jobs" / job_id / f"attempt-{number}"
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            number += 1
        else:
            return folder, number


def command(folder: Path) -> list[str]:
    """Return the command that does the job whose specification is in `folder`."""
    return [sys.executable, "-m", "sim.regress.job_process", str(folder / "spec.json")]


def environment(run: Path) -> dict[str, str]:
    """Return the environment of a job: ours, with this project first on Python's path."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    return {**os.environ, "PYTHONPATH": path, BUILDS_VARIABLE: str(run / BUILDS)}


def run_job(spec_json: dict[str, Any], run_folder: str, keep_passed: bool) -> dict[str, Any]:
    """Run one job to its end and return its `JobRecord` as JSON; also written to the run folder.

    Raises:
        supervise.StoppedError: the regression is being stopped and the job has no result.
    """
    spec = JobSpec.from_json(spec_json)
    if spec.kind == "noop":  # measures the engine alone
        return JobRecord(spec.id, PASSED, started=time.time()).to_json()
    supervise.check()
    run = Path(run_folder)
    folder, attempt = attempt_folder(run, spec.id)
    files.write_json(folder / "spec.json", spec.to_json(), indent=1)
    started = time.time()
    log = folder / LOG
    try:
        end = supervise.run_child(
            command(folder), cwd=folder, log=log, timeout=spec.timeout, env=environment(run)
        )
    except supervise.StoppedError:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    status, outcome = judge(spec, end, folder)
    record = JobRecord(
        id=spec.id,
        status=status,
        seconds=round(end.seconds, 4),
        started=started,
        attempt=attempt,
        worker=f"{socket.gethostname()}:{os.getpid()}",
        folder=os.path.relpath(folder, run),
        programs=outcome.programs,
        cycles=outcome.cycles,
        comparisons=outcome.comparisons,
        failures=outcome.failures,
        files=outcome.files,
        tests=outcome.tests,
    )
    keep_coverage(record, folder, run)
    data = record.to_json()
    files.write_json(folder.parent / RECORD, {**data, "rows": outcome.rows})
    if record.passed and not keep_passed:
        shutil.rmtree(folder, ignore_errors=True)
    return data


def keep_coverage(record: JobRecord, folder: Path, run: Path) -> None:
    """Move a job's coverage out of its private folder, which does not outlive a pass."""
    name = record.files.pop("coverage", None)
    if name is not None:
        target = folder.parent / COVERAGE_FILE
        os.replace(folder / name, target)
        record.files["coverage"] = os.path.relpath(target, run)


def judge(spec: JobSpec, end: supervise.ChildExit, folder: Path) -> tuple[str, Outcome]:
    """Turn the way a job's process ended into a status and an outcome with its failures."""
    try:
        data = json.loads((folder / OUTCOME).read_text(encoding="utf-8"))
        outcome = Outcome.from_json(data)
    except FileNotFoundError:
        outcome = Outcome()
        if not end.timed_out:
            how = f"signal {-end.code}" if end.code < 0 else f"exit status {end.code}"
            last = last_line(folder / LOG)
            outcome.failures = [Failure("crash", f"no result, {how}: {last}")]
            return CRASHED, outcome
    if end.timed_out:
        message = f"killed at its time limit of {spec.timeout:g} s"
        outcome.failures.insert(0, Failure("timeout", message))
        return TIMEOUT, outcome
    if outcome.failures:
        return FAILED, outcome
    if end.code != 0:
        outcome.failures = [Failure("crash", f"passed, then exit status {end.code}")]
        return CRASHED, outcome
    if outcome.programs < 1:
        outcome.failures = [Failure("error", "the job ran no program")]
        return FAILED, outcome
    return PASSED, outcome


def last_line(log: Path, limit: int = 4096) -> str:
    """Return the last non-empty line of a log, or "" when it has none."""
    try:
        with log.open("rb") as stream:
            stream.seek(max(0, log.stat().st_size - limit))
            text = stream.read().decode("utf-8", "replace")
    except FileNotFoundError:
        return ""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def stop_children() -> int:
    """Kill the jobs of this worker; the engine sends this to all workers when it stops."""
    return supervise.stop()
