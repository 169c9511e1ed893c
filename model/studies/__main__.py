"""``python -m model.studies``: run all studies, print them as tables, and write them as JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median_high
from typing import Any

from model.serving.summary import summarize
from model.studies import paging as study
from model.studies import serving
from model.studies.admission import PAGE_ROWS, RULES, admission

DEFAULT_JSON = Path("build/results/studies.json")


def run_studies() -> dict[str, Any]:
    """All results as plain data, ready for JSON."""
    lengths = study.request_lengths()
    admissions = [study.contiguous_admission(lengths)]
    admissions += [study.paged_admission(lengths, rows) for rows in study.PAGE_SIZES]
    sharing = [
        study.prefix_sharing(prompt, rows)
        for prompt in study.PROMPTS
        for rows in study.SHARED_PAGE_SIZES
    ]
    return {
        "event_log": [asdict(entry) for entry in study.event_log()],
        "fork_log": [asdict(event) for event in study.fork_log()],
        "lengths": {
            "count": len(lengths),
            "mean": sum(lengths) / len(lengths),
            "median": median_high(lengths),
            "max": max(lengths),
        },
        "memory": [asdict(a) | {"wasted": a.wasted} for a in admissions],
        "prefix_sharing": [asdict(item) for item in sharing],
        "window_accuracy": [asdict(item) for item in study.window_accuracy()],
        "serving": [asdict(study.serving(context)) for context in study.SERVED_CONTEXTS],
        "sink_accuracy": [asdict(item) for item in study.sink_accuracy()],
        "page_sizes": [asdict(study.page_size(rows)) for rows in study.RESERVING_PAGE_SIZES],
        "admission": [asdict(admission(rule, lengths)) for rule in RULES],
        "serving_cycles": [asdict(one.cost()) for one in serving.cost_studies()],
        "serving_trace": summarize(serving.trace_study().run),
    }


Table = Callable[[str, Sequence[str], Sequence[Sequence[object]]], None]


def show(results: dict[str, Any]) -> None:
    """Print the results as tables."""
    from rich.console import Console
    from rich.table import Table as View

    console = Console(highlight=False)

    def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        view = View(title=title, title_justify="left", title_style="bold")
        for column in columns:
            view.add_column(column, justify="right", overflow="fold")
        for row in rows:
            view.add_row(*(f"{x:,}" if isinstance(x, int) else str(x) for x in row))
        console.print(view)
        console.print()

    show_page_table(results, table)
    show_memory(results, table)
    show_windows(results, table)
    show_serving(results, table)


def show_page_table(results: dict[str, Any], table: Table) -> None:
    """Print what happens to the pages of one request, and of two that share some."""
    table(
        "Page table of one request: pages of 4 rows, window 6, pool of 8",
        ("step", "gathered rows", "table", "dropped", "free, next first"),
        [
            (e["step"], _span(e["gathered"]), e["table"], e["dropped"], e["free"])
            for e in results["event_log"]
        ],
    )
    table(
        "Fork: shared pages, copy-on-write, release",
        ("after", "parent", "fork", "owners of pages", "free, next first"),
        [
            (
                e["moment"],
                e["tables"]["parent"],
                e["tables"].get("fork", "-"),
                ", ".join(f"{page}:{count}" for page, count in e["owners"].items()),
                e["free"],
            )
            for e in results["fork_log"]
        ],
    )


def show_memory(results: dict[str, Any], table: Table) -> None:
    """Print how many requests a memory holds in each scheme."""
    lengths = results["lengths"]
    table(
        f"Memory: a pool of {study.POOL_ROWS:,} rows, {lengths['count']} requests (mean "
        f"{lengths['mean']:.0f}, median {lengths['median']:.0f}, max {lengths['max']:,} rows) "
        "admitted in order",
        ("scheme", "requests held", "rows used", "rows reserved", "wasted"),
        [
            (m["scheme"], m["requests"], m["used"], m["reserved"], f"{m['wasted']:.1%}")
            for m in results["memory"]
        ],
    )
    table(
        f"Prefix sharing: {study.SHARING_REQUESTS} requests, one prompt, "
        f"{study.ROWS_PER_REQUEST} rows each",
        (
            *("prompt rows", "page rows", "pages, copied prompt", "pages, shared"),
            *("copies on write", "pages, prompt filled up to a page"),
        ),
        [
            tuple(
                s[key]
                for key in ("prompt", "page_rows", "copied", "shared", "copy_on_write", "padded")
            )
            for s in results["prefix_sharing"]
        ],
    )
    table(
        f"Serving: {study.DEVICE_BYTES / 1e9:.0f} GB, weights {study.WEIGHT_BYTES / 1e9:.0f} GB, "
        f"{study.BYTES_PER_TOKEN // 1024} KiB of cache a token",
        ("context", "largest batch", f"with a window of {study.SERVED_WINDOW:,}"),
        [(s["context"], s["full_batch"], s["window_batch"]) for s in results["serving"]],
    )


def show_windows(results: dict[str, Any], table: Table) -> None:
    """Print what a window costs in accuracy, and one whose first rows stay visible."""
    table(
        "Window against full attention: random models, float, teacher-forced",
        ("window", "argmax agrees", "of", "mean relative error of the logits"),
        [
            (w["window"], w["agreeing"], w["tokens"], f"{w['error']:.1%}")
            for w in results["window_accuracy"]
        ],
    )
    table(
        "Sinks: the same for windows whose first rows stay visible",
        ("window", "sinks", "argmax agrees", "of", "mean relative error of the logits"),
        [
            (w["window"], w["sinks"], w["agreeing"], w["tokens"], f"{w['error']:.1%}")
            for w in results["sink_accuracy"]
        ],
    )


def show_serving(results: dict[str, Any], table: Table) -> None:
    """Print what serving many requests comes to."""
    table(
        f"Page size: one request after {study.RESERVING_STEPS} steps, window "
        f"{study.RESERVING_WINDOW}",
        ("page rows", "pages", "rows reserved"),
        [tuple(size.values()) for size in results["page_sizes"]],
    )
    table(
        f"Admission: {results['lengths']['count']} requests waiting, {study.POOL_ROWS:,} rows in "
        f"pages of {PAGE_ROWS}",
        ("pages promised", "ticks", "most at once", "mean", "preemptions", "rows computed again"),
        [
            (a["rule"], a["ticks"], a["most"], f"{a['mean']:.1f}", a["preemptions"], a["rows_lost"])
            for a in results["admission"]
        ],
    )
    table(
        f"Serving: cycles a token ({serving.ALONE:,} for one decoded alone with a window of 8)",
        ("study", "batch", "window", "page", "weights", "rows", "draft", "cycles", "matrix unit"),
        [
            (
                *(c["study"], c["batch"], c["window"] or "none", c["page"]),
                *("resident" if c["resident"] else "loaded", c["rows"], c["draft"]),
                *(f"{c['cycles']:,.0f}", f"{c['matrix']:,.0f}"),
            )
            for c in results["serving_cycles"]
        ],
    )
    trace = results["serving_trace"]
    table(
        f"Serving a trace: {len(trace['requests'])} requests, {trace['generated']} tokens",
        ("what", "median", "99th"),
        [
            ("cycles to the first token", trace["to_first_median"], trace["to_first_99th"]),
            (
                "cycles per further token",
                *(f"{trace[f'per_token_{which}']:,.0f}" for which in ("median", "99th")),
            ),
        ],
    )


def _span(rows: Sequence[int]) -> str:
    return f"{rows[0]}..{rows[-1]}" if rows else "-"


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line entry point."""
    parser = argparse.ArgumentParser(prog="python -m model.studies", description=__doc__)
    parser.add_argument("--json", type=Path, default=DEFAULT_JSON, help="where to write results")
    path: Path = parser.parse_args(arguments).json
    results = run_studies()
    show(results)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1) + "\n")
    print(f"results written to {path}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
