"""Section: cycles of the decode steps, window by window, by the unit that took them."""

from __future__ import annotations

from typing import Any

from sim.report.page import (
    UNIT_COLOURS,
    Block,
    Cell,
    Figure,
    Section,
    Table,
    Text,
    count,
    design_text,
    missing,
    percent,
)
from sim.report.sources import Sources

ID, TITLE = "decode", "Decode"
LEAD = (
    "The main job: a tiny language model decodes over a paged key-value cache, with and without a "
    "sliding window. Every word of memory and all counters of every step were compared."
)
LINES = ("var(--line-1)", "var(--line-2)", "var(--line-3)", "var(--line-4)")
DASHES = ("solid", "dash", "dot", "dashdot")
SYMBOLS = ("circle", "square", "diamond", "cross")


def decodes(sources: Sources) -> list[dict[str, Any]]:
    """Return the decode results there are, that with most windows first."""
    found = [sources.result(f"decode-{sim}") for sim in ("icarus", "verilator")]
    return sorted((d for d in found if d), key=lambda d: -sum_steps(d))


def sum_steps(data: dict[str, Any]) -> int:
    """Return how many steps a result has over all windows."""
    return sum(len(window["steps"]) for window in data["windows"].values())


def window_title(name: str) -> str:
    """Return a window's name for people."""
    return "no window" if name == "none" else f"window {name}"


def section(sources: Sources) -> Section:
    """Return the section of the decode job."""
    results = decodes(sources)
    if not results:
        return missing(ID, TITLE, LEAD, "The decode job was not run yet.", "make")
    data = results[0]
    failed = [d["simulator"] for d in results if not d["passed"]]
    blocks: list[Block] = [verdict_line(result) for result in results]
    windows = {name: w for name, w in data["windows"].items() if w["steps"]}
    if windows:
        blocks.append(cycles_figure(windows))
        blocks.append(units_figure(windows))
        blocks.append(window_table(windows))
    compared = sum(result["comparisons"] for result in results)
    differ = sum(result["mismatches"] for result in results)
    problem = f"the decode job failed in {' and '.join(failed)}" if failed else ""
    sims = " and ".join(result["simulator"] for result in results)
    return Section(
        ID,
        TITLE,
        "bad" if failed else "good",
        f"{differ:,}",
        f"{'mismatch' if differ == 1 else 'mismatches'} in {compared:,} comparisons, {sims}",
        LEAD,
        blocks,
        problem,
        design_text(data),
    )


def verdict_line(data: dict[str, Any]) -> Text:
    """Return what ran in a simulator, and how it ended."""
    cycles = sum(window["total_cycles"] for window in data["windows"].values())
    return Text(
        f"{data['simulator']} {data['simulator_version']}: "
        f"{'passed' if data['passed'] else 'FAILED'}, {count(sum_steps(data), 'step')}, "
        f"{cycles:,} cycles, {data['comparisons']:,} comparisons, {data['mismatches']:,} "
        f"mismatches in {data['seconds']:.1f} s; {data['model']} model, seed {data['seed']}, start "
        f"token {data['start']}, pages of {data['page']} rows, latency {data['latency']}.",
        "good" if data["passed"] else "bad",
    )


def cycles_figure(windows: dict[str, Any]) -> Figure:
    """Return cycles by step, a line for each window."""
    lines = []
    longest = max(len(window["steps"]) for window in windows.values())
    for index, (name, window) in enumerate(windows.items()):
        totals = [step["total"] for step in window["steps"]]
        lines.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": window_title(name),
                "x": list(range(1, len(totals) + 1)),
                "y": totals,
                "line": {"color": LINES[index % 4], "dash": DASHES[index % 4], "width": 2.5},
                "marker": {"size": 6, "symbol": SYMBOLS[index % 4]},
                "hovertemplate": "%{y:,} cycles",
            }
        )
    return Figure(
        "decode-cycles",
        "Cycles of each decode step",
        "Without a window every new token costs more than the one before. With a window of W the "
        "line turns flat at step W: the context, and with it the work, no longer grows.",
        lines,
        {
            "xaxis": {"title": {"text": "step"}, "range": [0.4, longest + 0.6]},
            "yaxis": {"title": {"text": "cycles"}, "tickformat": ","},
            "hovermode": "x unified",
        },
    )


