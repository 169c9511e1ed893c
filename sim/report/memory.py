"""Section: what paging and windows are worth: memory, sharing, accuracy, batch."""

from __future__ import annotations

from typing import Any

from sim.report.page import Block, Cell, Figure, Section, Table, missing, percent
from sim.report.sources import Sources

ID, TITLE = "memory", "Memory, sharing, accuracy"
LEAD = (
    "Studies of the reference model: what pages save against a contiguous reservation, what "
    "requests with a common prompt share, and what a sliding window costs in accuracy."
)
MIB = 2.0**20


def section(sources: Sources) -> Section:
    """Return the section of the studies."""
    data = sources.result("studies")
    if data is None:
        return missing(ID, TITLE, LEAD, "The studies were not made yet.", "make studies")
    blocks: list[Block] = [
        waste_figure(data["memory"]),
        memory_table(data["memory"]),
        sharing_figure(data["prefix_sharing"]),
        accuracy_figure(data["window_accuracy"]),
        batch_figure(data["serving"]),
    ]
    contiguous, *paged = data["memory"]
    best = max(row["requests"] for row in paged)
    note = f"requests in the memory that holds {contiguous['requests']} contiguous ones"
    return Section(ID, TITLE, "info", f"{best}", note, LEAD, blocks)


def waste_figure(memory: list[dict[str, Any]]) -> Figure:
    """Return reserved but unused rows by scheme, as a share."""
    bars = {
        "type": "bar",
        "x": [row["scheme"] for row in memory],
        "y": [100 * row["wasted"] for row in memory],
        "text": [percent(100 * row["wasted"]) for row in memory],
        "textposition": "outside",
        "cliponaxis": False,
        "marker": {"color": ["var(--bad)"] + ["var(--mm)"] * (len(memory) - 1)},
        "hovertemplate": "%{x}: %{y:.1f}% wasted<extra></extra>",
    }
    return Figure(
        "memory-waste",
        "Reserved rows that hold nothing",
        "A contiguous reservation of the longest length wastes most of the memory; small pages "
        "waste next to nothing, and large ones come back to the old problem.",
        [bars],
        {
            "yaxis": {"title": {"text": "percent of reserved"}, "range": [0, 100]},
            "showlegend": False,
        },
    )


def memory_table(memory: list[dict[str, Any]]) -> Table:
    """Return the figures behind the waste."""
    rows = [
        (
            row["scheme"],
            f"{row['requests']:,}",
            f"{row['used']:,}",
            f"{row['reserved']:,}",
            Cell(percent(100 * row["wasted"]), bar=100 * row["wasted"]),
        )
        for row in memory
    ]
    return Table(("scheme", "requests held", "rows used", "rows reserved", "wasted"), rows, "<>>>>")


def sharing_figure(sharing: list[dict[str, Any]]) -> Figure:
    """Return pages held by eight requests, with and without sharing."""
    names = [f"prompt {row['prompt']}<br>page {row['page_rows']}" for row in sharing]
    kinds = (("copied", "no sharing", "var(--front)"), ("shared", "shared", "var(--vec)"))
    bars = [
        {
            "type": "bar",
            "name": name,
            "x": names,
            "y": [row[key] for row in sharing],
            "text": [str(row[key]) for row in sharing],
            "textposition": "outside",
            "cliponaxis": False,
            "marker": {"color": colour},
            "customdata": [row["copy_on_write"] for row in sharing],
            "hovertemplate": "%{y} pages, %{customdata} copied on write",
        }
        for key, name, colour in kinds
    ]
    return Figure(
        "memory-sharing",
        "Pages of eight requests with a common prompt",
        "Sharing pays more the longer the prompt. A prompt that ends inside a page costs one copy "
        "on write a request.",
        bars,
        {"barmode": "group", "yaxis": {"title": {"text": "pages"}}, "hovermode": "x unified"},
    )


def accuracy_figure(accuracy: list[dict[str, Any]]) -> Figure:
    """Return agreement and error against the window."""
    windows = [str(row["window"]) for row in accuracy]
    shares = [percent(100 * row["agreeing"] / row["tokens"], 0) for row in accuracy]
    lines: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "mode": "lines+markers+text",
            "name": "same token as with full context",
            "x": windows,
            "y": [100 * row["agreeing"] / row["tokens"] for row in accuracy],
            "text": [f"{row['agreeing']:,}/{row['tokens']:,}" for row in accuracy],
            "textposition": "top center",
            "cliponaxis": False,
            "line": {"color": "var(--line-1)", "width": 2.5},
            "marker": {"size": 8},
            "hovertemplate": "%{y:.1f}% agree",
        },
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": "mean error of the logits",
            "x": windows,
            "y": [100 * row["error"] for row in accuracy],
            "line": {"color": "var(--line-2)", "width": 2.5, "dash": "dash"},
            "marker": {"size": 8, "symbol": "square"},
            "hovertemplate": "%{y:.1f}% error",
        },
    ]
    return Figure(
        "memory-accuracy",
        "What a window costs in accuracy",
        f"Random models, their hardest case: a window of {windows[0]} keeps {shares[0]} of the "
        f"tokens, one of {windows[-2]} keeps {shares[-2]}; at {windows[-1]} nothing is cut off.",
        lines,
        {
            "xaxis": {"title": {"text": "window, tokens"}, "type": "category"},
            "yaxis": {
                "title": {"text": "percent"},
                "range": [0, 112],
                "tickvals": [0, 25, 50, 75, 100],
            },
            "hovermode": "x unified",
        },
    )


def batch_figure(serving: list[dict[str, Any]]) -> Figure:
    """Return the largest batch against the context length."""
    contexts = [f"{row['context']:,}" for row in serving]
    kinds = (
        ("full_batch", "full context", "var(--front)"),
        ("window_batch", "window of 4,096", "var(--vec)"),
    )
    bars = [
        {
            "type": "bar",
            "name": name,
            "x": contexts,
            "y": [row[key] for row in serving],
            "text": [str(row[key]) for row in serving],
            "textposition": "outside",
            "cliponaxis": False,
            "marker": {"color": colour},
            "customdata": [row[key.replace("batch", "bytes")] / MIB for row in serving],
            "hovertemplate": "batch of %{y}, %{customdata:,.0f} MiB each",
        }
        for key, name, colour in kinds
    ]
    return Figure(
        "memory-batch",
        "Largest batch against context length",
        "With 80 GB, 7 GB of weights and 256 KiB a token. Without a window the batch shrinks with "
        f"the context; with one it stays at {serving[-1]['window_batch']}, however long the "
        "sequence.",
        bars,
        {
            "barmode": "group",
            "xaxis": {"title": {"text": "context, tokens"}, "type": "category"},
            "yaxis": {"title": {"text": "requests"}},
            "hovermode": "x unified",
        },
    )
