"""Section: which design each result is about, and whether all are about the same."""

from __future__ import annotations

from typing import Any

from sim.report.page import Cell, Section, Table, count, missing
from sim.report.sources import Sources
from sim.shared.files import read_json

ID, TITLE = "designs", "Designs"
LEAD = (
    "The design that each result is about: its folder, a hash over everything that was read, and "
    "its revision. Verdicts about different designs say nothing together."
)


def revision(stamp: dict[str, Any]) -> str:
    """Return the revision, short, and whether the design was changed since."""
    return f"{stamp.get('revision') or '-'}"[:10] + (" and changes" if stamp.get("dirty") else "")


def section(sources: Sources) -> Section:
    """Return the section of the designs."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(sources.results.glob("*.json")):
        stamp = (read_json(path) or {}).get("design")
        if isinstance(stamp, dict) and "hash" in stamp:
            found[path.stem] = stamp
    if not found:
        return missing(ID, TITLE, LEAD, "No result says which design it is about.", "make")
    hashes = {stamp["hash"] for stamp in found.values()}
    differ = len(hashes) > 1
    rows = [
        (
            Cell(name, "mono"),
            Cell(str(stamp.get("path")), "mono"),
            Cell(stamp["hash"], "mono"),
            revision(stamp),
        )
        for name, stamp in found.items()
    ]
    problem = f"the results are about {len(hashes)} different designs" if differ else ""
    table = Table(("result", "design", "hash", "revision"), rows, "<<<<")
    note = f"in {count(len(found), 'result')}"
    number = count(len(hashes), "design")
    return Section(ID, TITLE, "warn" if differ else "good", number, note, LEAD, [table], problem)
