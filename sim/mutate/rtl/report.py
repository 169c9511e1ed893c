"""The campaign's result as data, as JSON and as one HTML page without outside resources."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader

from sim.mutate.rtl.mutant import Mutant
from sim.mutate.rtl.plan import Plan
from sim.mutate.rtl.store import KILLED, OPEN, PROVEN, Outcome, Store

TEMPLATE = "report.html.j2"


@dataclass(frozen=True)
class Row:
    """One mutant of the report."""

    number: int
    name: str
    kind: str
    file: str
    line: int
    description: str
    status: str
    checks: tuple[str, ...]
    test: str
    program: str
    message: str
    stage: str
    seconds: float
    engine: str
    scope: str
    assumptions: tuple[str, ...]
    tried: tuple[str, ...]


@dataclass(frozen=True)
class Score:
    """Counts of a group. ``score``: percent killed of those not proven equivalent."""

    group: str
    total: int
    killed: int
    proven: int
    open: int

    @property
    def score(self) -> float:
        """Percent; 100 when all of them are equivalent."""
        alive = self.total - self.proven
        return 100.0 if not alive else 100.0 * self.killed / alive


@dataclass(frozen=True)
class Summary:
    """Everything the reports show."""

    rows: tuple[Row, ...]
    by_kind: tuple[Score, ...]
    by_file: tuple[Score, ...]
    total: Score
    checks: Mapping[str, int]
    first_checks: Mapping[str, int]
    tests: Mapping[str, int]
    times: Mapping[str, float]
    seconds: float
    judging_seconds: float

    @property
    def undecided(self) -> list[Row]:
        """Mutants neither killed nor proven equivalent."""
        return [row for row in self.rows if row.status == OPEN]

    @property
    def proofs(self) -> list[Row]:
        """Mutants proven equivalent."""
        return [row for row in self.rows if row.status == PROVEN]

    def lines(self) -> list[str]:
        """Return the result for a terminal."""
        total = self.total
        lines = [
            f"{total.total} mutants: {total.killed} killed, {total.proven} proven equivalent, "
            f"{total.open} open; score {total.score:.1f}%",
            "killed by (first check): "
            + ", ".join(f"{name} {count}" for name, count in self.first_checks.items()),
            "time: "
            + ", ".join(f"{name} {seconds:.0f} s" for name, seconds in self.times.items())
            + f"; together {self.seconds:.0f} s",
        ]
        lines += [f"OPEN {row.file}:{row.line} {row.description}" for row in self.undecided]
        return lines

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        scores = {
            name: [{**asdict(score), "score": round(score.score, 2)} for score in group]
            for name, group in (("by_kind", self.by_kind), ("by_file", self.by_file))
        }
        return {
            "total": {**asdict(self.total), "score": round(self.total.score, 2)},
            **scores,
            "checks": dict(self.checks),
            "first_checks": dict(self.first_checks),
            "tests": dict(self.tests),
            "times": dict(self.times),
            "seconds": round(self.seconds, 1),
            "judging_seconds": round(self.judging_seconds, 1),
            "mutants": [asdict(row) for row in self.rows],
        }


def summarize(plan: Plan, store: Store, times: Mapping[str, float], seconds: float) -> Summary:
    """Put plan and verdicts together.

    Args:
        times: seconds of the stages of this run.
        seconds: of this run; a resumed one has done only a part.
    """
    rows = tuple(
        _row(number, mutant, store.outcomes.get(plan.keys[number]))
        for number, mutant in plan.mutants.items()
    )
    killed = [row for row in rows if row.status == KILLED]
    return Summary(
        rows,
        _scores(rows, lambda row: row.kind),
        _scores(rows, lambda row: row.file),
        _score("all", rows),
        _counts(check for row in killed for check in row.checks),
        _counts(row.checks[0] for row in killed if row.checks),
        _counts(row.test for row in killed if row.test),
        times,
        seconds,
        sum(row.seconds for row in rows),
    )


def _row(number: int, mutant: Mutant, outcome: Outcome | None) -> Row:
    known = outcome or Outcome("", OPEN)
    status = known.status if known.status in (KILLED, PROVEN) else OPEN
    return Row(
        number, mutant.name, mutant.kind, mutant.file, mutant.line, mutant.description, status,
        known.checks, known.test, known.program, known.message, known.stage, known.seconds,
        known.engine, known.scope, known.assumptions, known.tried,
    )  # fmt: skip


def _score(group: str, rows: tuple[Row, ...] | list[Row]) -> Score:
    counts = Counter(row.status for row in rows)
    return Score(group, len(rows), counts[KILLED], counts[PROVEN], counts[OPEN])


def _scores(rows: tuple[Row, ...], group: Callable[[Row], str]) -> tuple[Score, ...]:
    names = dict.fromkeys(group(row) for row in rows)
    return tuple(_score(name, [row for row in rows if group(row) == name]) for name in names)


def _counts(values: Any) -> dict[str, int]:
    return dict(Counter(values).most_common())


def write_reports(summary: Summary, folder: Path) -> list[Path]:
    """Write ``report.json`` and ``report.html``; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    data, page = folder / "report.json", folder / "report.html"
    data.write_text(json.dumps(summary.as_json(), indent=1) + "\n", encoding="utf-8")
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, trim_blocks=True
    )
    page.write_text(environment.get_template(TEMPLATE).render(s=summary), encoding="utf-8")
    return [data, page]
