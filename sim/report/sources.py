"""What the report reads: result files as JSON, the latest regression, the history."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sim.engine.design import Design
from sim.shared.files import read_json
from sim.shared.outcome import Outcome
from sim.shared.paths import BUILD

MAX_HISTORY = 200


class UnfinishedError(Exception):
    """A run that ended without a verdict; the message says which, and why."""


@dataclass(frozen=True)
class Sources:
    """Where the results lie. Reading returns None for what is not there or torn.

    Attributes:
        results: folder of the tools' result files.
        regressions: folder of the regressions and their history.
        mutation: folder of the mutation campaign.
        others: folders of results about other designs.
        design: what the report is about, as it is now.
    """

    results: Path
    regressions: Path
    mutation: Path
    others: Sequence[Path] = ()
    design: Design | None = None

    @classmethod
    def of(cls, design: Design) -> Sources:
        """What was found out about a design; the project's own knows of all others."""
        others = sorted(BUILD.glob("designs/*")) if design.is_own else ()
        results, regressions, mutation = map(design.output, ("results", "regress", "mutate"))
        return cls(results, regressions, mutation, others, design)

    def result(self, name: str) -> dict[str, Any] | None:
        """A result file by its name without suffix.

        Raises:
            UnfinishedError: the last run ended without a verdict.
        """
        return finished(self.results / f"{name}.json", name)

    def traces(self) -> list[tuple[str, dict[str, Any]]]:
        """Traces of programs with their file names, the newest first."""
        files = sorted(
            self.results.glob("*.trace.json"), key=lambda path: path.stat().st_mtime, reverse=True
        )
        found = ((path.name, read_json(path)) for path in files)
        return [(name, data) for name, data in found if data and "traceEvents" in data]

    def campaign(self) -> dict[str, Any] | None:
        """Report of the mutation campaign.

        Raises:
            UnfinishedError: the last one ended without a verdict.
        """
        return finished(self.mutation / "report.json", "mutate")

    def proofs_campaign(self) -> dict[str, Any] | None:
        """Report of the campaign that asks the proofs.

        Raises:
            UnfinishedError: the last one ended without a verdict.
        """
        return finished(self.mutation / "formal.json", "mutate ENGINE=formal")

    def verified(self, campaign: dict[str, Any]) -> list[dict[str, Any]]:
        """Verdicts of a campaign that were checked, as long as the design is the same."""
        data = read_json(self.mutation / "verify.json") or {}
        same = data.get("design") == campaign.get("design")
        return data.get("verdicts", []) if same else []

    def regression(self) -> dict[str, Any] | None:
        """Summary of the latest regression that has ended; one may be running."""
        files = self.regressions.glob("*/summary.json")
        for path in sorted(files, key=lambda path: path.stat().st_mtime, reverse=True):
            if data := read_json(path):
                return data
        return None

    def history(self) -> list[dict[str, Any]]:
        """Past regressions in the order of their start, the latest `MAX_HISTORY` of them."""
        path = self.regressions / "history.sqlite"
        if not path.exists():
            return []
        try:
            with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5)) as database:
                database.row_factory = sqlite3.Row
                query = "SELECT * FROM regression ORDER BY started DESC LIMIT ?"
                rows = database.execute(query, (MAX_HISTORY,)).fetchall()
        except sqlite3.Error:
            return []
        return [dict(row) for row in reversed(rows)]


def finished(path: Path, name: str) -> dict[str, Any] | None:
    """Read a result file; see :meth:`Sources.result`.

    Raises:
        UnfinishedError: the last run ended without a verdict.
    """
    data = read_json(path)
    if data and "outcome" in data and not Outcome(data["outcome"]).finished:
        raise UnfinishedError(f"{name} ended without a verdict: {data.get('error')}")
    return data