def units_figure(windows: dict[str, Any]) -> Figure:
    """Return cycles by step and unit, stacked, one panel a window."""
    traces: list[dict[str, Any]] = []
    layout: dict[str, Any] = {
        "barmode": "stack",
        "bargap": 0.12,
        "grid": {"rows": len(windows), "columns": 1, "pattern": "independent", "ygap": 0.28},
        "annotations": [],
        "hovermode": "x unified",
    }
    highest = max(step["total"] or 0 for w in windows.values() for step in w["steps"])
    longest = max(len(w["steps"]) for w in windows.values())
    for panel, (name, window) in enumerate(windows.items(), start=1):
        axis = "" if panel == 1 else str(panel)
        steps = window["steps"]
        for unit, colour in UNIT_COLOURS.items():
            traces.append(
                {
                    "type": "bar",
                    "name": unit,
                    "legendgroup": unit,
                    "showlegend": panel == 1,
                    "x": list(range(1, len(steps) + 1)),
                    "y": [busy(step, unit) for step in steps],
                    "xaxis": f"x{axis}",
                    "yaxis": f"y{axis}",
                    "marker": {"color": colour},
                    "hovertemplate": "%{y:,}",
                }
            )
        title = {"text": "step"} if panel == len(windows) else {"text": ""}
        layout[f"xaxis{axis}"] = {"title": title, "range": [0.4, longest + 0.6]}
        layout[f"yaxis{axis}"] = {"range": [0, highest * 1.05], "tickformat": ",", "nticks": 4}
        layout["annotations"].append(
            {
                "text": f"<b>{window_title(name)}</b>",
                "xref": f"x{axis} domain",
                "yref": f"y{axis} domain",
                "x": 1,
                "y": 1.02,
                "xanchor": "right",
                "yanchor": "bottom",
                "showarrow": False,
            }
        )
    return Figure(
        "decode-units",
        "Which unit the cycles go to",
        "Matrix unit, DMA and vector units, and two cycles an instruction for fetch and issue. "
        "A window saves rows of the cache that the DMA no longer loads and the matrix unit no "
        "longer multiplies; the work that does not depend on the context stays.",
        traces,
        layout,
        height=130 + 190 * len(windows),
    )


def busy(step: dict[str, Any], unit: str) -> int:
    """Return the cycles of a unit in a step; what no counter counts is fetch and issue."""
    if unit in step:
        return int(step[unit] or 0)
    return int((step["total"] or 0) - sum(step[name] or 0 for name in ("mm", "dma", "vec")))


def window_table(windows: dict[str, Any]) -> Table:
    """Return one row a window: what it cost, and on what."""
    rows: list[list[str | Cell]] = []
    reference = next(iter(windows.values()))["total_cycles"]
    for name, window in windows.items():
        total = sum(step["total"] or 0 for step in window["steps"])
        shares = [
            percent(100 * sum(busy(step, unit) for step in window["steps"]) / max(1, total))
            for unit in UNIT_COLOURS
        ]
        rows.append(
            [
                window_title(name),
                Cell("passed", "good") if window["passed"] else Cell("FAILED", "bad"),
                str(len(window["steps"])),
                str(window["programs"]),
                f"{window['total_cycles']:,}",
                f"{100 * window['total_cycles'] / max(1, reference) - 100:+.1f}%",
                *shares,
                str(window["peak_pages"]),
            ]
        )
    head = (
        "window",
        "verdict",
        "steps",
        "programs",
        "cycles",
        "difference",
        *UNIT_COLOURS,
        "peak pages",
    )
    return Table(head, rows, "<<" + ">" * (len(head) - 2), title="Windows side by side")
