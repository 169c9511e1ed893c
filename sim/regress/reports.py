"""What a regression says at its end: `summary.json` for reports, `failures.txt` for people."""

from __future__ import annotations

import json
import platform
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sim.regress.buckets import Bucket
from sim.regress.records import PASSED, STATUSES, JobRecord, JobSpec
from sim.regress.run_folder import SUMMARY
from sim.regress.worker import RECORD
from sim.shared import files
from sim.shared.paths import ROOT

COMPLETE = "complete"
INTERRUPTED = "interrupted"


def revision() -> str:
    """Return the revision of the sources, "-dirty" when they differ from it, "" without git."""
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=10,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()


def totals(jobs: Mapping[str, JobSpec], records: Sequence[JobRecord]) -> dict[str, Any]:
    """Return counts over all records: by status, programs, simulated cycles, seconds."""
    by_status = {status: 0 for status in STATUSES}
    for item in records:
        by_status[item.status] += 1
    return {
        "jobs": len(jobs),
        "done": len(records),
        "missing": len(jobs) - len(records),
        "passed": by_status[PASSED],
        "failed": len(records) - by_status[PASSED],
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
    plan: Mapping[str, Any],
    jobs: Mapping[str, JobSpec],
    records: Sequence[JobRecord],
    buckets: Sequence[Bucket],
    state: str,
    seconds: float,
) -> dict[str, Any]:
    """Return the summary of a regression as JSON values. Times in seconds, dates since the epoch.

    Flat totals serve the history; `groups`, `buckets` and `records` serve the reports.
    """
    counts = totals(jobs, records)
    return {
        **{key: value for key, value in plan.items() if key != "jobs"},
        **counts,
        "state": state,
        "verdict": verdict(state, counts),
        "seconds": round(seconds, 3),
        "finished": time.time(),
        # How much of the slots' time was a job's own, and what the engine itself computed.
        "utilization": round(counts["job_seconds"] / max(seconds * plan.get("slots", 1), 1e-9), 4),
        "engine_cpu_seconds": round(time.process_time(), 3),
        "programs_per_second": round(counts["programs"] / max(seconds, 1e-9), 3),
        "cycles_per_second": round(counts["cycles"] / max(seconds, 1e-9), 1),
        "host": platform.node(),
        "python": platform.python_version(),
        "groups": groups(jobs, records),
        "buckets": [item.to_json() for item in buckets],
        "records": [
            {**jobs[item.id].to_json(), **item.to_json()}
            for item in sorted(records, key=lambda record: record.started)
        ],
    }


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


def counters_csv(folder: Path, jobs: Mapping[str, JobSpec]) -> str:
    """Return a CSV with the counters of every program of every finished job, in job order."""
    names = "job,simulator,seed,lat,window,page,program,passed,total,mm,dma,vec,n_inst"
    lines = [names]
    for spec in jobs.values():
        path = folder / "jobs" / spec.id / RECORD
        if not path.exists():
            continue
        window = "" if spec.window is None else spec.window
        head = f"{spec.id},{spec.simulator},{spec.seed},{spec.lat},{window},{spec.page}"
        for row in json.loads(path.read_text(encoding="utf-8")).get("rows", []):
            name = '"' + str(row[0]).replace('"', '""') + '"'
            rest = ",".join("" if value is None else str(int(value)) for value in row[1:])
            lines.append(f"{head},{name},{rest}")
    return "\n".join(lines) + "\n"


def write_counters(folder: Path, jobs: Mapping[str, JobSpec]) -> None:
    """Write `counters.csv` in one step."""
    files.write_text(folder / "counters.csv", counters_csv(folder, jobs))


def write(folder: Path, summary: Mapping[str, Any], buckets: Sequence[Bucket]) -> None:
    """Write `summary.json` and `failures.txt`, each in one step."""
    text = "\n".join(failure_lines(buckets))
    files.write_text(folder / "failures.txt", text + "\n" if text else "")
    files.write_json(folder / SUMMARY, summary)
