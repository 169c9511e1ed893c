"""Which tests ran and how they ended: one JSON line a test and run in build/results/ran.jsonl.

Front ends append after each job; the last line of a test and simulator counts. Tests have the names
of the test plan (``verif.plan``). pytest leaves its own JUnit file, which is read as it is.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import msgspec

from sim.shared import jsonl
from sim.shared.junit import Case, JunitError, read
from sim.shared.outcome import Outcome
from sim.shared.paths import RESULTS
from verif.items.result import ProgramResult

RAN_FILE = "ran.jsonl"
PYTEST_FILES = "pytest*.xml"
TIME = "%Y-%m-%dT%H:%M:%SZ"

_DIRECTED = re.compile(r"directed (\w+)")
_RANDOM = re.compile(r"random profile=(\w+)")


@dataclass(frozen=True)
class Run:
    """The outcome of one test in one run.

    Attributes:
        test: name as in the test plan.
        sim: simulator, or ``python`` for pytest.
        passed: every program of the test passed.
        programs: how many there were.
        when: UTC, ISO 8601.
        design: hash of what was tested; empty where that is not known.
    """

    test: str
    sim: str
    passed: bool
    programs: int
    when: str
    design: str = ""


def test_of(provenance: str) -> str | None:
    """Name in the test plan of the test that a program came from; None when it has none there."""
    if match := _DIRECTED.match(provenance):
        return f"directed/{match[1]}"
    if match := _RANDOM.match(provenance):
        return f"random/{match[1]}"
    return None


def record_programs(
    sim: str, results: Iterable[ProgramResult], folder: Path = RESULTS, design: str = ""
) -> None:
    """Append the outcome of every test that ``results`` belong to."""
    grouped: dict[str, list[bool]] = {}
    for result in results:
        test = test_of(result.provenance)
        if test is not None:
            grouped.setdefault(test, []).append(result.passed)
    outcomes = {test: (all(passed), len(passed)) for test, passed in grouped.items()}
    record(sim, outcomes, folder, design)


def record_units(sim: str, cases: Iterable[Case], folder: Path = RESULTS, design: str = "") -> None:
    """Append the outcome of every test in cocotb's results of a unit test bench."""
    outcomes: dict[str, tuple[bool, int]] = {}
    for case in cases:
        module = case.classname.rsplit(".", 1)[-1]
        name = re.sub(r"[\[/].*", "", case.name)  # without its parameters
        test = f"unit/{module}::{name}"
        before, count = outcomes.get(test, (True, 0))
        outcomes[test] = (before and case.outcome is Outcome.PASSED, count + 1)
    record(sim, outcomes, folder, design)


def record(
    sim: str, outcomes: dict[str, tuple[bool, int]], folder: Path = RESULTS, design: str = ""
) -> None:
    """Append (passed, programs) of each test; one write, so that parallel runs do not mix."""
    when = time.strftime(TIME, time.gmtime())
    runs = [Run(test, sim, *outcome, when, design) for test, outcome in outcomes.items()]
    jsonl.append(folder / RAN_FILE, *map(asdict, runs))


def last_runs(folder: Path = RESULTS, design: str = "") -> dict[str, dict[str, Run]]:
    """The last outcome of every test by simulator: {test: {sim: Run}}.

    With the hash of a ``design`` what ran on another one, or before an edit, does not count.
    """
    runs: dict[str, dict[str, Run]] = {}
    for line in jsonl.read(folder / RAN_FILE, Run):
        run = msgspec.convert(line, Run)
        if design and run.design != design:
            continue
        runs.setdefault(run.test, {})[run.sim] = run
    # The latest run last: one of a few tests must not hide behind one of all, or the reverse.
    for junit in sorted(folder.glob(PYTEST_FILES), key=lambda path: path.stat().st_mtime):
        try:
            cases = read(junit)
        except JunitError as error:
            print(f"{error}: left out", file=sys.stderr)
            continue
        for run in _pytest_runs(cases, junit.stat().st_mtime):
            runs.setdefault(run.test, {})[run.sim] = run
    return runs


def _pytest_runs(cases: Iterable[Case], written: float) -> list[Run]:
    when = time.strftime(TIME, time.gmtime(written))
    outcomes: dict[str, list[bool]] = {}
    for case in cases:
        parts = case.classname.split(".")
        module = next((part for part in parts if part.startswith("test_")), "")
        name = case.name.split("[", 1)[0]
        if module and case.outcome is not Outcome.SKIPPED:
            passed = case.outcome is Outcome.PASSED
            outcomes.setdefault(f"pytest/{module}.py::{name}", []).append(passed)
    return [Run(test, "python", all(p), len(p), when) for test, p in outcomes.items()]
