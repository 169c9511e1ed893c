"""Section: realistic faults of the design, what finds each, and how soon."""

from __future__ import annotations

from collections import Counter
from typing import Any

from sim.report.page import (
    Block,
    Cell,
    Figure,
    Section,
    State,
    Table,
    Text,
    count,
    design_text,
    missing,
)
from sim.report.sources import Sources

ID, TITLE = "faults", "Realistic faults"
LEAD = (
    "Faults of several lines, as designers make them, planted one at a time. Directed programs and "
    "random ones are played until a check fails, which has to name the right instruction."
)
WAYS = {"directed": "var(--mm)", "random": "var(--dma)"}


def section(sources: Sources) -> Section:
    """Return the section of realistic faults."""
    data = sources.result("faults")
    rows = data["table"] if data else []
    if not data or not rows:
        return missing(ID, TITLE, LEAD, "No realistic fault was planted yet.", "make faults")
    missed = [row["name"] for row in rows if not any(row[way]["programs"] for way in WAYS)]
    wrong = [row["name"] for row in rows if any(row[way]["right"] == "no" for way in WAYS)]
    state: State = "good" if data["passed"] else "warn"
    blocks: list[Block] = [
        Text(
            f"Random programs, {data['limit']:,} at most with seed {data['seed']}, find "
            f"{data['random']:,} of {count(len(rows), 'fault')}, the median after "
            f"{data['median'] or 0:g} programs, the worst after {data['worst'] or 0:,}; directed "
            f"programs find {data['directed']:,}.",
            state,
        )
    ]
    if missed:
        blocks.append(Text(f"Not found: {', '.join(missed)}.", "warn"))
    if wrong:
        blocks.append(Text(f"Another instruction was named: {', '.join(wrong)}.", "warn"))
    blocks += [found_figure(rows), checks_table(rows), faults_table(rows)]
    problem = f"{count(len(missed), 'realistic fault')} not found" if missed else ""
    if wrong and not missed:
        problem = f"another instruction named for {count(len(wrong), 'realistic fault')}"
    elif not data["passed"] and not problem:
        problem = "the run of realistic faults did not pass"
    figure = f"{len(rows) - len(missed)}/{len(rows)}"
    note = f"found, {count(len(wrong), 'wrong instruction')} named"
    return Section(ID, TITLE, state, figure, note, LEAD, blocks, problem, design_text(data))


def found_figure(rows: list[dict[str, Any]]) -> Figure:
    """Return how many faults are found after so many programs, a line for each way."""
    lines = []
    for way, colour in WAYS.items():
        found = sorted((row[way]["programs"], row["name"]) for row in rows if row[way]["programs"])
        lines.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": f"{way} programs",
                "x": [programs for programs, _ in found],
                "y": [100 * number / len(rows) for number in range(1, len(found) + 1)],
                "text": [name for _, name in found],
                "line": {"color": colour, "shape": "hv", "width": 2},
                "marker": {"size": 6, "symbol": "circle" if way == "random" else "square"},
                "hovertemplate": "%{text}: program %{x:,}",
            }
        )
    return Figure(
        "faults-found",
        "Faults found after so many programs",
        "A mark a fault, at the first program that failed. What a line lacks to 100 percent was "
        "not found that way.",
        lines,
        {
            "xaxis": {"type": "log", "title": {"text": "programs"}, "dtick": 1},
            "yaxis": {"title": {"text": "percent of faults"}, "range": [0, 103]},
            "showlegend": True,
        },
    )


def checks_table(rows: list[dict[str, Any]]) -> Table:
    """Return how many faults each check found first."""
    found = {way: Counter(row[way]["check"] for row in rows) for way in WAYS}
    names = sorted(set().union(*found.values()) - {""}, key=lambda name: -found["random"][name])
    lines = [(name, *(f"{found[way][name]:,}" for way in WAYS)) for name in names]
    head = ("first check to fail", *(f"faults, {way} programs" for way in WAYS))
    return Table(head, lines, "<>>", title="What found them")


def faults_table(rows: list[dict[str, Any]]) -> Table:
    """Return one row a fault: the program that found it, the check, and what was named."""
    lines = []
    for row in rows:
        cells = [Cell(row["name"], "mono"), row["about"], row["kind"], row["operation"]]
        for found in (row[way] for way in WAYS):
            if not found["check"]:
                cells.append(Cell("not found", "soft"))
                continue
            named = f", {found['named']}" if found["named"] else ""
            style = {"yes": "good", "no": "bad"}.get(found["right"], "")
            cells.append(Cell(f"{found['programs']:,}: {found['check']}{named}", style))
        lines.append(cells)
    head = ("fault", "what it does", "kind", "operation", *WAYS)
    caption = "Number of the program that failed first, the check, and the operation that it named."
    return Table(head, lines, "<<<<<<", "Fault by fault", caption)
