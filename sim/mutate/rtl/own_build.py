"""Mutants in builds of their own: what no schema can express, and what only power-up shows.

Icarus, because it builds in a second and because its unknown bits show what no reset reaches.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from sim.engine.builds import Build, build
from sim.engine.compilers import BuildError
from sim.engine.play import Simulation, play
from sim.mutate.rtl.death import Death, death_of
from sim.programs.units import build_units, run_unit, unit_names
from sim.shared.paths import BUILD
from verif.items.job import Job
from verif.items.result import ProgramResult
from verif.mutation.protocol import UNIT_TEST, MutantVerdict
from verif.mutation.test_series import TestSeries, all_items

AT_POWER_UP = "ignored_fields"
"""A test that executes every operation before it resets anything again."""


def power_up_tests(tests: Sequence[TestSeries], each: int = 1) -> list[TestSeries]:
    """Return the test that meets the state of power-up, and the ``each`` cheapest of every family.

    The testbench powers up with a reset of one cycle, and what that has left does not live long.
    """
    families: dict[str, list[TestSeries]] = defaultdict(list)
    for test in tests:
        if test.family and not test.slow:
            families[test.family].append(test)
    first = [test for test in tests if test.name == AT_POWER_UP]
    return first + [
        test
        for family in families.values()
        for test in sorted(family, key=lambda t: sum(len(item.program) for item in t.items))[:each]
    ]


class _FailedError(Exception):
    """A program failed: the simulation need not go on."""


def run_programs(
    texts: Mapping[str, str], tests: Sequence[TestSeries], sim: str = "icarus"
) -> MutantVerdict:
    """Build a mutated design by itself and run tests on it until a program fails.

    Args:
        texts: the mutated sources in the order of the list, file name to text.
        tests: to run, in order.
        sim: ``icarus`` or ``verilator``.

    Raises:
        DeathError: the simulations were ended from outside.
    """
    job = Job(items=list(all_items(tests)))

    def once(folder: Path) -> MutantVerdict | Death:
        results: list[ProgramResult] = []

        def take(result: ProgramResult) -> None:
            results.append(result)
            if not result.passed:
                raise _FailedError

        began = time.monotonic()
        simulation = Simulation(job, sim, build={"rtl": folder}, folder=folder / "job")
        try:
            (run,) = play(Console(quiet=True), [simulation], quiet=True, on_result=take).runs
        except _FailedError:
            return _verdict(results, tests, time.monotonic() - began)
        if run.error:
            return death_of(run.ended, run.status, run.error)
        return MutantVerdict(
            False, programs=len(results), seconds=round(time.monotonic() - began, 2)
        )

    return _judge(texts, lambda folder: build(sim, rtl=folder), once)


def run_units(texts: Mapping[str, str], changed: str) -> MutantVerdict:
    """Run the unit tests on a mutated design until one fails, those of the file ``changed`` first.

    ``texts`` are those of ``run_programs``.

    Raises:
        DeathError: the simulations were ended from outside.
    """
    units = sorted(unit_names(), key=lambda unit: unit not in changed)
    began = time.monotonic()

    def once(folder: Path) -> MutantVerdict | Death:
        for unit in units:
            outcome = run_unit("icarus", unit, rtl=folder)
            seconds = round(time.monotonic() - began, 2)
            for test, message in outcome.failures.items():
                name = f"unit/{unit}::{test}"
                return MutantVerdict(True, (UNIT_TEST,), name, name, message, seconds=seconds)
            if outcome.error:
                return death_of(outcome.ended, outcome.status, outcome.error)
        return MutantVerdict(False, seconds=round(time.monotonic() - began, 2))

    return _judge(texts, lambda folder: build_units("icarus", folder), once)


def _judge(
    texts: Mapping[str, str],
    compiled: Callable[[Path], Build],
    once: Callable[[Path], MutantVerdict | Death],
) -> MutantVerdict:
    """Build a mutated design and judge it; where the simulation dies, once more."""
    with _design_folder(texts) as folder:
        try:
            made = compiled(folder)
        except BuildError as error:
            return _not_compiled(error)
        try:
            found = once(folder)
            if isinstance(found, Death):
                found = once(folder)
            if isinstance(found, Death):
                return MutantVerdict(True, (found.check,), message=found.message)
            return found
        finally:
            shutil.rmtree(made.folder, ignore_errors=True)


def _not_compiled(error: BuildError) -> MutantVerdict:
    """Say that a mutant is none: no test has found it."""
    return MutantVerdict(False, message=f"does not compile: {str(error).splitlines()[-1]}")


@contextmanager
def _design_folder(texts: Mapping[str, str]) -> Iterator[Path]:
    """Give a mutated design a folder for as long as it is needed."""
    BUILD.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".mutant-", dir=BUILD) as name:
        folder = Path(name)
        for file, text in texts.items():
            (folder / file).write_text(text, encoding="latin-1")
        (folder / "ga2.f").write_text("\n".join(texts) + "\n")
        yield folder


def _verdict(
    results: Sequence[ProgramResult], tests: Sequence[TestSeries], seconds: float
) -> MutantVerdict:
    """Name the first program that failed."""
    names = [test.name for test in tests for _ in test.items]
    for count, result in enumerate(results, 1):
        if not result.passed:
            checks = tuple(dict.fromkeys(m.kind for m in result.mismatches))
            message = result.mismatches[0].message if result.mismatches else "no comparison"
            return MutantVerdict(
                True, checks, names[count - 1], result.name, message, count, round(seconds, 2)
            )
    return MutantVerdict(False, programs=len(results), seconds=round(seconds, 2))
