"""Which test to try next: what killed mutants of the same file at least cost comes first."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping


class AdaptiveOrder:
    """Orders tests by what they have killed so far.

    A test's worth for a file is the number of mutants of that file it killed, each weighing more
    than any killed elsewhere, over the time the test takes.

    Args:
        costs: test name to its cost in any unit (say, cycles); slow tests always come last.
        slow: names of the slow tests.
    """

    ELSEWHERE = 0.02

    def __init__(self, costs: Mapping[str, float], slow: frozenset[str] = frozenset()) -> None:
        self.costs = dict(costs)
        self.slow = slow
        self.killed: dict[str, Counter[str]] = defaultdict(Counter)
        self.total: Counter[str] = Counter()

    def killed_by(self, file: str, test: str) -> None:
        """Note that a mutant of a file was killed by a test."""
        self.killed[file][test] += 1
        self.total[test] += 1

    def tests(self, file: str) -> list[str]:
        """Return all tests, the most promising for a mutant of ``file`` first."""
        here = self.killed[file]

        def worth(name: str) -> tuple[bool, float, float]:
            kills = here[name] + self.ELSEWHERE * self.total[name]
            cost = self.costs[name]
            return name in self.slow, -kills / cost, cost

        return sorted(self.costs, key=worth)
