"""JUnit XML of a regression: one test case a job, for the pages of a CI system."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from junitparser import Error, JUnitXml, Properties, Property, Skipped, TestCase, TestSuite
from junitparser import Failure as JunitFailure

from sim.regress.buckets import rerun_command
from sim.regress.records import CRASHED, LOST, TIMEOUT, JobRecord, JobSpec


def case_of(spec: JobSpec, record: JobRecord | None, run: str) -> Any:
    """Return the test case of one job; a job that never ran is marked as skipped."""
    case = TestCase(spec.id, classname=f"{spec.name}.{spec.simulator}")
    values: dict[str, Any] = {
        "seed": spec.seed,
        "kind": spec.kind,
        "simulator": spec.simulator,
        "lat": spec.lat,
        "depth": spec.depth,
        "window": "none" if spec.window is None else spec.window,
        "page": spec.page,
    }
    if record is None:
        case.result = [Skipped("not run: the regression was interrupted")]
    else:
        case.time = record.seconds
        values["started"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.started))
        values["seconds"] = record.seconds
        values["attempt"] = record.attempt
        values["worker"] = record.worker
        values["programs"] = record.programs
        values["cycles"] = record.cycles
        if not record.passed:
            case.result = [_result(spec, record, run)]
    properties = Properties()
    for name, value in values.items():
        properties.add_property(Property(name, str(value)))
    case.append(properties)
    return case


def _result(spec: JobSpec, record: JobRecord, run: str) -> Any:
    kind = Error if record.status in (CRASHED, LOST, TIMEOUT) else JunitFailure
    if not record.failures:
        return kind(record.status, record.status)
    first = record.failures[0]
    result = kind(first.message, first.kind)
    lines = [f"seed {spec.seed}, rerun with waves: {rerun_command(spec, first, run)}"]
    for item in record.failures:
        where = f" at {item.instruction}" if item.instruction else ""
        program = f"{item.program}: " if item.program else ""
        lines.append(f"{program}{item.kind}: {item.message}{where}")
    result.text = "\n".join(lines)
    return result


def write(
    path: Path,
    suite: str,
    jobs: Mapping[str, JobSpec],
    records: Iterable[JobRecord],
    run: str,
    properties: Mapping[str, Any],
) -> None:
    """Write the file in one step: a test case for every job of the regression."""
    by_id = {record.id: record for record in records}
    result = TestSuite(suite)
    for name, value in properties.items():
        result.add_property(name, str(value))
    result.add_testcases([case_of(spec, by_id.get(spec.id), run) for spec in jobs.values()])
    xml = JUnitXml("ga2")
    xml.append(result)
    handle, name = tempfile.mkstemp(prefix=".junit.", dir=path.parent)
    os.close(handle)
    xml.write(name, pretty=True)
    os.chmod(name, 0o644)
    os.replace(name, path)
