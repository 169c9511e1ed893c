"""What a Dask worker does with one job: start its process, wait, and record how it ended."""

from __future__ import annotations

import os
import re
import shutil
import socket
import sys
import time
from pathlib import Path
from typing import Any

from msgspec import structs

from sim.regress.builds import VARIABLE
from sim.regress.records import Failure, JobRecord, JobReport, JobSpec
from sim.regress.run_folder import BUILDS, COVERAGE, LOG, OUTCOME, RECORD, SPEC
from sim.shared import files
from sim.shared import process as supervise
from sim.shared.outcome import Outcome
from sim.shared.paths import ROOT
from verif.typed import RecordError, convert, plain, read_json

# Neither XML nor a terminal can take them.
CONTROL = re.compile(r"[^\n\t\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\x7f-\x9f]")


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
    """Return the command that does the job whose specification is in ``folder``."""
    return [sys.executable, "-m", "sim.regress.job_process", str(folder / SPEC)]


def environment(run: Path | None) -> dict[str, str]:
    """Return the environment of a job: ours, with this project first on Python's path.

    With the builds of the run folder ``run``; None lets the job make its own.
    """
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    env = {**os.environ, "PYTHONPATH": path}
    env.pop(VARIABLE, None)
    return {**env, VARIABLE: str(run / BUILDS)} if run else env


def run_job(
    spec_json: dict[str, Any], run_folder: str, design: str, keep_passed: bool
) -> dict[str, Any]:
    """Run one job to its end and return its ``JobRecord`` as JSON; also written to the run folder.

    ``design`` is the hash of what is tested, for the record.

    Raises:
        supervise.StoppedError: the regression is being stopped and the job has no result.
    """
    spec = convert(spec_json, JobSpec, "job")
    if spec.kind == "noop":  # measures the engine alone
        record = JobRecord(spec.id, Outcome.PASSED, started=time.time(), design=design)
        return dict(plain(record))
    supervise.check()
    run = Path(run_folder)
    folder, attempt = attempt_folder(run, spec.id)
    files.write_json(folder / SPEC, spec_json)
    started = time.time()
    try:
        end = supervise.run_child(
            command(folder),
            cwd=folder,
            log=folder / LOG,
            timeout=spec.timeout,
            env=environment(run),
        )
    except supervise.StoppedError:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    status, outcome = judge(spec, end, folder)
    measured = structs.asdict(outcome)
    rows = measured.pop("rows")
    record = JobRecord(
        id=spec.id,
        status=status,
        seconds=round(end.seconds, 4),
        started=started,
        attempt=attempt,
        worker=f"{socket.gethostname()}:{os.getpid()}",
        folder=os.path.relpath(folder, run),
        design=design,
        **measured,
    )
    keep_coverage(record, folder, run)
    data: dict[str, Any] = plain(record)
    files.write_json(folder.parent / RECORD, {**data, "rows": rows}, None)
    if record.passed and not keep_passed:
        shutil.rmtree(folder, ignore_errors=True)
    return data


def keep_coverage(record: JobRecord, folder: Path, run: Path) -> None:
    """Move a job's coverage out of its private folder, which does not outlive a pass."""
    name = record.files.pop("coverage", None)
    if name is not None:
        target = folder.parent / COVERAGE
        os.replace(folder / name, target)
        record.files["coverage"] = os.path.relpath(target, run)


def judge(spec: JobSpec, end: supervise.ChildExit, folder: Path) -> tuple[Outcome, JobReport]:
    """Turn the way a job's process ended into a status and an outcome with its failures."""
    outcome = JobReport()
    try:
        outcome = read_outcome(folder)
    except RecordError as error:
        if not end.timed_out:
            how = f"signal {-end.code}" if end.code < 0 else f"exit status {end.code}"
            message = f"no result, {how}: {last_line(folder / LOG)}"
            if (folder / OUTCOME).exists():
                message = str(error)
            return Outcome.CRASHED, JobReport(failures=[Failure("crash", printable(message))])
    if end.timed_out:
        message = f"killed at its time limit of {spec.timeout:g} s"
        outcome.failures.insert(0, Failure("timeout", message))
        return Outcome.TIMEOUT, outcome
    if outcome.failures:
        return Outcome.FAILED, outcome
    if end.code != 0:
        outcome.failures = [Failure("crash", f"passed, then exit status {end.code}")]
        return Outcome.CRASHED, outcome
    if outcome.programs < 1:
        outcome.failures = [Failure("error", "the job ran no program")]
        return Outcome.FAILED, outcome
    return Outcome.PASSED, outcome


def read_outcome(folder: Path) -> JobReport:
    """Return what a job's process reported, in characters every report can hold.

    Raises:
        RecordError: there is nothing, or nothing that can be read.
    """
    outcome = read_json(folder / OUTCOME, JobReport)
    for failure in outcome.failures:
        for name in failure.__struct_fields__:
            setattr(failure, name, printable(getattr(failure, name)))
    return outcome


def printable(text: str) -> str:
    r"""Return text without control characters: an escape becomes ``\x1b``."""
    return CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def last_line(log: Path, limit: int = 4096) -> str:
    """Return the last non-empty line of a log, or "" when it has none."""
    try:
        with log.open("rb") as stream:
            stream.seek(max(0, log.stat().st_size - limit))
            text = stream.read().decode("utf-8", "backslashreplace")
    except FileNotFoundError:
        return ""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def stop_children() -> int:
    """Kill the jobs of this worker; the engine sends this to all workers when it stops."""
    return supervise.stop()
