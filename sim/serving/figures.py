"""What a served run comes to: cycles a token, times, batch, pages, as data and as a table."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from model.serving.records import Run
from model.serving.trace import to_json
from sim.serving.job import COUNTERS, Served

CSV_COLUMNS = (
    *("program", "kind", "step", "requests", "rows", "tokens"),
    *COUNTERS,
    *("pages", "cached", "passed"),
)


def rank(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of the values does not exceed; 0 of none."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)] if values else 0.0


def request_times(run: Run) -> list[dict[str, Any]]:
    """Of each request: moments in cycles, time to its first token and for each further one."""
    rows = []
    for request in run.requests:
        log, count = run.events[request.rid], len(run.tokens[request.rid])
        assert log.arrived
        assert log.first_token
        assert log.ended
        further = log.ended[1] - log.first_token[1]
        rows.append(
            {
                "id": request.rid,
                "prompt": len(request.prompt),
                "tokens": count,
                "arrived": log.arrived[1],
                "admitted": [cycle for _, cycle in log.admitted],
                "preempted": [cycle for _, cycle in log.preempted],
                "first_token": log.first_token[1],
                "ended": log.ended[1],
                "to_first": log.first_token[1] - log.arrived[1],
                "per_token": further / (count - 1) if count > 1 else None,
                "hit_rows": log.hit_rows,
                "drafted": log.drafted,
                "accepted": log.accepted,
            }
        )
    return rows


def figures(served: Served) -> dict[str, Any]:
    """Everything for the result file; cycles are the model's, which the RTL's must equal."""
    run = served.run
    times = request_times(run)
    steps = [step for step in run.steps if step.kind == "step"]
    batches = [len(step.segments) for step in steps]
    to_first = [row["to_first"] for row in times]
    per_token = [row["per_token"] for row in times if row["per_token"] is not None]
    return {
        "options": vars(run.options),
        "requests": to_json(run.requests),
        "tokens": run.tokens,
        "generated": run.generated,
        "programs": len(run.steps),
        "steps": len(steps),
        "cycles": run.cycles,
        "rtl_cycles": served.cycles,
        "cycles_a_token": run.cycles / run.generated,
        "matrix_cycles_a_token": run.matrix_bound / run.generated,
        "batch_mean": sum(batches) / len(batches),
        "batch_most": max(batches),
        "rows_mean": sum(len(s.tokens) for step in steps for s in step.segments) / len(steps),
        "to_first_median": rank(to_first, 0.5),
        "to_first_99th": rank(to_first, 0.99),
        "per_token_median": rank(per_token, 0.5),
        "per_token_99th": rank(per_token, 0.99),
        "peak_pages": run.peak_pages,
        "hits": run.hits,
        "copies": run.copies,
        "evictions": run.evictions,
        "preemptions": run.preemptions,
        "drafted": run.drafted,
        "accepted": run.accepted,
        "compilations": run.compilations,
        "compilation_bound": run.compilation_bound,
        "shapes": run.shapes,
        "request_times": times,
        "timeline": [vars(tick) for tick in run.timeline],
        "unlike_alone": served.unlike_alone,
    }


def table(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The figures for a reader, name and value."""
    options = data["options"]
    return [
        ("requests", f"{len(data['requests'])}, all ended"),
        ("tokens generated", f"{data['generated']:,}"),
        (
            "programs",
            f"{data['programs']:,}: {data['steps']:,} steps, {data['copies']} page copies, boot",
        ),
        ("cycles", f"{data['cycles']:,}"),
        (
            "cycles a token",
            f"{data['cycles_a_token']:,.0f}, matrix unit {data['matrix_cycles_a_token']:,.0f}",
        ),
        (
            "batch",
            f"{data['batch_mean']:.1f} requests on average, {data['batch_most']} at most, "
            f"{data['rows_mean']:.1f} rows",
        ),
        (
            "to first token",
            f"{data['to_first_median']:,.0f} cycles median, {data['to_first_99th']:,.0f} 99th",
        ),
        (
            "per further token",
            f"{data['per_token_median']:,.0f} cycles median, {data['per_token_99th']:,.0f} 99th",
        ),
        ("pages in use", f"{data['peak_pages']} of {options['pool']} at most"),
        ("prefix cache", f"{data['hits']} pages hit, {data['evictions']} evicted"),
        ("preemptions", f"{data['preemptions']}"),
        ("drafts accepted", f"{data['accepted']:,} of {data['drafted']:,}"),
        (
            "kernels compiled",
            f"{data['compilations']} for {data['shapes']} shapes of steps, "
            f"at most {data['compilation_bound']:,}",
        ),
    ]


def write_csv(path: Path, served: Served) -> None:
    """Write one row a program; the counters are the RTL's, empty where they are not known."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(CSV_COLUMNS)
        for step, result in zip(served.run.steps, served.results, strict=False):
            rows = sum(len(segment.tokens) for segment in step.segments)
            tokens = sum(map(len, step.tokens.values()))
            counts = (result.counters.get(name) for name in COUNTERS)
            head = (step.name, step.kind, step.tick, len(step.segments), rows, tokens)
            writer.writerow((*head, *counts, step.pages, step.cached, int(result.passed)))
