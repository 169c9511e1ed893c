"""What a campaign is about: the design, its mutants with their keys and numbers, the tests."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sim.mutate.rtl.classics import named_mutants
from sim.mutate.rtl.generate import deduplicate, generate
from sim.mutate.rtl.mutant import Mutant, apply_edits, key_of
from sim.mutate.rtl.source import load, read_sources
from sim.mutate.rtl.store import Context, digest_files, digest_texts
from sim.mutate.rtl.suite import TestSeries, suite, suite_digest
from sim.shared.paths import ROOT

BENCH = (
    "verif/hdl/*.sv",
    "verif/env/compare.py",
    "verif/env/predictor.py",
    "verif/env/scoreboard.py",
    "verif/units/*.py",
    "verif/units/hdl/*.sv",
    "model/chip/fixed_point.py",
    "model/chip/machine.py",
    "model/chip/operations.py",
    "model/chip/timing.py",
)
"""Files that decide what the testbench says of a program."""


@dataclass
class Plan:
    """Mutants by number (1, 2, ...); ``keys`` name them across runs."""

    rtl: Path
    texts: dict[str, str]
    mutants: dict[int, Mutant]
    keys: dict[int, str]
    tests: list[TestSeries]
    context: Context

    def mutated(self, number: int) -> dict[str, str]:
        """Return the sources with one mutant in them."""
        return apply_edits(self.texts, self.mutants[number].edits)

    def files(self) -> dict[int, str]:
        """Return the file of each mutant."""
        return {number: mutant.file for number, mutant in self.mutants.items()}

    def number_of(self) -> dict[str, int]:
        """Return the number of each key."""
        return {key: number for number, key in self.keys.items()}


def make_plan(rtl: Path, choose: Callable[[Sequence[Mutant]], Sequence[Mutant]]) -> Plan:
    """Read a design and make its mutants; ``choose`` picks those of this campaign.

    Raises:
        SourceError: the RTL does not compile.
        PatchError: a named fault no longer fits the RTL.
    """
    texts = read_sources(rtl)
    design = load(texts)
    # The named ones first: a generated mutant that makes the same text is the duplicate.
    everything = deduplicate([*named_mutants(design), *generate(design)], texts)
    mutants = dict(enumerate(choose(everything), 1))
    tests = suite()
    bench = sorted({path for pattern in BENCH for path in ROOT.glob(pattern)})
    context = Context(digest_texts(texts), digest_files(bench), suite_digest(tests))
    keys = {number: key_of(mutant, texts) for number, mutant in mutants.items()}
    return Plan(rtl, texts, mutants, keys, tests, context)


def every(mutants: Sequence[Mutant]) -> Sequence[Mutant]:
    """Choose all mutants."""
    return mutants


def sample(per_kind: int) -> Callable[[Sequence[Mutant]], Sequence[Mutant]]:
    """Return a choice of ``per_kind`` mutants of every kind, spread evenly over the design."""

    def choose(mutants: Sequence[Mutant]) -> Sequence[Mutant]:
        kinds: dict[str, list[Mutant]] = defaultdict(list)
        for mutant in mutants:
            kinds[mutant.kind].append(mutant)
        chosen = []
        for group in kinds.values():
            count = min(per_kind, len(group))
            chosen += [group[(2 * i + 1) * len(group) // (2 * count)] for i in range(count)]
        return chosen

    return choose
