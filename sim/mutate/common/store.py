"""A campaign's memory: one JSON line a verdict, so that a run can be interrupted and resumed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from sim.mutate.common.outcome import DECIDED, Outcome
from sim.shared import jsonl
from verif.typed import plain


def _nothing(outcome: Outcome) -> str:
    return ""


@dataclass
class Store:
    """Outcomes by key, in memory and on disk.

    Attributes:
        path: of the file.
        basis: names what an outcome depends on beside its key. A stored one holds as long as that
            name is still the same.
        outcomes: what is known.
    """

    path: Path
    basis: Callable[[Outcome], str] = _nothing
    outcomes: dict[str, Outcome] = field(default_factory=dict)

    def load(self, fresh: bool = False) -> None:
        """Read what still holds; ``fresh`` forgets everything instead."""
        if fresh:
            self.path.unlink(missing_ok=True)
        for line in jsonl.read(self.path):
            outcome = msgspec.convert(line, Outcome)
            if line.get("basis") == self.basis(outcome):
                self.outcomes[outcome.key] = outcome

    def add(self, outcome: Outcome) -> None:
        """Remember an outcome; tests survived and proofs tried earlier are kept."""
        before = self.outcomes.get(outcome.key)
        if before is not None:
            survived = dict.fromkeys((*before.survived, *outcome.survived))
            tried = dict.fromkeys((*before.tried, *outcome.tried))
            outcome = replace(outcome, survived=tuple(survived), tried=tuple(tried))
        self.outcomes[outcome.key] = outcome
        jsonl.append(self.path, {**plain(outcome), "basis": self.basis(outcome)})

    def undecided(self, keys: Iterable[str]) -> list[str]:
        """Return the keys that are neither killed nor equivalent, in the given order."""
        return [
            key
            for key in keys
            if key not in self.outcomes or self.outcomes[key].status not in DECIDED
        ]
