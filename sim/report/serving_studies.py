"""Figures of the studies of serving: cycles a token, admission, sinks, alignment, page size."""

from __future__ import annotations

from typing import Any

from sim.report.page import Block, Figure, Table, percent

Costs = list[dict[str, Any]]


def study_blocks(studies: dict[str, Any]) -> list[Block]:
    """Return a figure a study."""
    costs = studies["serving_cycles"]
    return [
        batch_figure(costs),
        cost_figure(
            "serving-page",
            "Page size",
            "Batch of 8, window of 8. Small pages take more loads, each with its latency; large "
            "ones reserve rows for nothing: "
            + ", ".join(f"{s['rows_reserved']} of {s['page_rows']}" for s in studies["page_sizes"])
            + " rows after 32 steps.",
            [cost for cost in costs if cost["study"] == "page"],
            "page",
            "rows a page",
        ),
        cost_figure(
            "serving-chunk",
            "Prefill chunks",
            "Cycles a token of a long prompt, by the new rows that a step may take: the matrix "
            "unit works on four rows at once, beyond that little is left to gain.",
            [cost for cost in costs if cost["study"] == "chunk"],
            "rows",
            "rows a step",
        ),
        cost_figure(
            "serving-draft",
            "Drafted tokens",
            "One request of a model that repeats itself. A draft that comes true saves a step; "
            "it is verified with the others' rows of the same step, four at once.",
            [cost for cost in costs if cost["study"] == "draft"],
            "draft",
            "drafted tokens",
        ),
        admission_table(studies["admission"]),
        sinks_figure(studies["sink_accuracy"]),
        alignment_table(studies["prefix_sharing"]),
    ]


def batch_figure(costs: Costs) -> Figure:
    """Return cycles a token over the batch, with the bound that the matrix unit sets."""
    series = [
        (f"window {window or 'none'}", "batch", window, colour)
        for window, colour in ((None, "var(--line-4)"), (8, "var(--line-1)"), (4, "var(--line-3)"))
    ]
    series.append(("window 8, weights loaded in each step", "loaded", 8, "var(--line-2)"))
    data = []
    for name, study, window, colour in series:
        mine = [cost for cost in costs if cost["study"] == study and cost["window"] == window]
        batches = [str(cost["batch"]) for cost in mine]
        data.append(_line(name, batches, [cost["cycles"] for cost in mine], colour))
        if study == "batch":
            bound = [cost["matrix"] for cost in mine]
            data.append(_line(f"matrix unit, {name}", batches, bound, colour, dash="dot"))
    return Figure(
        "serving-batch",
        "Cycles a token over the batch",
        "Dotted: the cycles of the matrix unit alone, which no order of the rest goes below. A "
        "batch shares the weights and fills the four rows of a tile.",
        data,
        {
            "xaxis": {"title": {"text": "requests in a step"}, "type": "category"},
            "yaxis": {"title": {"text": "cycles a token"}, "rangemode": "tozero"},
            "hovermode": "x unified",
        },
        height=420,
    )


def cost_figure(id_: str, title: str, caption: str, costs: Costs, key: str, axis: str) -> Figure:
    """Return cycles a token over one option, split into the matrix unit's and the rest."""
    names = [str(cost[key]) for cost in costs]
    rest = [cost["cycles"] - cost["matrix"] for cost in costs]
    parts = (
        ("matrix unit", [cost["matrix"] for cost in costs], "var(--mm)"),
        ("all else", rest, "var(--front)"),
    )
    bars = [
        {
            "type": "bar",
            "name": name,
            "x": names,
            "y": values,
            "marker": {"color": colour},
            "hovertemplate": "%{y:,.0f} cycles",
        }
        for name, values, colour in parts
    ]
    return Figure(
        id_,
        f"{title}: cycles a token",
        caption,
        bars,
        {
            "barmode": "stack",
            "xaxis": {"title": {"text": axis}, "type": "category"},
            "yaxis": {"title": {"text": "cycles a token"}},
            "hovermode": "x unified",
        },
    )


def admission_table(rows: list[dict[str, Any]]) -> Table:
    """Return the four rules of admission."""
    return Table(
        ("pages promised", "ticks", "most at once", "on average", "preempted", "rows again"),
        [
            (
                row["rule"],
                f"{row['ticks']:,}",
                f"{row['most']:,}",
                f"{row['mean']:.1f}",
                f"{row['preemptions']:,}",
                f"{row['rows_lost']:,}",
            )
            for row in rows
        ],
        "<>>>>>",
        title="Admission: whom to let in",
        caption="Who promises little serves many at once and computes much again; who promises the "
        "longest keeps the pool empty.",
    )


def sinks_figure(accuracy: list[dict[str, Any]]) -> Figure:
    """Return agreement with full attention by sinks."""
    colours = ("var(--line-2)", "var(--line-1)", "var(--line-3)")
    windows = list(dict.fromkeys(row["window"] for row in accuracy))
    data = []
    for window, colour in zip(windows, colours, strict=False):
        mine = [row for row in accuracy if row["window"] == window]
        shares = [100 * row["agreeing"] / row["tokens"] for row in mine]
        data.append(_line(f"window {window}", [str(r["sinks"]) for r in mine], shares, colour))
    eight = {row["sinks"]: row for row in accuracy if row["window"] == 8}
    agreeing = ", ".join(
        f"{row['agreeing']:,} with {sinks}" for sinks, row in eight.items() if sinks != 1
    )
    return Figure(
        "serving-sinks",
        "Sinks: rows that stay visible",
        "Share of tokens chosen as with full attention, by how many first rows never leave the "
        f"window. A window of 8: {agreeing} sinks, of {accuracy[0]['tokens']:,}.",
        data,
        {
            "xaxis": {"title": {"text": "sinks"}, "type": "category"},
            "yaxis": {"title": {"text": "percent"}},
            "hovermode": "x unified",
        },
    )


def alignment_table(sharing: list[dict[str, Any]]) -> Table:
    """Return what filling a shared prompt up to a page costs and saves."""
    return Table(
        ("prompt / page", "pages, shared", "copies on write", "pages, filled up", "share"),
        [
            (
                f"{row['prompt']} / {row['page_rows']}",
                f"{row['shared']}",
                f"{row['copy_on_write']}",
                f"{row['padded']}",
                percent(100 * row["padded"] / row["shared"]),
            )
            for row in sharing
        ],
        "<>>>>",
        title="Alignment: a shared prompt filled up to the end of a page",
        caption="Nothing is copied then. Where the rest is small, pages are saved as well.",
    )


def _line(
    name: str, x: list[str], y: list[float], colour: str, dash: str = "solid"
) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": name,
        "x": x,
        "y": y,
        "line": {"color": colour, "width": 2, "dash": dash},
        "marker": {"size": 6},
        "hovertemplate": "%{y:,.0f}",
    }
