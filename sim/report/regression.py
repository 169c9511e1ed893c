"""Section: the latest regression, its failures by bucket, its jobs by group."""

from __future__ import annotations

import time
from typing import Any

from sim.report.page import (
    Block,
    Cell,
    Failure,
    Fold,
    Section,
    State,
    Table,
    Text,
    count,
    design_text,
    missing,
)
from sim.report.sources import Sources

ID, TITLE = "regression", "Regression"
SHOWN = 20  # groups before the fold
LEAD = (
    "Jobs are programs, seeds and configurations on a simulator. Failures with the same message "
    "and the same operation share a bucket; its command plays the example again, with waves."
)


def section(sources: Sources) -> Section:
    """Return the section of the latest regression."""
    run = sources.regression()
    if run is None:
        return missing(ID, TITLE, LEAD, "No regression has ended yet.", "make regress")
    state: State = {"passed": "good", "failed": "bad"}.get(run["verdict"], "warn")  # type: ignore[assignment]
    problem = ""
    if run["failed"]:
        problem = f"{count(run['failed'], 'job')} of the {run['suite']} regression failed"
    elif run["missing"]:
        problem = f"{count(run['missing'], 'job')} of the {run['suite']} regression did not run"
    blocks: list[Block] = [Text(summary_line(run), state)]
    blocks += [failure(bucket) for bucket in run["buckets"]]
    groups = sorted(run["groups"], key=lambda g: (-g["failed"], g["name"], g["simulator"]))
    blocks.append(groups_table(groups[:SHOWN], "Jobs by group"))
    if more := groups[SHOWN:]:
        blocks.append(Fold(f"{len(more):,} more groups", [groups_table(more)]))
    slow = sorted(run["records"], key=lambda record: -record["seconds"])[:10]
    if slow:
        blocks.append(Fold("The slowest jobs", [jobs_table(slow)]))
    note = f"{run['suite']} suite, {when(run['started'])}"
    figure = f"{run['passed']:,}/{run['jobs']:,}"
    return Section(ID, TITLE, state, figure, note, LEAD, blocks, problem, design_text(run))


def when(seconds: float) -> str:
    """Return a date for people, in UTC.

    >>> when(0)
    '1970-01-01 00:00'
    """
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(seconds))


def summary_line(run: dict[str, Any]) -> str:
    """Return what ran, as a sentence or two."""
    lost = run.get("rerun_after_loss", 0)
    again = f" {count(lost, 'job')} ran again after a lost worker." if lost else ""
    not_run = f", {run['missing']:,} not run" if run["missing"] else ""
    return (
        f"{run['passed']:,} passed, {run['failed']:,} failed{not_run}: "
        f"{count(run['programs'], 'program')}, {run['cycles']:,} cycles and "
        f"{run['comparisons']:,} comparisons in {run['seconds']:,.1f} s "
        f"({run['programs_per_second']:,.1f} programs/s, {run['cycles_per_second']:,.0f} cycles/s) "
        f"on {run['cluster']}, {count(run['slots'], 'job')} at a time, seed {run['seed']}, "
        f"sources {run['revision'] or 'unknown'}.{again}"
    )


def failure(bucket: dict[str, Any]) -> Failure:
    """Return a bucket as a block."""
    return Failure(
        count=bucket["count"],
        what=f"{bucket['kind']}: {bucket['pattern']}",
        message=bucket["message"],
        where=bucket["instruction"],
        example=f"{bucket['job']}, seed {bucket['seed']}",
        rerun=bucket["rerun"],
        jobs=bucket["jobs"],
    )


def groups_table(groups: list[dict[str, Any]], title: str = "") -> Table:
    """Return one row a group, simulator and configuration."""
    head = ("group", "simulator", "LAT", "window", "page", "jobs", "failed", "programs", "cycles")
    rows: list[list[str | Cell]] = []
    for row in groups:
        rate = row["cycles"] / row["seconds"] if row["seconds"] else 0.0
        rows.append(
            [
                row["name"],
                row["simulator"],
                str(row["lat"]),
                "none" if row["window"] is None else str(row["window"]),
                str(row["page"]),
                f"{row['jobs']:,}",
                Cell(f"{row['failed']:,}", "bad") if row["failed"] else Cell("0", "soft"),
                f"{row['programs']:,}",
                f"{row['cycles']:,}",
                f"{rate:,.0f}",
            ]
        )
    return Table((*head, "cycles/s"), rows, "<<>>>>>>>>", title)


def jobs_table(records: list[dict[str, Any]]) -> Table:
    """Return one row a job."""
    rows = [
        (
            Cell(record["id"], "mono"),
            Cell(record["status"], "good" if record["status"] == "passed" else "bad"),
            f"{record['seconds']:,.2f}",
            f"{record['programs']:,}",
            str(record["seed"]),
        )
        for record in records
    ]
    return Table(("job", "status", "seconds", "programs", "seed"), rows, "<<>>>")
