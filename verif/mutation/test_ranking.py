"""Which test to try next: what killed mutants of the same file at least cost comes first."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

FAMILIES = {
    "ga2_load": "load_store",
    "ga2_store": "load_store",
    "ga2_matmul": "matmul",
    "ga2_operand_bank": "matmul",
    "ga2_systolic_array": "matmul",
    "ga2_mac_row": "matmul",
    "ga2_requant": "requantize",
    "ga2_requantizer": "requantize",
    "ga2_softmax": "softmax",
    "ga2_exp_table": "softmax",
    "ga2_divider": "softmax",
    "ga2_vadd": "vector_add",
    "ga2_amax": "argmax",
    "ga2_unpack": "unpack",
    "ga2_fault_checker": "faults",
}
"""Where to begin: the family of directed tests for a module, before anything was killed."""


class TestRanking:
    """Ranks tests by what they have killed so far.

    A test's worth for a file is the number of mutants of that file it killed, each weighing more
    than any killed elsewhere, over the time the test takes.

    Args:
        costs: test name to its cost in any unit (say, cycles); slow tests always come last.
        slow: names of the slow tests.
        families: test name to its family of directed tests.
        history: (file, test) of kills in earlier runs.
    """

    __test__ = False

    ELSEWHERE = 0.02
    FAMILY = 0.5

    def __init__(
        self,
        costs: Mapping[str, float],
        slow: frozenset[str] = frozenset(),
        families: Mapping[str, str] | None = None,
        history: Iterable[tuple[str, str]] = (),
    ) -> None:
        self.costs = dict(costs)
        self.slow = slow
        self.killed: dict[str, Counter[str]] = defaultdict(Counter)
        self.total: Counter[str] = Counter()
        self.families = dict(families or {})
        for file, test in history:
            if test in self.costs:
                self.killed_by(file, test)

    def killed_by(self, file: str, test: str) -> None:
        """Note that a mutant of a file was killed by a test."""
        self.killed[file][test] += 1
        self.total[test] += 1

    def best_first(self, file: str) -> list[str]:
        """Return all tests, the most promising for a mutant of ``file`` first."""
        here = self.killed[file]
        family = FAMILIES.get(file.removesuffix(".sv"), "")

        def worth(name: str) -> tuple[bool, float, float]:
            kin = self.FAMILY if family and self.families.get(name) == family else 0.0
            kills = here[name] + self.ELSEWHERE * self.total[name] + kin
            cost = self.costs[name]
            return name in self.slow, -kills / cost, cost

        return sorted(self.costs, key=worth)
