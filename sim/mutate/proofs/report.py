"""The result of the proofs' campaign, beside what simulation says of the same mutants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sim.mutate.common.finding import KILLED, PROVEN, SURVIVED, Finding
from sim.mutate.common.store import Store
from sim.mutate.common.summary import counted
from sim.mutate.proofs.scope import Scopes
from sim.mutate.rtl.plan import Plan
from sim.shared.junit import Case
from sim.shared.outcome import Outcome

REFUTED, HOLE, UNDECIDED, EQUIVALENT, UNTRIED = (
    "refuted", "hole", "open", "equivalent", "not yet tried",
)  # fmt: skip
STATUSES = (REFUTED, HOLE, UNDECIDED, EQUIVALENT, UNTRIED)
NOT_KNOWN = "not yet judged"


@dataclass(frozen=True)
class FormalRow:
    """One mutant under both engines.

    Attributes:
        status: refuted; hole (all proofs go through with it, and simulation does not say that it is
            equivalent); open (no counterexample, no proof); equivalent (by simulation's campaign);
            not yet tried.
        properties, proof: that refute it.
        seconds: of all questions.
        passing: proofs that still go through.
        failing: properties and helpers of others, which cannot be proved any more.
        should: properties of its module that might see it.
        simulation, test, simulation_seconds: the other engine's verdict, killing test and cost.
    """

    number: int
    kind: str
    file: str
    line: int
    description: str
    status: str
    properties: tuple[str, ...]
    proof: str
    seconds: float
    passing: tuple[str, ...]
    failing: tuple[str, ...]
    should: tuple[str, ...]
    simulation: str
    test: str
    simulation_seconds: float

    @property
    def seen(self) -> str:
        """What notices it without a run that shows it, else what is near it."""
        if self.failing:
            return f"cannot be proved any more: {', '.join(self.failing)}"
        return f"to be seen by {', '.join(self.should) or 'none yet'}"


@dataclass(frozen=True)
class FormalSummary:
    """Everything that the reports show."""

    design: Mapping[str, Any]
    rows: tuple[FormalRow, ...]
    times: Mapping[str, float]

    @property
    def left(self) -> list[FormalRow]:
        """Neither refuted nor equivalent."""
        return [row for row in self.rows if row.status not in (REFUTED, EQUIVALENT)]

    def lines(self) -> list[str]:
        """Return the result for a terminal."""
        counts = Counter(row.status for row in self.rows)
        parts = ", ".join(f"{counts[name]:,} {name}" for name in STATUSES if counts[name])
        refuted = [row for row in self.rows if row.status == REFUTED]
        names = counted(name for row in refuted for name in row.properties[:1])
        spent = sum(row.seconds for row in refuted)
        lines = [
            f"{len(self.rows):,} mutants: {parts}",
            "refuted by: " + ", ".join(f"{name} {count}" for name, count in names.items())
            + f"; {spent:.0f} s",
        ]  # fmt: skip
        lines += [
            f"{row.status.upper()} {row.file}:{row.line} {row.description}"
            f" (simulation: {row.simulation}; {row.seen})"
            for row in self.left
            if row.status != UNTRIED
        ]
        return lines

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "design": self.design,
            "total": _counts(self.rows),
            "by_kind": _by(self.rows, lambda row: row.kind),
            "by_file": _by(self.rows, lambda row: row.file),
            "properties": counted(
                name for row in self.rows if row.status == REFUTED for name in row.properties[:1]
            ),
            "times": dict(self.times),
            "mutants": [asdict(row) for row in self.rows],
        }


def _counts(rows: Sequence[FormalRow]) -> dict[str, int]:
    counts = Counter(row.status for row in rows)
    return {"mutants": len(rows), **{name: counts[name] for name in STATUSES}}


def _by(rows: Sequence[FormalRow], group: Callable[[FormalRow], str]) -> list[dict[str, int | str]]:
    names = dict.fromkeys(group(row) for row in rows)
    return [{"group": n, **_counts([row for row in rows if group(row) == n])} for n in names]


def summarize(
    plan: Plan, scopes: Scopes, store: Store, simulated: Store, times: Mapping[str, float]
) -> FormalSummary:
    """Put the mutants and both engines' verdicts together."""
    rows = []
    for number, mutant in plan.mutants.items():
        key = plan.keys[number]
        known, other = store.findings.get(key), simulated.findings.get(key)
        proofs = scopes.of(mutant.file)
        own = [proof for proof in proofs if f"{proof.module}.sv" == mutant.file]
        near = own or [proof for proof in proofs if proofs and proof.module == proofs[0].module]
        status = status_of(known, other)
        refuted = known is not None and status == REFUTED
        rows.append(
            FormalRow(
                number, mutant.kind, mutant.file, mutant.line, mutant.description, status,
                known.checks if known and refuted else (),
                known.engine if known and refuted else "",
                known.seconds if known else 0.0,
                known.survived if known else (),
                known.checks if known and not refuted else (),
                () if refuted else tuple(
                    dict.fromkeys(claim.name for proof in near for claim in proof.properties)
                ),
                other.status if other else NOT_KNOWN,
                other.test if other else "",
                other.seconds if other else 0.0,
            )
        )  # fmt: skip
    return FormalSummary(plan.design.to_json(), tuple(rows), times)


def status_of(known: Finding | None, simulated: Finding | None) -> str:
    """Return the fate of a mutant under the proofs."""
    if known is not None and known.status == KILLED:
        return REFUTED
    if simulated is not None and simulated.status == PROVEN:
        return EQUIVALENT
    if known is None:
        return UNTRIED
    return HOLE if known.status == SURVIVED else UNDECIDED


def cases(rows: Sequence[FormalRow]) -> list[Case]:
    """Return a test case for each file of the design: failed when a mutant of it is left."""
    found = []
    for file in dict.fromkeys(row.file for row in rows):
        left = [r for r in rows if r.file == file and r.status not in (REFUTED, EQUIVALENT)]
        detail = "\n".join(f"{r.status}: {file}:{r.line} {r.description}" for r in left)
        found.append(Case(file, Outcome.of(not left), detail))
    return found
