"""The files that say how a regression ended.

``summary.json`` is for reports, ``failures.txt`` for people, ``junit.xml`` for the pages of a CI
system, ``counters.csv`` for spreadsheets.
"""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sim.regress.buckets import Bucket, first_failure
from sim.regress.records import JobRecord, JobReport, JobSpec
from sim.regress.run_folder import COUNTERS, FAILURES, JUNIT, RECORD, SUMMARY
from sim.shared import files, junit
from sim.shared.outcome import Outcome
from verif.typed import RecordError, read_json

CHANGED = "edited while the regression ran, whose results are now of no one version: "
COUNTER_COLUMNS = (
    *("job", "simulator", "seed", "lat", "window", "page"),
    *("program", "passed", "total", "mm", "dma", "vec", "n_inst"),
)


def failure_lines(buckets: Sequence[Bucket]) -> list[str]:
    """Return the failures by bucket, as text: what, how often, an example and its rerun."""
    lines = []
    for number, item in enumerate(buckets, 1):
        what = f"{item.kind}: {item.pattern}"
        lines.append(f"[{number}] {item.count} x {what}")
        lines.append(f"    example  {item.job} (seed {item.seed}): {item.message}")
        if item.instruction:
            lines.append(f"    first at {item.instruction}")
        lines.append(f"    rerun    {item.rerun}")
    return lines


def write_failures(path: Path, buckets: Sequence[Bucket]) -> None:
    """Write the failures by bucket as text, in one step."""
    files.write_text(path, "".join(f"{line}\n" for line in failure_lines(buckets)))


def write_counters(path: Path, jobs: Mapping[str, JobSpec]) -> None:
    """Write a CSV with the counters of every program of every finished job, in job order.

    Raises:
        RecordError: records of jobs are corrupt; all others are in the file.
    """
    faults = []
    stream = io.StringIO()
    table = csv.writer(stream, lineterminator="\n")
    table.writerow(COUNTER_COLUMNS)
    for spec in jobs.values():
        record = path.parent / "jobs" / spec.id / RECORD
        if not record.exists():
            continue
        try:
            rows = read_json(record, JobReport).rows
        except RecordError as error:
            faults.append(str(error))
            continue
        head = [spec.id, spec.simulator, spec.seed, spec.lat, spec.window, spec.page]
        for name, *values in rows:
            table.writerow([*head, name, *(v if v is None else int(v) for v in values)])
    files.write_text(path, stream.getvalue())
    if faults:
        raise RecordError("; ".join(faults[:3]))


def write_junit(
    path: Path,
    summary: Mapping[str, Any],
    jobs: Mapping[str, JobSpec],
    records: Mapping[str, JobRecord],
    rerun: str,
) -> None:
    """Write a test case a job; one that never ran is marked as skipped.

    Args:
        path: where to, in one step.
        summary: of the regression.
        jobs: all of them, by id.
        records: of those that ended, by id.
        rerun: the command that plays a job again, up to its id.
    """
    properties = {name: summary[name] for name in ("id", "seed", "cluster", "revision", "state")}
    properties |= {f"design {name}": value for name, value in summary["design"].items()}
    cases = [junit_case(spec, records.get(spec.id), rerun) for spec in jobs.values()]
    if summary["changed"]:
        text = CHANGED + ", ".join(summary["changed"])
        cases.append(junit.Case("sources", Outcome.FAILED, text, classname="regression"))
    junit.write(path, [junit.Suite(summary["suite"], cases, properties)], "ga2")


def junit_case(spec: JobSpec, record: JobRecord | None, rerun: str) -> junit.Case:
    """Return the test case of one job."""
    group = f"{spec.name}.{spec.simulator}"
    names: tuple[str, ...] = ("seed", "kind", "simulator", "lat", "depth", "page")
    values = {name: getattr(spec, name) for name in names}
    values["window"] = "none" if spec.window is None else spec.window
    if record is None:
        text = "not run: the regression was interrupted"
        return junit.Case(spec.id, Outcome.SKIPPED, text, classname=group, properties=values)
    values["started"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.started))
    names = ("seconds", "attempt", "worker", "programs", "cycles", "design")
    values |= {name: getattr(record, name) for name in names}
    first = first_failure(record)
    again = f"seed {spec.seed}, rerun with waves: {first.rerun or rerun + spec.id}"
    return junit.Case(
        name=spec.id,
        outcome=record.status,
        detail="\n".join([first.message, again, *(item.line() for item in record.failures)]),
        seconds=record.seconds,
        classname=group,
        # A crash is told by its kind when the file is read again.
        kind=first.kind if record.status == Outcome.FAILED else record.status.value,
        properties=values,
    )


def write_all(
    folder: Path,
    summary: Mapping[str, Any],
    jobs: Mapping[str, JobSpec],
    records: Mapping[str, JobRecord],
    buckets: Sequence[Bucket],
    rerun: str,
) -> list[str]:
    """Write every report that can be written; return a line about each that cannot."""
    writers: dict[str, Callable[[Path], None]] = {
        FAILURES: lambda path: write_failures(path, buckets),
        COUNTERS: lambda path: write_counters(path, jobs),
        JUNIT: lambda path: write_junit(path, summary, jobs, records, rerun),
        SUMMARY: lambda path: files.write_json(path, summary, None),
    }
    problems = []
    for name, write in writers.items():
        try:
            write(folder / name)
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) and error.strerror else error
            problems.append(f"{folder / name}: {why}")
    return problems
