"""What came of the mutants of the model's modules, as data and as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sim.mutate.common.finding import EXPLAINED, KILLED, OPEN
from sim.mutate.common.summary import Row, Score
from sim.mutate.model.targets import Target


@dataclass
class ModuleReport:
    """What came of one module.

    Attributes:
        target: the module and its tests.
        generated: mutants there are.
        rows: those that were run, in the order of their lines.
        stale: reasons that are not true any more.
        seconds: it took this time, generation included.
    """

    target: Target
    generated: int
    rows: list[Row] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def score(self) -> Score:
        """Counts of the fates."""
        return Score.of(self.target.module, self.rows)

    @property
    def unexplained(self) -> list[Row]:
        """Survivors without a reason."""
        return [row for row in self.rows if row.status == OPEN]

    @property
    def ok(self) -> bool:
        """Nothing survives where nothing may, and every reason holds."""
        excused = not self.target.strict or not self.unexplained
        return not self.stale and bool(self.rows) and excused

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        checks = Counter(check for row in self.rows for check in row.checks)
        return {
            "module": self.target.module,
            "strict": self.target.strict,
            "tests": list(self.target.tests),
            "generated": self.generated,
            "run": len(self.rows),
            **{status: sum(row.status == status for row in self.rows)
               for status in (KILLED, EXPLAINED, OPEN)},
            "checks": dict(checks),
            "score": self.score.score,
            "seconds": self.seconds,
            "stale_reasons": self.stale,
            "survivors": [
                {
                    "file": row.file,
                    "line": row.line,
                    "description": row.description,
                    "operator": row.kind,
                    "reason": "".join(row.assumptions),
                }
                for row in self.rows
                if row.status != KILLED
            ],
        }  # fmt: skip


def show(console: Console, modules: Sequence[ModuleReport]) -> None:
    """Print survivors that nothing explains, reasons that do not hold, and the scores."""
    for module in modules:
        for row in module.unexplained:
            text = f"survives: {row.file}:{row.line}: {row.description}"
            console.print(escape(text), soft_wrap=True, highlight=False)
        for text in module.stale:
            console.print(f"[red]{escape(text)}[/]", soft_wrap=True, highlight=False)
    table = Table(box=None, header_style="bold")
    for name in ("module", "mutants", "run", "killed", "equivalent", "open", "score", "s"):
        table.add_column(name, justify="left" if name == "module" else "right")
    for module in modules:
        score = module.score
        numbers = (module.generated, score.total, score.killed, score.proven, score.open)
        figures = (*map(str, numbers), f"{score.score:.1f}%", f"{module.seconds:.0f}")
        table.add_row(score.group, *figures)
    console.print(table)
