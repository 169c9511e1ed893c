"""The files that say how a regression ended.

`summary.json` is for reports, `failures.txt` for people, `junit.xml` for the pages of a CI system,
`counters.csv` for spreadsheets.
"""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import junitparser

from sim.regress.buckets import Bucket
from sim.regress.records import CRASHED, LOST, PASSED, TIMEOUT, Failure, JobSpec, Outcome
from sim.regress.run_folder import COUNTERS, FAILURES, JUNIT, RECORD, SUMMARY
from sim.shared import files
from sim.shared.typed import RecordError, convert, read_json

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
            rows = read_json(record, Outcome).rows
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
    path: Path, summary: Mapping[str, Any], jobs: Mapping[str, JobSpec], rerun: str
) -> None:
    """Write a test case a job; one that never ran is marked as skipped.

    Args:
        path: where to, in one step.
        summary: of the regression.
        jobs: all of them, by id.
        rerun: the command that plays a job again, up to its id.
    """
    records = {item["id"]: item for item in summary["records"]}
    suite = junitparser.TestSuite(summary["suite"])
    for name in ("id", "seed", "cluster", "revision", "state"):
        suite.add_property(name, str(summary[name]))
    for name, value in summary["design"].items():
        suite.add_property(f"design {name}", str(value))
    suite.add_testcases([junit_case(spec, records.get(spec.id), rerun) for spec in jobs.values()])
    if summary["changed"]:
        case = junitparser.TestCase("sources", classname="regression")
        case.result = [junitparser.Failure(CHANGED + ", ".join(summary["changed"]), "changed")]
        suite.add_testcase(case)
    xml = junitparser.JUnitXml("ga2")
    xml.append(suite)
    files.write_text(path, xml.tostring().decode())


def junit_case(spec: JobSpec, record: Mapping[str, Any] | None, rerun: str) -> Any:
    """Return the test case of one job and its record as in the summary."""
    case = junitparser.TestCase(spec.id, classname=f"{spec.name}.{spec.simulator}")
    window = "none" if spec.window is None else spec.window
    values: dict[str, Any] = {
        "seed": spec.seed,
        "kind": spec.kind,
        "simulator": spec.simulator,
        "lat": spec.lat,
    }
    values |= {"depth": spec.depth, "window": window, "page": spec.page}
    if record is None:
        case.result = [junitparser.Skipped("not run: the regression was interrupted")]
    else:
        case.time = record["seconds"]
        values["started"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record["started"]))
        names = ("seconds", "attempt", "worker", "programs", "cycles", "design")
        values |= {name: record[name] for name in names}
        if record["status"] != PASSED:
            broken = record["status"] in (CRASHED, LOST, TIMEOUT)
            failures = convert(record["failures"], list[Failure], spec.id)
            first = failures[0] if failures else Failure(record["status"], record["status"])
            result = (junitparser.Error if broken else junitparser.Failure)(
                first.message, first.kind
            )
            head = f"seed {spec.seed}, rerun with waves: {first.rerun or rerun + spec.id}"
            result.text = "\n".join([head, *(item.line() for item in failures)])
            case.result = [result]
    properties = junitparser.Properties()
    for name, value in values.items():
        properties.add_property(junitparser.Property(name, str(value)))
    case.append(properties)
    return case


def write_all(
    folder: Path,
    summary: Mapping[str, Any],
    jobs: Mapping[str, JobSpec],
    buckets: Sequence[Bucket],
    rerun: str,
) -> list[str]:
    """Write every report that can be written; return a line about each that cannot."""
    writers: dict[str, Callable[[Path], None]] = {
        FAILURES: lambda path: write_failures(path, buckets),
        COUNTERS: lambda path: write_counters(path, jobs),
        JUNIT: lambda path: write_junit(path, summary, jobs, rerun),
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
