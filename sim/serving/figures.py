"""What a served run comes to: cycles a token, times, batch, pages, as data and as a table."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from model.serving.summary import summarize
from sim.serving.job import COUNTERS, Served

SHOWN_TEXTS = 4
CSV_COLUMNS = (
    *("program", "kind", "step", "requests", "rows", "tokens"),
    *COUNTERS,
    *("pages", "cached", "passed"),
)


def figures(served: Served) -> dict[str, Any]:
    """Everything for the result file; cycles are the model's, which the RTL's must equal."""
    rtl = {"rtl_cycles": served.cycles, "unlike_alone": served.unlike_alone}
    return {**summarize(served.run), **rtl}


def table(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The figures for a reader, name and value; then what some requests wrote, if it is text."""
    options = data["options"]
    wrote = list(data["texts"].items())[:SHOWN_TEXTS]
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
        *((f"request {rid} wrote", f"{prompt!r} {text!r}") for rid, (prompt, text) in wrote),
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
