"""Section: properties of the design that are proved for every input and every state."""

from __future__ import annotations

from typing import Any

from sim.report.page import Block, Cell, Section, State, Table, count, design_text, missing
from sim.report.sources import Sources

ID, TITLE = "formal", "Formal proofs"
LEAD = (
    "Properties of single modules, proved rather than simulated. Each is also tried on a mutant "
    "of its module, where it must fail: a property that cannot fail proves nothing."
)
PROVED, NOTICED = "proved", "fails"
OPEN = ("UNKNOWN", "TIMEOUT", "ERROR")  # neither proved nor refuted


def section(sources: Sources) -> Section:
    """Return the section of formal proofs."""
    data = sources.result("formal")
    if data is None or not data["properties"]:
        return missing(ID, TITLE, LEAD, "No proof was run yet.", "make formal")
    rows = data["properties"]
    proved = [row for row in rows if row["verdict"] == PROVED]
    refuted = [row for row in rows if row["verdict"] not in (PROVED, *OPEN)]
    blind = [row for row in proved if not row["mutant"].startswith(NOTICED)]
    state: State = "bad" if refuted else "good" if data["passed"] else "warn"
    if refuted:
        problem = f"{count(len(refuted), 'formal property', 'formal properties')} failed"
    elif len(proved) < len(rows):
        problem = f"{count(len(rows) - len(proved), 'formal property', 'formal properties')} open"
    elif blind:
        problem = f"{count(len(blind), 'formal property', 'formal properties')} missed a mutant"
    else:
        problem = "" if data["passed"] else "the formal run did not pass"
    modules = len({row["module"] for row in rows})
    note = f"properties of {count(modules, 'module')} proved"
    blocks: list[Block] = [properties_table(rows)]
    figure, design = f"{len(proved)}/{len(rows)}", design_text(data)
    return Section(ID, TITLE, state, figure, note, LEAD, blocks, problem, design)


def properties_table(rows: list[dict[str, Any]]) -> Table:
    """Return one row a property, those that are not proved first."""
    lines = []
    for row in sorted(rows, key=lambda row: row["verdict"] == PROVED):
        verdict = {PROVED: "good", **dict.fromkeys(OPEN, "warn")}.get(row["verdict"], "bad")
        noticed = row["mutant"].startswith(NOTICED)
        lines.append(
            (
                Cell(row["module"], "mono"),
                Cell(row["property"], "mono"),
                Cell(row["verdict"], verdict),
                str(row["bound"]),
                row["engine"],
                f"{row['seconds']:,.1f}",
                Cell(row["mutant"], "soft" if noticed else "warn"),
            )
        )
    head = ("module", "property", "verdict", "for", "engine", "seconds", "on its mutant")
    return Table(head, lines, "<<<<<><")
