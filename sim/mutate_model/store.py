"""The memory of a run: one JSON line a verdict, so that it can be interrupted and resumed."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from sim.mutate.store import digest_texts
from sim.mutate_model.generate import Mutant
from sim.mutate_model.run import Verdict


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
        if not self.path.exists():
            return
        for text in self.path.read_text(encoding="utf-8").splitlines():
            try:
                outcome = Outcome(**json.loads(text))
            except json.JSONDecodeError:
                continue
            self.outcomes[outcome.key] = outcome

    def add(self, outcome: Outcome) -> None:
        """Remember an outcome."""
        self.outcomes[outcome.key] = outcome
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(outcome)) + "\n")


def key_of(context: str, mutant: Mutant) -> str:
    """Name of a verdict: what it depends on is the module's text and what the tests import."""
    return digest_texts({"context": context, mutant.module: mutant.text})
