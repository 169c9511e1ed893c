"""What came of the mutants of a module, as numbers, a table and data."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sim.mutate.model.generate import Mutant
from sim.mutate.model.run import Verdict
from sim.mutate.model.targets import Target


@dataclass
class Score:
    """What came of one module.

    Attributes:
        generated: mutants there are.
        reasons: of survivors that are equivalent, by key.
        verdicts: of those that were run, with the mutant.
        stale: reasons that are not true any more.
        seconds: it took this time, generation included.
    """

    target: Target
    generated: int
    reasons: dict[str, str]
    verdicts: list[tuple[Mutant, Verdict]] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def survivors(self) -> list[Mutant]:
        """Mutants that passed all tests, equivalent ones included."""
        return [mutant for mutant, verdict in self.verdicts if verdict == "survived"]

    def unexplained(self) -> list[Mutant]:
        """Survivors without a reason."""
        return [mutant for mutant in self.survivors() if mutant.key not in self.reasons]

    @property
    def ok(self) -> bool:
        """Nothing survives where nothing may, and every reason holds."""
        return (
            not self.stale
            and bool(self.verdicts)
            and not (self.target.strict and self.unexplained())
        )

    @property
    def killed(self) -> int:
        """Mutants that a test noticed, by failing or by not coming to its end."""
        return len(self.verdicts) - len(self.survivors())

    @property
    def score(self) -> float:
        """Share of killed ones among those that can be killed, as far as is known."""
        return self.killed / max(1, self.killed + len(self.unexplained()))

    def to_json(self) -> dict[str, Any]:
        """The module as data."""
        counts = Counter(verdict for _, verdict in self.verdicts)
        return {
            "module": self.target.module,
            "strict": self.target.strict,
            "tests": list(self.target.tests),
            "generated": self.generated,
            "run": len(self.verdicts),
            **{name: counts[name] for name in ("killed", "timeout", "survived")},
            "equivalent": len(self.survivors()) - len(self.unexplained()),
            "score": self.score,
            "seconds": self.seconds,
            "stale_reasons": self.stale,
            "survivors": [
                {
                    "file": mutant.file,
                    "line": mutant.line,
                    "description": mutant.key,
                    "operator": mutant.operator,
                    "reason": self.reasons.get(mutant.key, ""),
                }
                for mutant in self.survivors()
            ],
        }


def show(console: Console, scores: list[Score]) -> None:
    """Print survivors that nothing explains, reasons that do not hold, and the scores."""
    for score in scores:
        for mutant in score.unexplained():
            text = f"survives: {mutant.where}: {mutant.key}"
            console.print(escape(text), soft_wrap=True, highlight=False)
        for text in score.stale:
            console.print(f"[red]{escape(text)}[/]", soft_wrap=True, highlight=False)
    table = Table(box=None, header_style="bold")
    for name in ("module", "mutants", "run", "killed", "equivalent", "open", "score", "s"):
        table.add_column(name, justify="left" if name == "module" else "right")
    for score in scores:
        unexplained = len(score.unexplained())
        explained = len(score.survivors()) - unexplained
        numbers = (score.generated, len(score.verdicts), score.killed, explained, unexplained)
        figures = (*map(str, numbers), f"{score.score:.1%}", f"{score.seconds:.0f}")
        table.add_row(score.target.module, *figures)
    console.print(table)
