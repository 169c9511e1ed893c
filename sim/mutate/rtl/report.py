"""The campaign's result as data and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sim.mutate.common.finding import KILLED, OPEN, PROVEN
from sim.mutate.common.store import Store
from sim.mutate.common.summary import Row, Score, counted, scores_by
from sim.mutate.rtl.plan import Plan
from sim.shared.junit import Case
from sim.shared.outcome import Outcome


@dataclass(frozen=True)
class Summary:
    """Everything the reports show."""

    design: Mapping[str, Any]
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
            name: [score.as_json() for score in group]
            for name, group in (("by_kind", self.by_kind), ("by_file", self.by_file))
        }
        return {
            "design": self.design,
            "total": self.total.as_json(),
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
        Row.of(number, mutant, store.findings.get(plan.keys[number]))
        for number, mutant in plan.mutants.items()
    )
    killed = [row for row in rows if row.status == KILLED]
    return Summary(
        plan.design.to_json(),
        rows,
        scores_by(rows, lambda row: row.kind),
        scores_by(rows, lambda row: row.file),
        Score.of("all", rows),
        counted(check for row in killed for check in row.checks),
        counted(row.checks[0] for row in killed if row.checks),
        counted(row.test for row in killed if row.test),
        times,
        seconds,
        sum(row.seconds for row in rows),
    )


def cases(rows: Sequence[Row]) -> list[Case]:
    """Return a test case for each file of the design: failed when a mutant of it is open."""
    found = []
    for file in dict.fromkeys(row.file for row in rows):
        left = [row for row in rows if row.file == file and row.status == OPEN]
        detail = "\n".join(f"open: {file}:{row.line} {row.description}" for row in left)
        found.append(Case(file, Outcome.of(not left), detail))
    return found
