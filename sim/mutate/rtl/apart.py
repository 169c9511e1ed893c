"""Mutants built on their own: what no schema can express, and what only power-up shows.

Icarus, because it builds in a second and because its unknown bits show what no reset reaches.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from sim.engine.builds import BuildError, build
from sim.engine.play import Simulation, play
from sim.mutate.rtl.suite import TestSeries
from sim.programs.units import build_units, run_unit, unit_names
from sim.shared.paths import BUILD
from verif.items.job import Job
from verif.items.program_item import ProgramItem
from verif.items.result import ProgramResult


@dataclass(frozen=True)
class ApartVerdict:
    """What became of a mutant in a build of its own."""

    killed: bool
    checks: tuple[str, ...] = ()
    program: str = ""
    message: str = ""
    programs: int = 0
    seconds: float = 0.0


def power_up_tests(tests: Sequence[TestSeries], each: int = 1) -> list[TestSeries]:
    """Return the ``each`` cheapest directed tests of every family."""
    families: dict[str, list[TestSeries]] = defaultdict(list)
    for test in tests:
        if test.family and not test.slow:
            families[test.family].append(test)
    return [
        test
        for family in families.values()
        for test in sorted(family, key=lambda t: sum(len(item.program) for item in t.items))[:each]
    ]


class _FailedError(Exception):
    """A program failed: the simulation need not go on."""


def run_apart(texts: Mapping[str, str], order: Sequence[str], items: Sequence[ProgramItem],
              sim: str = "icarus") -> ApartVerdict:  # fmt: skip
    """Build a mutated design by itself and run programs on it.

    Args:
        texts: the mutated sources, file name to text.
        order: the files of the list, in order.
        items: programs, run until one fails.
        sim: ``icarus`` or ``verilator``.
    """
    results: list[ProgramResult] = []

    def take(result: ProgramResult) -> None:
        results.append(result)
        if not result.passed:
            raise _FailedError

    with _design_folder(texts, order) as folder:
        try:
            made = build(sim, rtl=folder)
        except BuildError as error:
            return _not_compiled(error)
        began = time.monotonic()
        job = Job(items=list(items))
        simulation = Simulation(job, sim, build={"rtl": folder}, folder=folder / "job")
        try:
            batch = play(Console(quiet=True), [simulation], on_result=take)
        except _FailedError:
            pass
        else:
            if batch.errors:
                return ApartVerdict(True, ("crash",), message=batch.errors[0].splitlines()[0])
        finally:
            shutil.rmtree(made.folder, ignore_errors=True)
    return _verdict(results, time.monotonic() - began)


def run_units(texts: Mapping[str, str], order: Sequence[str], changed: str) -> ApartVerdict:
    """Run the unit tests on a mutated design until one fails, those of the file ``changed`` first.

    The other arguments are those of ``run_apart``.
    """
    began = time.monotonic()
    with _design_folder(texts, order) as folder:
        try:
            made = build_units("icarus", folder)
        except BuildError as error:
            return _not_compiled(error)
        try:
            for unit in sorted(unit_names(), key=lambda unit: unit not in changed):
                outcome = run_unit("icarus", unit, rtl=folder)
                seconds = round(time.monotonic() - began, 2)
                for test, message in outcome.failures.items():
                    return ApartVerdict(
                        True, ("unit test",), f"unit/{unit}::{test}", message, seconds=seconds
                    )
                if outcome.error:
                    message = outcome.error.splitlines()[0]
                    return ApartVerdict(True, ("crash",), f"unit/{unit}", message, seconds=seconds)
        finally:
            shutil.rmtree(made.folder, ignore_errors=True)
    return ApartVerdict(False, seconds=round(time.monotonic() - began, 2))


def _not_compiled(error: BuildError) -> ApartVerdict:
    """Say that a mutant is none: no test has found it."""
    return ApartVerdict(False, message=f"does not compile: {str(error).splitlines()[-1]}")


@contextmanager
def _design_folder(texts: Mapping[str, str], order: Sequence[str]) -> Iterator[Path]:
    """Give a mutated design a folder for as long as it is needed."""
    BUILD.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".mutant-", dir=BUILD) as name:
        folder = Path(name)
        for file, text in texts.items():
            (folder / file).write_text(text, encoding="latin-1")
        (folder / "ga2.f").write_text("\n".join(order) + "\n")
        yield folder


def _verdict(results: Sequence[ProgramResult], seconds: float) -> ApartVerdict:
    """Name the first program that failed."""
    for count, result in enumerate(results, 1):
        if not result.passed:
            checks = tuple(dict.fromkeys(m.kind for m in result.mismatches))
            message = result.mismatches[0].message if result.mismatches else "no comparison"
            return ApartVerdict(True, checks, result.name, message, count, round(seconds, 2))
    return ApartVerdict(False, programs=len(results), seconds=round(seconds, 2))
