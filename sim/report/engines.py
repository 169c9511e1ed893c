"""Section: the same mutants under both engines, the proofs and simulation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import Any

from sim.report.mutation_details import KILLED, Mutant, place, what
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
)
from sim.report.sources import Sources

ID, TITLE = "engines", "Mutants against the proofs"
LEAD = (
    "The mutants of the campaign again, asked of the proofs alone. One on which no property fails "
    "is a hole in what is proved, whatever simulation says of it."
)
REFUTED, HOLE, EQUIVALENT, UNTRIED = "refuted", "hole", "equivalent", "not yet tried"
FATES = {
    "both": "var(--vec)",
    "proofs alone": "var(--mm)",
    "simulation alone": "var(--dma)",
    "neither": "var(--bad)",
    EQUIVALENT: "var(--front)",
}
STYLES = {REFUTED: "good", HOLE: "bad", "open": "warn", EQUIVALENT: "soft", UNTRIED: "soft"}


def section(sources: Sources) -> Section:
    """Return the section of the proofs' campaign."""
    data = sources.proofs_campaign()
    mutants = data.get("mutants") if data else None
    if not data or not mutants:
        command = "make mutate ENGINE=formal"
        return missing(ID, TITLE, LEAD, "The proofs were not asked yet.", command)
    tried = [mutant for mutant in mutants if mutant["status"] != UNTRIED]
    counts = Counter(str(mutant["status"]) for mutant in tried)
    relevant = len(tried) - counts[EQUIVALENT]
    left = sorted(
        (m for m in tried if m["status"] not in (REFUTED, EQUIVALENT)),
        key=lambda m: (m["status"] != HOLE, m["file"], m["line"]),
    )
    state: State = "good" if data["passed"] else "warn"
    untried = len(mutants) - len(tried)
    blocks: list[Block] = [
        Text(
            f"The proofs refute {counts[REFUTED]:,} of {count(relevant, 'mutant')}; "
            f"{count(counts[HOLE], 'hole')}, {counts['open']:,} open, {untried:,} not yet tried.",
            state,
        ),
        verdicts(mutants),
        costs(tried),
        files_figure(tried),
    ]
    if left:
        blocks.append(Fold(count(len(left), "hole or open one", "holes and open ones"),
                           [left_table(left)]))  # fmt: skip
    note = f"of {count(relevant, 'mutant')} refuted, {count(counts[HOLE], 'hole')}"
    problem = ""
    if not data["passed"]:
        problem = f"the proofs leave {count(len(left), 'mutant')}, {untried:,} not yet tried"
    figure, design = f"{counts[REFUTED]:,}", design_text(data)
    details = [every(mutants)]
    return Section(ID, TITLE, state, figure, note, LEAD, blocks, problem, design, details)


def fate(mutant: Mutant) -> str:
    """Return which engine notices a mutant."""
    if mutant["status"] == EQUIVALENT:
        return EQUIVALENT
    by = (mutant["status"] == REFUTED, mutant["simulation"] == KILLED)
    names = {(True, True): "both", (True, False): "proofs alone", (False, True): "simulation alone"}
    return names.get(by, "neither")


def verdicts(mutants: Sequence[Mutant]) -> Table:
    """Return how many mutants have which verdict of the one engine and which of the other."""
    counts = Counter((str(m["status"]), str(m["simulation"])) for m in mutants)
    columns = sorted({name for _, name in counts}, key=lambda name: (name != KILLED, name))
    rows: list[list[str | Cell]] = [
        [Cell(status, style), *(f"{counts[status, simulation]:,}" for simulation in columns)]
        for status, style in STYLES.items()
        if any(counts[status, simulation] for simulation in columns)
    ]
    head = ("proofs", *(f"simulation: {name}" for name in columns))
    return Table(head, rows, "<" + ">" * len(columns), "Verdict against verdict")


def costs(mutants: Sequence[Mutant]) -> Table:
    """Return what a mutant costs either engine, of those that it notices."""
    spent = {
        "proofs, refuted": [m["seconds"] for m in mutants if m["status"] == REFUTED],
        "proofs, hole or open": [
            m["seconds"] for m in mutants if m["status"] not in (REFUTED, EQUIVALENT)
        ],
        "simulation, killed": [
            m["simulation_seconds"] for m in mutants if m["simulation"] == KILLED
        ],
    }
    rows = [
        (
            name,
            f"{len(times):,}",
            f"{median(times):,.2f}",
            f"{max(times):,.1f}",
            f"{sum(times):,.0f}",
        )
        for name, times in spent.items()
        if times
    ]
    head = ("engine", "mutants", "median", "longest", "total")
    caption = "Of the proofs what solvers took, without the writing of models."
    return Table(head, rows, "<>>>>", "Seconds a mutant", caption)


def files_figure(mutants: Sequence[Mutant]) -> Figure:
    """Return by file which engine notices how many."""
    files = sorted({str(mutant["file"]) for mutant in mutants})
    bars: list[dict[str, Any]] = []
    for name, colour in FATES.items():
        mine = Counter(str(m["file"]) for m in mutants if fate(m) == name)
        if mine:
            bars.append(
                {
                    "type": "bar",
                    "orientation": "h",
                    "name": name,
                    "y": files,
                    "x": [mine[file] for file in files],
                    "marker": {"color": colour},
                    "hovertemplate": "%{x:,}",
                }
            )
    return Figure(
        "engines-files",
        "Which engine notices a mutant, by file",
        "What simulation alone notices is missing among the properties. A mutant that simulation "
        "has not judged counts as one that it does not notice.",
        bars,
        {
            "barmode": "stack",
            "yaxis": {"autorange": "reversed"},
            "xaxis": {"title": {"text": "mutants"}},
            "hovermode": "y unified",
        },
        height=120 + 26 * len(files),
    )


def left_table(mutants: Sequence[Mutant]) -> Table:
    """Return the mutants that the proofs do not refute, holes first."""
    rows = [
        (
            Cell(m["status"], STYLES[m["status"]]),
            place(m),
            m["kind"],
            what(m),
            f"{m['simulation']}{m['test'] and ': ' + m['test']}",
            Cell(", ".join(m["failing"]), "soft"),
            Cell(", ".join(m["should"]) or "none yet", "soft"),
        )
        for m in mutants
    ]
    head = ("proofs", "where", "kind", "mutant", "simulation", "cannot be proved", "near it")
    caption = "Near it are the properties of its module, the first to look at when one is missing."
    return Table(head, rows, "<<<<<<<", "Holes and open ones", caption)


def every(mutants: Sequence[Mutant]) -> Section:
    """Return every mutant with both verdicts."""
    rows = [
        (
            place(m),
            m["kind"],
            what(m),
            Cell(m["status"], STYLES[m["status"]]),
            Cell(", ".join(m["properties"]), "mono"),
            f"{m['seconds']:,.2f}",
            m["simulation"],
            m["test"],
            f"{m['simulation_seconds']:,.2f}",
        )
        for m in mutants
    ]
    head = (
        "where",
        "kind",
        "mutant",
        "proofs",
        "property",
        "seconds",
        "simulation",
        "test",
        "seconds",
    )
    table = Fold(count(len(mutants), "mutant"), [Table(head, rows, "<<<<<><<>")])
    lead = "What the proofs say of each, and what simulation says."
    return Section("both", "Every mutant", "info", f"{len(mutants):,}", "mutants", lead, [table])
