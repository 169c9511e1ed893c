"""Section: which design each result is about, and whether all are about the same."""

from __future__ import annotations

from sim.report.page import Block, Cell, Section, Table, count, design_text, missing
from sim.report.sources import Sources
from sim.shared.files import read_json
from sim.shared.paths import shown

ID, TITLE = "designs", "Designs"
LEAD = (
    "The design that each result is about: its folder, a hash over everything that was read, and "
    "its revision. Verdicts about different designs say nothing together."
)


def section(sources: Sources) -> Section:
    """Return the section of the designs."""
    results = {path.stem: read_json(path) for path in sorted(sources.results.glob("*.json"))}
    results |= {name: data["otherData"] for name, data in sources.traces()}
    results |= {
        "mutation": read_json(sources.mutation / "report.json"),
        "mutation, proofs": read_json(sources.mutation / "formal.json"),
        "regression": sources.regression(),
    }
    stamps = {name: data["design"] for name, data in results.items() if data and design_text(data)}
    blocks: list[Block] = []
    if sources.others:
        rows = [(Cell(shown(folder), "mono"),) for folder in sources.others]
        text = "Results of other designs, each with its own report: make report RTL=folder"
        blocks.append(Table(("folder",), rows, "<", text))
    if not stamps:
        return missing(ID, TITLE, LEAD, "No result says which design it is about.", "make", blocks)
    if sources.design:
        stamps["as it is now"] = sources.design.to_json()
    hashes = {stamp["hash"] for stamp in stamps.values()}
    differ = len(hashes) > 1
    lines = [
        (
            Cell(name, "mono"),
            Cell(stamp["path"], "mono"),
            Cell(stamp["hash"], "mono"),
            f"{stamp['revision'][:10] or '-'}{' and changes' * stamp['dirty']}",
        )
        for name, stamp in stamps.items()
    ]
    problem = f"the results are about {len(hashes)} different designs" if differ else ""
    blocks.insert(0, Table(("result", "design", "hash", "revision"), lines, "<<<<"))
    note = "over all results"
    number = count(len(hashes), "design")
    return Section(ID, TITLE, "warn" if differ else "good", number, note, LEAD, blocks, problem)
