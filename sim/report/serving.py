"""Section: many requests served at once, on the RTL, and what the studies say of their cost."""

from __future__ import annotations

from typing import Any

from sim.report.page import (
    Block,
    Figure,
    Missing,
    Section,
    State,
    Table,
    Text,
    design_text,
    missing,
)
from sim.report.serving_studies import study_blocks
from sim.report.sources import Sources

ID, TITLE = "serving", "Serving"
LEAD = (
    "Many requests share one chip: each step is one program over new rows of all that run, on "
    "pages that stay in the chip's memory. Every program and every request is compared."
)
COMMAND = "make serve"
STUDIES_COMMAND = "make serve STUDIES=1"
STUDIES = ("serve-studies-verilator", "serve-studies-icarus")
RUNS = ("serve-verilator", "serve-icarus", "serve-compare")


def section(sources: Sources) -> Section:
    """Return the section of serving."""
    runs = [found for name in RUNS if (found := sources.result(name))]
    studies = sources.result("studies")
    blocks: list[Block] = []
    trace = None
    bad = [f"{' and '.join(run['simulators'])}" for run in runs if not run["passed"]]
    if runs:
        trace = runs[0]
        blocks.append(_verdicts(runs))
    else:
        blocks.append(Missing("No requests were served on the RTL yet.", COMMAND))
        trace = studies.get("serving_trace") if studies else None
    if trace:
        blocks += trace_figures(trace)
    if studies:
        blocks += study_blocks(studies)
        played = [found for name in STUDIES if (found := sources.result(name))]
        bad += [
            f"studies on {' and '.join(run['simulators'])}" for run in played if not run["passed"]
        ]
        blocks.append(_studies_played(played))
    if trace is None:
        return missing(ID, TITLE, LEAD, "Neither serving nor studies have run yet.", COMMAND)
    state: State = "bad" if bad else "info" if not runs else "good"
    problem = f"serving failed on {', '.join(bad)}" if bad else ""
    if bad:
        blocks.insert(0, Text(f"{problem}.", "bad"))
    note = f"cycles a token; matrix unit alone {trace['matrix_cycles_a_token']:,.0f}"
    design = design_text(runs[0]) if runs else ""
    figure = f"{trace['cycles_a_token']:,.0f}"
    return Section(ID, TITLE, state, figure, note, LEAD, blocks, problem, design)


def _studies_played(played: list[dict[str, Any]]) -> Block:
    """Say whether the cycles of the studies are the RTL's."""
    if not all(run["passed"] for run in played):
        return Text("The programs of these studies failed on the RTL.", "bad")
    if not played:
        return Missing(
            "The programs of these studies have not run on the RTL yet.", STUDIES_COMMAND
        )
    cycles = sum(one["rtl_cycles"] for one in played[0]["studies"])
    return Text(
        f"The programs of these studies took the same {cycles:,} cycles on the RTL.", "good"
    )


def _verdicts(runs: list[dict[str, Any]]) -> Table:
    rows = [
        (
            " and ".join(run["simulators"]),
            "pass" if run["passed"] else "fail",
            f"{len(run['requests'])}",
            f"{run['generated']:,}",
            f"{run['programs']:,}",
            f"{run['cycles_a_token']:,.0f}",
            f"{run['comparisons']:,}",
        )
        for run in runs
    ]
    head = ("on", "verdict", "requests", "tokens", "programs", "cycles a token", "comparisons")
    return Table(head, rows, "<<>>>>>", title="Requests served on the RTL")


def trace_figures(trace: dict[str, Any]) -> list[Block]:
    """Return requests over time, and what was in use meanwhile."""
    return [requests_figure(trace["request_times"]), use_figure(trace)]


def requests_figure(times: list[dict[str, Any]]) -> Figure:
    """Return a bar for each stretch of each request's life."""
    colours = {
        "waiting": "var(--front)",
        "prefill": "var(--dma)",
        "decode": "var(--mm)",
        "preempted": "var(--bad)",
    }
    stretches: dict[str, list[tuple[str, int, int]]] = {kind: [] for kind in colours}
    for row in times:
        for kind, begin, end in life(row):
            stretches[kind].append((row["id"], begin, end))
    bars = [
        {
            "type": "bar",
            "orientation": "h",
            "name": kind,
            "y": [rid for rid, _, _ in mine],
            "x": [end - begin for _, begin, end in mine],
            "base": [begin for _, begin, _ in mine],
            "customdata": [end for _, _, end in mine],
            "marker": {"color": colours[kind], "line": {"width": 0}},
            "hovertemplate": f"%{{y}} {kind}<br>cycles %{{base:,}} to %{{customdata:,}}"
            "<extra></extra>",
        }
        for kind, mine in stretches.items()
        if mine
    ]
    return Figure(
        "serving-requests",
        "Requests over time",
        "A request waits until it is admitted, computes its prompt, then decodes. One whose pages "
        "are taken for older requests waits again and computes its rows anew.",
        bars,
        {
            "barmode": "overlay",
            "bargap": 0.25,
            "hovermode": "closest",
            "xaxis": {"title": {"text": "cycles"}, "tickformat": ","},
            "yaxis": {
                "categoryorder": "array",
                "categoryarray": [row["id"] for row in times][::-1],
            },
        },
        height=150 + 18 * len(times),
    )


def life(row: dict[str, Any]) -> list[tuple[str, int, int]]:
    """Return the stretches of a request's life: what it does, from and to which cycle."""
    found = []
    now = row["arrived"]
    kind = "waiting"
    for admitted, lost in zip(row["admitted"], [*row["preempted"], None], strict=False):
        found.append((kind, now, admitted))
        end = row["ended"] if lost is None else lost
        first = row["first_token"]
        if first > admitted:
            found.append(("prefill", admitted, min(first, end)))
        if end > first:
            found.append(("decode", max(first, admitted), end))
        now, kind = end, "preempted"
    return [(kind, begin, end) for kind, begin, end in found if end > begin]


def use_figure(trace: dict[str, Any]) -> Figure:
    """Return requests, pages and hits over time."""
    ticks = trace["timeline"]
    lines = (
        ("pages in use", "pages", "var(--line-1)"),
        ("pages cached", "cached", "var(--line-4)"),
        ("pages hit so far", "hits", "var(--line-3)"),
        ("requests running", "running", "var(--line-2)"),
    )
    data = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": name,
            "x": [tick["cycle"] for tick in ticks],
            "y": [tick[key] for tick in ticks],
            "line": {"color": colour, "width": 2, "shape": "vh"},
            "marker": {"size": 4},
        }
        for name, key, colour in lines
    ]
    preempted = trace["preemptions"]
    return Figure(
        "serving-use",
        "Pages and batch over time",
        f"A pool of {trace['options']['pool']} pages. {trace['hits']} pages were hit in the prefix "
        f"cache, {trace['evictions']} evicted from it; {preempted} requests were preempted.",
        data,
        {
            "xaxis": {"title": {"text": "cycles"}, "tickformat": ","},
            "yaxis": {"title": {"text": "pages, requests"}, "rangemode": "tozero"},
            "hovermode": "x unified",
        },
    )
