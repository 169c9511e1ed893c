"""Section: past regressions, one column each."""

from __future__ import annotations

from typing import Any

from sim.report.page import Block, Cell, Figure, Fold, Section, Table, count, missing, percent
from sim.report.regression import when
from sim.report.sources import Sources

ID, TITLE = "trends", "Trends"
LEAD = "Every regression leaves a row in the history, also one that was interrupted."
STYLES = (
    ("var(--line-1)", "circle", "solid"),
    ("var(--line-2)", "square", "dash"),
    ("var(--line-3)", "diamond", "dot"),
    ("var(--line-4)", "cross", "dashdot"),
)


def section(sources: Sources) -> Section:
    """Return the section of past regressions."""
    runs = sources.history()
    if not runs:
        return missing(ID, TITLE, LEAD, "There is no past regression yet.", "make regress")
    good = sum(run["verdict"] == "passed" for run in runs)
    share = percent(100 * good / len(runs), 0)
    blocks: list[Block] = [jobs_figure(runs), speed_figure(runs)]
    blocks.append(Fold("The latest regressions", [runs_table(runs[::-1][:30])]))
    note = f"of {count(len(runs), 'regression')} passed"
    return Section(ID, TITLE, "info", share, note, LEAD, blocks)


def jobs_figure(runs: list[dict[str, Any]]) -> Figure:
    """Return jobs of every regression by outcome."""
    ticks = [when(run["started"])[5:] for run in runs]
    columns = list(range(len(runs)))
    kinds = (
        ("passed", "var(--vec)", [run["passed"] for run in runs]),
        ("failed", "var(--bad)", [run["failed"] for run in runs]),
        (
            "not run",
            "var(--front)",
            [run["jobs"] - run["passed"] - run["failed"] for run in runs],
        ),
    )
    bars = [
        {
            "type": "bar",
            "name": name,
            "x": columns,
            "y": values,
            "customdata": [run["id"] for run in runs],
            "marker": {"color": colour},
            "hovertemplate": "%{y:,}",
        }
        for name, colour, values in kinds
    ]
    return Figure(
        "trends-jobs",
        "Jobs of each regression",
        "One column a regression, the latest at the right. Any colour but that of passed jobs "
        "deserves a look.",
        bars,
        {
            "barmode": "stack",
            "xaxis": time_axis(ticks),
            "yaxis": {"title": {"text": "jobs"}, "rangemode": "tozero"},
            "hovermode": "x unified",
        },
        height=300,
    )


def speed_figure(runs: list[dict[str, Any]]) -> Figure:
    """Return simulated cycles a second, a line for each suite."""
    ticks = [when(run["started"])[5:] for run in runs]
    lines = []
    for index, suite in enumerate(dict.fromkeys(run["suite"] for run in runs)):
        colour, symbol, dash = STYLES[index % len(STYLES)]
        mine = [(column, run) for column, run in enumerate(runs) if run["suite"] == suite]
        lines.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": suite,
                "x": [column for column, _ in mine],
                "y": [run["cycles"] / max(run["seconds"], 1e-9) for _, run in mine],
                "line": {"color": colour, "dash": dash, "width": 2.5},
                "marker": {"size": 8, "symbol": symbol},
                "hovertemplate": "%{y:,.0f} cycles/s",
            }
        )
    return Figure(
        "trends-speed",
        "Simulated cycles a second of wall-clock time",
        "Within a suite the line should stay level; a step down is a slower testbench, a slower "
        "design, or a loaded machine.",
        lines,
        {
            "xaxis": time_axis(ticks),
            "yaxis": {"title": {"text": "cycles/s"}, "rangemode": "tozero", "tickformat": "~s"},
            "hovermode": "x unified",
            "showlegend": True,
        },
        height=300,
    )


def time_axis(ticks: list[str]) -> dict[str, Any]:
    """Return an axis of columns, with at most ten of them named."""
    every = -(-len(ticks) // 10)
    shown = list(range(len(ticks)))[::-every][::-1]
    return {
        "tickvals": shown,
        "ticktext": [ticks[column] for column in shown],
        "range": [-0.6, max(len(ticks) - 0.4, 5)],
        "tickangle": -35,
    }


def runs_table(runs: list[dict[str, Any]]) -> Table:
    """Return one row a regression."""
    colours = {"passed": "good", "failed": "bad"}
    rows = [
        (
            Cell(run["id"], "mono"),
            when(run["started"]),
            Cell(run["verdict"], colours.get(run["verdict"], "warn")),
            f"{run['passed']:,}/{run['jobs']:,}",
            f"{run['programs']:,}",
            f"{run['cycles']:,}",
            f"{run['seconds']:,.1f}",
            Cell(run["revision"], "mono"),
            Cell(run["design"] or "-", "mono"),
        )
        for run in runs
    ]
    head = ("regression", "started (UTC)", "verdict", "passed", "programs", "cycles", "seconds")
    return Table((*head, "sources", "design"), rows, "<<<>>>><<")
