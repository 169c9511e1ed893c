"""What came of a campaign: mutants with their fates, and scores of groups of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from sim.mutate.common.finding import DECIDED, EXPLAINED, KILLED, OPEN, PROVEN, Finding


class Seeded(Protocol):
    """A mutant of either tool: what a report says of it."""

    @property
    def kind(self) -> str:
        """The mutation operator."""

    @property
    def name(self) -> str:
        """Of a named fault, else empty."""

    @property
    def file(self) -> str:
        """Where it is."""

    @property
    def line(self) -> int:
        """Where in the file, from 1."""

    @property
    def description(self) -> str:
        """What is changed."""


@dataclass(frozen=True)
class Row:
    """One mutant of a report; fields as those of the mutant and its finding."""

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

    @classmethod
    def of(cls, number: int, mutant: Seeded, finding: Finding | None) -> Row:
        """Put a mutant and its finding together; one that nothing has decided is open."""
        known = finding or Finding("", OPEN)
        return cls(
            number, mutant.name, mutant.kind, mutant.file, mutant.line, mutant.description,
            known.status if known.status in DECIDED else OPEN,
            known.checks, known.test, known.program, known.message, known.stage, known.seconds,
            known.engine, known.scope, known.assumptions, known.tried,
        )  # fmt: skip


@dataclass(frozen=True)
class Score:
    """Counts of a group; ``proven`` are all equivalent ones, by an engine or for a reason."""

    group: str
    total: int
    killed: int
    proven: int
    open: int

    @classmethod
    def of(cls, group: str, rows: Sequence[Row]) -> Score:
        """Count the fates of rows."""
        counts = Counter(row.status for row in rows)
        return cls(
            group, len(rows), counts[KILLED], counts[PROVEN] + counts[EXPLAINED], counts[OPEN]
        )

    @property
    def score(self) -> float:
        """Percent killed of those not equivalent; 100 when all of them are."""
        alive = self.total - self.proven
        return 100.0 if not alive else 100.0 * self.killed / alive

    def as_json(self) -> dict[str, Any]:
        """Return plain data, with the score."""
        return {**asdict(self), "score": round(self.score, 2)}


def scores_by(rows: Sequence[Row], group: Callable[[Row], str]) -> tuple[Score, ...]:
    """Return the score of each group of rows, in the order in which groups appear."""
    names = dict.fromkeys(group(row) for row in rows)
    return tuple(Score.of(name, [row for row in rows if group(row) == name]) for name in names)


def counted(values: Iterable[str]) -> dict[str, int]:
    """Return how often each value occurs, the most frequent first."""
    return dict(Counter(values).most_common())
