"""What a campaign is about: the design, its mutants with their keys and numbers, the tests."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sim.engine.design import Design
from sim.mutate.rtl.basis import Basis, make_basis
from sim.mutate.rtl.classics import named_mutants
from sim.mutate.rtl.generate import deduplicate, generate
from sim.mutate.rtl.mutant import Mutant, apply_edits, in_order, key_of
from sim.mutate.rtl.second_order.generate import second_order
from sim.mutate.rtl.source import load, read_sources
from sim.mutate.rtl.suite import suite
from verif.mutation.test_series import TestSeries


@dataclass
class Plan:
    """Mutants by number (1, 2, ...); ``keys`` name them across runs.

    ``unfit`` says of named faults why a design that is not the project's has no place for them.
    """

    design: Design
    texts: dict[str, str]
    mutants: dict[int, Mutant]
    keys: dict[int, str]
    tests: list[TestSeries]
    basis: Basis
    unfit: list[str]

    def mutated(self, number: int) -> dict[str, str]:
        """Return the sources with one mutant in them."""
        return apply_edits(self.texts, self.mutants[number].edits)

    def files(self) -> dict[int, str]:
        """Return the file of each mutant."""
        return {number: mutant.file for number, mutant in self.mutants.items()}


def make_plan(design: Design, choose: Callable[[Sequence[Mutant]], Sequence[Mutant]]) -> Plan:
    """Read a design and make its mutants; ``choose`` picks those of this campaign.

    Raises:
        SourceError: the RTL does not compile.
        PatchError: a named fault no longer fits the project's own RTL.
    """
    texts = read_sources(design)
    parsed = load(texts)
    named, unfit = named_mutants(parsed, all_must_fit=design.is_own)
    # The named ones first: a generated mutant that makes the same text is the duplicate.
    seeded = in_order([*generate(parsed), *second_order(parsed)], texts)
    everything = deduplicate([*named, *seeded], texts)
    mutants = dict(enumerate(choose(everything), 1))
    tests = suite()
    keys = {number: key_of(mutant, texts) for number, mutant in mutants.items()}
    return Plan(design, texts, mutants, keys, tests, make_basis(design, texts, tests), unfit)


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
