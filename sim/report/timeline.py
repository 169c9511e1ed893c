"""Section: which unit works when, in programs that were traced."""

from __future__ import annotations

from typing import Any

from sim.programs.trace import FRONT
from sim.report.page import (
    UNIT_COLOURS,
    Block,
    Figure,
    Fold,
    Section,
    Table,
    count,
    design_text,
    missing,
    percent,
)
from sim.report.sources import Sources

ID, TITLE = "timeline", "Instruction timeline"
LEAD = (
    "Instructions never overlap: at any cycle either one unit works or the sequencer fetches and "
    "issues the next instruction. The same files open in Perfetto."
)
UNITS = {"cyc_mm": "mm", "cyc_dma": "dma", "cyc_vec": "vec", "front": "fetch+issue"}
MAX_TRACES = 4
MAX_EVENTS = 3000  # more bars than that make a browser slow; Perfetto takes them all


def section(sources: Sources) -> Section:
    """Return the section of traced programs."""
    traces = sources.traces()
    if not traces:
        command = "make trace PROGRAM=examples/attention.asm EXT=examples/attention.hex"
        return missing(ID, TITLE, LEAD, "No program was traced yet.", command)
    # Programs that somebody asked for come before the decode job's own.
    traces.sort(key=lambda item: item[0].startswith("decode-"))
    blocks: list[Block] = []
    for number, (name, data) in enumerate(traces[:MAX_TRACES]):
        events = [event for event in data["traceEvents"] if event["ph"] == "X"]
        figure = timeline(f"timeline-{number}", name, data["otherData"], events[:MAX_EVENTS])
        table = slowest(events)
        if number:
            title = f"{data['otherData']['program']} ({data['otherData']['simulator']})"
            blocks.append(Fold(title, [figure, table]))
        else:
            blocks += [figure, table]
    total = traces[0][1]["otherData"]["counters"].get("total", 0)
    note = f"{traces[0][1]['otherData']['program']}, {count(len(traces), 'trace')}"
    design = design_text(traces[0][1]["otherData"])
    return Section(ID, TITLE, "info", f"{total:,} cycles", note, LEAD, blocks, design=design)


def timeline(id_: str, file: str, about: dict[str, Any], events: list[dict[str, Any]]) -> Figure:
    """Return bars over cycles, a row for the front and one for each unit that worked."""
    order = ["fetch+issue", "dma", "mm", "vec"]
    traces: list[dict[str, Any]] = []
    for unit in order:
        mine = [event for event in events if UNITS[event["cat"]] == unit]
        if not mine:
            continue
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": unit,
                "y": [row_of(event) for event in mine],
                "x": [event["dur"] for event in mine],
                "base": [event["ts"] for event in mine],
                "customdata": [
                    [event["args"]["pc"], event["args"]["instruction"], event["ts"] + event["dur"]]
                    for event in mine
                ],
                "hovertemplate": "pc %{customdata[0]}: %{customdata[1]}<br>"
                "cycles %{base:,} to %{customdata[2]:,} (%{x:,})<extra></extra>",
                "marker": {"color": UNIT_COLOURS[unit], "line": {"width": 0}},
            }
        )
    rows = list(dict.fromkeys(row for trace in traces for row in trace["y"]))
    cut = f"Only the first {MAX_EVENTS:,} bars. " if len(events) == MAX_EVENTS else ""
    end = max(event["ts"] + event["dur"] for event in events)
    return Figure(
        id_,
        f"{about['program']} on {about['simulator']}, latency {about['latency']}",
        "Cycles from left to right. Drag to zoom into some, double-click to see all again; the "
        f"strip below moves the view. {cut}Trace file: build/results/{file}",
        traces,
        {
            "barmode": "overlay",
            "bargap": 0.25,
            "hovermode": "closest",
            "xaxis": {
                "range": [0, end],
                "tickformat": ",",
                "rangeslider": {"visible": True, "thickness": 0.12, "range": [0, end]},
            },
            "yaxis": {
                "categoryorder": "array",
                "categoryarray": rows[::-1],
                "fixedrange": True,
            },
            "dragmode": "zoom",
        },
        height=170 + 34 * len(rows),
    )


def row_of(event: dict[str, Any]) -> str:
    """Return the row of an event: the front, or its operation."""
    return FRONT if event["cat"] == "front" else str(event["name"])


def slowest(events: list[dict[str, Any]]) -> Table:
    """Return cycles by operation."""
    sums: dict[str, list[int]] = {}
    for event in events:
        entry = sums.setdefault(row_of(event), [0, 0])
        entry[0] += 1
        entry[1] += event["dur"]
    total = sum(cycles for _, cycles in sums.values())
    rows = [
        (
            name,
            f"{number:,}",
            f"{cycles:,}",
            f"{cycles / number:,.1f}",
            percent(100 * cycles / total),
        )
        for name, (number, cycles) in sorted(sums.items(), key=lambda item: -item[1][1])
    ]
    head = ("operation", "times", "cycles", "cycles each", "share")
    return Table(head, rows, "<>>>>", title="Where the cycles go")
