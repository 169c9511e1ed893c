"""The memory of a run: one JSON line a verdict, so that it can be interrupted and resumed."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path

from sim.mutate.model.generate import Mutant
from sim.mutate.model.run import Verdict
from sim.mutate.rtl.store import append_line, digest_texts, read_lines


@dataclass(frozen=True)
class Outcome:
    """What became of one mutant.

    Attributes:
        key: see ``key_of``.
        mutant: where and what, for a reader.
        test: that killed it, or did not end.
    """

    key: str
    mutant: str
    verdict: Verdict
    test: str


@dataclass
class Store:
    """Outcomes by key, in memory and on disk."""

    path: Path
    outcomes: dict[str, Outcome] = field(default_factory=dict)

    def load(self) -> None:
        """Read the file; a last line cut off by an interruption is ignored."""
        for line in read_lines(self.path):
            self.outcomes[line["key"]] = Outcome(**line)

    def add(self, outcome: Outcome) -> None:
        """Remember an outcome."""
        self.outcomes[outcome.key] = outcome
        append_line(self.path, asdict(outcome))


def key_of(context: str, mutant: Mutant) -> str:
    """Name of a verdict: what it depends on is the module's text and what the tests import."""
    return digest_texts({"context": context, mutant.module: mutant.text})
