"""Section: which faults planted in the design were found, and by what."""

from __future__ import annotations

from collections import Counter
from typing import Any

from sim.report.mutation_details import KILLED, PROVEN, Mutant, checks_table, details, place, what
from sim.report.page import (
    Block,
    Cell,
    Figure,
    Fold,
    Section,
    State,
    Table,
    Text,
    count,
    design_text,
    missing,
    percent,
)
from sim.report.sources import Sources

ID, TITLE = "mutation", "Mutation score"
LEAD = (
    "Small faults are planted in the design, one at a time; a good testbench finds each. What "
    "survives is either proven to change nothing, or open: it shows where a check is missing."
)
COLOURS = {
    "killed": "var(--vec)",
    "proven": "var(--mm)",
    "open": "var(--bad)",
}


def section(sources: Sources) -> Section:
    """Return the section of the mutation campaign."""
    data = sources.campaign()
    mutants = data.get("mutants") if data else None
    if not data or not isinstance(mutants, list) or not mutants:
        return missing(ID, TITLE, LEAD, "No mutation campaign has ended yet.", "make mutate")
    statuses = Counter(str(mutant["status"]) for mutant in mutants)
    # A fault that changes nothing cannot be found: it counts for neither side.
    relevant = len(mutants) - statuses[PROVEN]
    score = 100 * statuses[KILLED] / max(1, relevant)
    left = [m for m in mutants if m["status"] not in (KILLED, PROVEN)]
    state: State = "warn" if left else "good"
    blocks: list[Block] = [
        Text(
            f"{statuses[KILLED]:,} of {count(relevant, 'mutant')} that change the design were "
            f"killed; {count(statuses[PROVEN], 'other')} proven to change nothing.",
            state,
        ),
        files_figure(mutants),
    ]
    if data["first_checks"]:
        blocks.append(checks_table(data))
    if verdicts := sources.verified(data):
        blocks.append(verification(verdicts))
    note = f"of {count(relevant, 'mutant')} killed, {count(len(left), 'alive', 'alive')}"
    problem = f"{count(len(left), 'mutant')} alive" if left else ""
    figure, design = percent(score), design_text(data)
    parts = details(data)
    return Section(ID, TITLE, state, figure, note, LEAD, blocks, problem, design, parts)


def files_figure(mutants: list[Mutant]) -> Figure:
    """Return mutants by file and status."""
    files = sorted({str(mutant.get("file", "design")) for mutant in mutants})
    bars = []
    for status in dict.fromkeys([*COLOURS, *(str(m["status"]) for m in mutants)]):
        mine = Counter(str(m.get("file", "design")) for m in mutants if m["status"] == status)
        if mine:
            bars.append(
                {
                    "type": "bar",
                    "orientation": "h",
                    "name": status,
                    "y": files,
                    "x": [mine[file] for file in files],
                    "marker": {"color": COLOURS.get(status, "var(--front)")},
                    "hovertemplate": "%{x:,}",
                }
            )
    return Figure(
        "mutation-files",
        "Mutants by file and fate",
        "Open ones, neither killed nor proven, are where to look next; proven ones compute the "
        "same as the design.",
        bars,
        {
            "barmode": "stack",
            "yaxis": {"autorange": "reversed"},
            "xaxis": {"title": {"text": "mutants"}},
            "hovermode": "y unified",
        },
        height=120 + 26 * len(files),
    )


def verification(rows: list[dict[str, Any]]) -> Fold:
    """Return what mutants that were built by themselves say of the verdicts."""
    lines = [
        (
            place(row),
            what(row),
            row["status"],
            Cell(row["alone"], "soft" if row["agrees"] else "bad"),
            Cell(row["message"], "soft"),
        )
        for row in sorted(rows, key=lambda row: row["agrees"])
    ]
    agree = sum(row["agrees"] for row in rows)
    text = f"Verdicts that agree with the mutant built by itself: {agree:,} of {len(rows):,}"
    table = Table(("where", "mutant", "verdict", "by itself", "message"), lines, "<<<<<")
    return Fold(text, [table], open=agree < len(rows))
