"""The figures of a regression, for its reports and for the history."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sim.regress.buckets import Bucket
from sim.regress.records import JobRecord, JobSpec
from sim.regress.run_folder import Plan
from sim.shared.outcome import Outcome
from sim.shared.paths import ROOT
from sim.shared.process import run_captured
from verif.typed import plain

STATUSES = (Outcome.PASSED, Outcome.FAILED, Outcome.TIMEOUT, Outcome.CRASHED, Outcome.LOST)
COMPLETE = "complete"
INTERRUPTED = "interrupted"


def revision() -> str:
    """Return the revision of the sources, "-dirty" when they differ from it, "" without git."""
    try:
        command = ["git", "describe", "--always", "--dirty"]
        done = run_captured(command, cwd=ROOT, env=os.environ)
    except OSError:
        return ""
    return "" if done.returncode else done.stdout.strip()


def totals(jobs: Mapping[str, JobSpec], records: Sequence[JobRecord]) -> dict[str, Any]:
    """Return counts over all records: by status, programs, simulated cycles, seconds."""
    by_status = {status.value: 0 for status in STATUSES}
    for item in records:
        by_status[item.status.value] += 1
    return {
        "jobs": len(jobs),
        "done": len(records),
        "missing": len(jobs) - len(records),
        "passed": by_status[Outcome.PASSED.value],
        "failed": len(records) - by_status[Outcome.PASSED.value],
        "by_status": by_status,
        "programs": sum(item.programs for item in records),
        "cycles": sum(item.cycles for item in records),
        "comparisons": sum(item.comparisons for item in records),
        "job_seconds": round(sum(item.seconds for item in records), 3),
        "rerun_after_loss": sum(item.attempt > 1 for item in records),
    }


def groups(jobs: Mapping[str, JobSpec], records: Iterable[JobRecord]) -> list[dict[str, Any]]:
    """Return one row a group, simulator and configuration, for the tables of a report."""
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for item in records:
        spec = jobs[item.id]
        key = (spec.name, spec.simulator, spec.lat, spec.depth, spec.window, spec.page)
        names = ("name", "simulator", "lat", "depth", "window", "page")
        row = rows.setdefault(
            key,
            {
                **dict(zip(names, key, strict=True)),
                "kind": spec.kind,
                "jobs": 0,
                "failed": 0,
                "programs": 0,
                "cycles": 0,
                "seconds": 0.0,
            },
        )
        row["jobs"] += 1
        row["failed"] += not item.passed
        row["programs"] += item.programs
        row["cycles"] += item.cycles
        row["seconds"] = round(row["seconds"] + item.seconds, 4)
    return list(rows.values())


def tests(
    jobs: Mapping[str, JobSpec], records: Iterable[JobRecord]
) -> dict[str, dict[str, tuple[bool, int]]]:
    """Return by simulator and test of the plan whether it passed and how many programs it had."""
    found: dict[str, dict[str, tuple[bool, int]]] = {}
    for item in records:
        of_simulator = found.setdefault(jobs[item.id].simulator, {})
        for test, (passed, programs) in item.tests.items():
            before, count = of_simulator.get(test, (True, 0))
            of_simulator[test] = (before and passed, count + programs)
    return found


def verdict(state: str, counts: Mapping[str, Any]) -> str:
    """Return "passed", "failed", or "incomplete" when nothing failed but jobs are missing."""
    if counts["failed"]:
        return "failed"
    return "passed" if state == COMPLETE and not counts["missing"] else "incomplete"


def summarize(
    plan: Plan,
    records: Sequence[JobRecord],
    buckets: Sequence[Bucket],
    state: str,
    seconds: float,
    changed: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the summary of a regression as JSON values. Times in seconds, dates since the epoch.

    Flat totals serve the history; ``groups``, ``buckets`` and ``records`` serve the reports.
    ``changed`` names sources that were edited while it ran.
    """
    jobs = {spec.id: spec for spec in plan.jobs}
    counts = totals(jobs, records)
    return {
        **{key: value for key, value in plain(plan).items() if key not in ("jobs", "inputs")},
        "design": plain(plan.inputs.design),
        "tools": plan.inputs.tools,
        "changed": list(changed),
        **counts,
        "state": state,
        "verdict": "failed" if changed else verdict(state, counts),
        "seconds": round(seconds, 3),
        "finished": time.time(),
        # How much of the slots' time was a job's own, and what the engine itself computed.
        "utilization": round(counts["job_seconds"] / max(seconds * plan.slots, 1e-9), 4),
        "engine_cpu_seconds": round(time.process_time(), 3),
        "programs_per_second": round(counts["programs"] / max(seconds, 1e-9), 3),
        "cycles_per_second": round(counts["cycles"] / max(seconds, 1e-9), 1),
        "host": platform.node(),
        "python": platform.python_version(),
        "groups": groups(jobs, records),
        "buckets": plain(list(buckets)),
        "records": [
            {**plain(jobs[item.id]), **plain(item)}
            for item in sorted(records, key=lambda record: record.started)
        ],
    }
