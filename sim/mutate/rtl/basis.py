"""What the verdicts of a campaign depend on, so that none outlives it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sim.engine.builds import MAKEFILE, PUBLIC
from sim.engine.compilers import compiler_version
from sim.engine.design import Design
from sim.engine.sources import read_list
from sim.mutate.common.dependencies import imported
from sim.mutate.common.finding import KILLED, PROVEN, Finding
from sim.mutate.rtl.hierarchy import Hierarchy
from sim.programs.units import BENCH, unit_names
from sim.shared.files import digest
from sim.shared.paths import HDL
from verif.mutation.test_series import TestSeries

SIMULATING = (
    "verif.tests.test_mutants",
    "verif.tests.test_programs",
    "verif.tests.test_unit_mutants",
    "sim.mutate.rtl.own_build",
    "sim.mutate.rtl.runner",
    "sim.mutate.rtl.schema",
)
PROVING = (
    "sim.mutate.rtl.engines",
    "sim.mutate.rtl.equivalence",
    "sim.mutate.rtl.families",
    "sim.mutate.rtl.family",
)
STIMULUS = "verif.stimulus"
"""Not entered: what it makes, the programs, is in the digests of the test series."""


@dataclass(frozen=True)
class Basis:
    """Digests: of the design, of what simulates and proves it, of tests and of scopes by name.

    A scope is a module with all that is in it, and the packages.
    """

    design: str
    bench: str
    prover: str
    tests: Mapping[str, str]
    scopes: Mapping[str, str]

    def of(self, finding: Finding) -> str:
        """Name what a finding depends on.

        A proof: the scope in which it was made, and the prover. A kill: design, testbench and the
        test that killed. Anything else: all of it.
        """
        if finding.status == PROVEN:
            return digest(self.scopes.get(finding.scope, self.design), self.prover)
        if finding.status == KILLED:
            test = self.tests.get(finding.test, self.all_tests)
            return digest(self.design, self.bench, test)
        return digest(self.design, self.bench, self.prover, self.all_tests)

    @cached_property
    def all_tests(self) -> str:
        """One digest of all tests, in their order."""
        return digest(*self.tests.values())


def make_basis(design: Design, texts: Mapping[str, str], tests: Sequence[TestSeries]) -> Basis:
    """Return what verdicts about a design by these tests depend on; ``texts`` are its sources."""
    units = [f"verif.units.{name}" for name in unit_names()]
    files, packages = imported([*SIMULATING, *units], apart_from=STIMULUS)
    lists = read_list(HDL / "tb.f").contents()
    hdl = [*sorted(lists), *sorted(BENCH.parent.iterdir()), MAKEFILE, PUBLIC]
    compilers = [compiler_version(sim) for sim in ("icarus", "verilator")]
    prover_files, prover_packages = imported(PROVING)
    return Basis(
        design.hash,
        digest(*files, *hdl, *packages, *compilers),
        digest(*prover_files, *prover_packages),
        {test.name: test.digest() for test in tests},
        _scopes(texts),
    )


def _scopes(texts: Mapping[str, str]) -> dict[str, str]:
    """Return a digest for every module: of its file, of those of what is in it, of packages."""
    tree = Hierarchy(dict(texts))
    return {
        module: digest(
            *(
                f"{name}\0{text}"
                for name, text in texts.items()
                if Path(name).stem not in tree.ports or Path(name).stem in tree.inside(module)
            )
        )
        for module in tree.ports
    }
