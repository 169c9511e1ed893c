"""``python -m model.studies``: run all studies, print them as tables, and write them as JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median_high
from typing import Any

from model.studies import paging as study

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
    }


def show(results: dict[str, Any]) -> None:
    """Print the results as tables."""
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)

    def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        view = Table(title=title, title_justify="left", title_style="bold")
        for column in columns:
            view.add_column(column, justify="right", overflow="fold")
        for row in rows:
            view.add_row(*(f"{x:,}" if isinstance(x, int) else str(x) for x in row))
        console.print(view)
        console.print()

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
        ("prompt rows", "page rows", "pages, copied prompt", "pages, shared", "copies on write"),
        [
            (s["prompt"], s["page_rows"], s["copied"], s["shared"], s["copy_on_write"])
            for s in results["prefix_sharing"]
        ],
    )
    table(
        "Window against full attention: random models, float, teacher-forced",
        ("window", "argmax agrees", "of", "mean relative error of the logits"),
        [
            (w["window"], w["agreeing"], w["tokens"], f"{w['error']:.1%}")
            for w in results["window_accuracy"]
        ],
    )
    table(
        f"Serving: {study.DEVICE_BYTES / 1e9:.0f} GB, weights {study.WEIGHT_BYTES / 1e9:.0f} GB, "
        f"{study.BYTES_PER_TOKEN // 1024} KiB of cache a token",
        ("context", "largest batch", f"with a window of {study.SERVED_WINDOW:,}"),
        [(s["context"], s["full_batch"], s["window_batch"]) for s in results["serving"]],
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
