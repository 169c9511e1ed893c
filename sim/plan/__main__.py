"""Check the test plan and show what ran (``make testplan``).

No feature without a test and a coverage point, no pattern that matches nothing, no test that the
plan does not list, no coverage point that no feature uses; and the last outcome of every test, with
what the last coverage run (``make cov``) found of each feature's bins.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from rich.console import Console
from rich.table import Table

from sim.engine.design import add_design_option, design_files
from sim.shared.cli import Parser, run
from sim.shared.files import read_json
from sim.shared.junit import Case, Suite
from sim.shared.outcome import Outcome
from sim.shared.paths import ROOT
from sim.shared.results import ResultFiles
from sim.shared.test_log import Run, last_runs
from verif.plan import PLAN_FILE, Feature, Plan, load_plan
from verif.stimulus.directed import REGISTRY
from verif.stimulus.profiles import PROFILES
from verif.typed import RecordError

COVERAGE_FILE = "coverage.json"

Bins = Mapping[str, tuple[int, int]]
"""Bins that were hit and all bins, by coverage point."""

UNITS = ROOT / "verif" / "units"
TESTS = ROOT / "tests"


@dataclass(frozen=True)
class Status:
    """Outcome of a feature's tests: names of those that passed everywhere, failed, did not run."""

    passed: list[str]
    failed: list[str]
    not_run: list[str]


def existing_tests(units: Path = UNITS, tests: Path = TESTS) -> list[str]:
    """Every test there is, by its name in the plan."""
    names = [f"directed/{name}" for name in REGISTRY]
    names += [f"random/{name}" for name in PROFILES]
    for path in sorted(units.glob("*.py")):
        names += [f"unit/{path.stem}::{name}" for name in _cocotb_tests(path)]
    for path in sorted(tests.rglob("test_*.py")):
        names += [f"pytest/{path.name}::{name}" for name in _pytest_tests(path)]
    return names


def _cocotb_tests(path: Path) -> Iterable[str]:
    """Functions and classes under a decorator that is called ``test`` or ``parametrize``."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for decorator in node.decorator_list:
                target = decorator.func if isinstance(decorator, ast.Call) else decorator
                name = target.attr if isinstance(target, ast.Attribute) else ""
                if name in ("test", "parametrize"):
                    yield node.name
                    break


def _pytest_tests(path: Path) -> Iterable[str]:
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield node.name


def tests_of(feature: Feature, existing: Iterable[str]) -> list[str]:
    """Existing tests that the patterns of ``feature`` name."""
    return [test for test in existing if any(fnmatchcase(test, p) for p in feature.tests)]


def problems(plan: Plan, existing: list[str]) -> list[str]:
    """What is wrong with the plan itself, one line each."""
    found = []
    listed: set[str] = set()
    used: set[str] = set()
    for feature in plan.features.values():
        own = tests_of(feature, existing)
        # `directed/*` and the like say that all programs look at a feature; a program counts as
        # listed only where something narrower names it.
        narrow = [pattern for pattern in feature.tests if not pattern.endswith("/*")]
        listed.update(t for t in own if any(fnmatchcase(t, p) for p in narrow))
        used.update(feature.coverage)
        if not own:
            found.append(f"feature {feature.name} has no test")
        if not feature.coverage:
            found.append(f"feature {feature.name} has no coverage point")
        for pattern in feature.tests:
            if not any(fnmatchcase(test, pattern) for test in existing):
                found.append(f"feature {feature.name}: there is no test {pattern}")
        for point in feature.coverage:
            if point not in plan.points:
                found.append(f"feature {feature.name}: there is no coverage point {point}")
    for test in existing:
        file = test.removeprefix("pytest/").split("::")[0]
        if test not in listed and file not in plan.beside:
            # pytest files are listed as a whole: here under a feature, or as being beside them.
            name = f"pytest/{file}" if test.startswith("pytest/") else test
            found.append(f"{name} is not listed")
    found = list(dict.fromkeys(found))
    found += [f"there is no test file {name}" for name in plan.beside if not any(TESTS.rglob(name))]
    found += [f"no feature uses coverage point {name}" for name in plan.points if name not in used]
    return found


def status(tests: Iterable[str], runs: dict[str, dict[str, Run]], sims: list[str]) -> Status:
    """Sort ``tests`` by their last outcomes.

    Args:
        tests: names.
        runs: last outcomes by test and simulator.
        sims: simulators in which a test must have run; empty: in any one.
    """
    result = Status([], [], [])
    for test in tests:
        outcomes = runs.get(test, {})
        wanted = sims if sims and not test.startswith("pytest/") else list(outcomes)
        if any(not run.passed for run in outcomes.values()):
            result.failed.append(test)
        elif outcomes and all(sim in outcomes for sim in wanted):
            result.passed.append(test)
        else:
            result.not_run.append(test)
    return result


def covered_bins(folder: Path, design: str) -> dict[str, tuple[int, int]]:
    """What the last coverage run found about a design, by coverage point; empty without one."""
    data = read_json(folder / COVERAGE_FILE) or {}
    if data.get("design", {}).get("hash") != design:
        return {}
    points = data.get("functional", {}).get("points", {})
    return {name: (point["hit"], point["bins"]) for name, point in points.items()}


def bins_of(feature: Feature, plan: Plan, bins: Bins) -> tuple[int, int]:
    """Bins hit and all bins of the points of ``feature``; points never measured count as missed."""
    sums = [
        bins.get(name, (0, len(plan.points[name].bins)))
        for name in feature.coverage
        if name in plan.points
    ]
    return sum(hit for hit, _ in sums), sum(total for _, total in sums)


def show(console: Console, plan: Plan, rows: dict[str, Status], bins: Bins) -> None:
    """Print one row a feature."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("feature", no_wrap=True, min_width=max(map(len, rows)))
    for name in ("tests", "passed", "failed", "not run", "bins"):
        table.add_column(name, justify="right")
    table.add_column("coverage points")
    for name, row in rows.items():
        style = "red" if row.failed else "yellow" if row.not_run else "green"
        counts = [len(row.passed), len(row.failed), len(row.not_run)]
        hit, total = bins_of(plan.features[name], plan, bins)
        table.add_row(
            f"[{style}]{name}[/]",
            str(sum(counts)),
            *(str(count or "-") for count in counts),
            (str(hit) if hit == total else f"[red]{hit} of {total}[/]") if bins else "-",
            ", ".join(plan.features[name].coverage),
        )
    console.print(table)


def main() -> int:
    """Check, print the table and the sums; return 1 when something is wrong."""
    parser = Parser(prog="testplan", description=__doc__)
    parser.add_argument("--plan", type=Path, default=PLAN_FILE, metavar="FILE")
    add_design_option(parser)
    parser.add_argument("--results", type=Path, metavar="FOLDER", help="of the tests' outcomes")
    parser.add_argument("--sims", nargs="*", default=[], help="simulators that must have run all")
    parser.add_argument("--all-ran", action="store_true", help="fail when a test did not run")
    args = parser.parse_args()
    with design_files("testplan", args.design, args.results) as files:
        return check(args, files)


def check(args: argparse.Namespace, files: ResultFiles) -> int:
    """Do it all; return the exit code."""
    console = Console(highlight=False)
    try:
        plan = load_plan(args.plan)
    except RecordError as error:
        case = Case("plan", Outcome.ERROR, str(error))
        return files.finish(console, False, str(error), {}, [Suite("testplan", [case])])
    existing = existing_tests()
    runs = last_runs(files.folder, args.design.hash)
    rows = {
        name: status(tests_of(feature, existing), runs, args.sims)
        for name, feature in plan.features.items()
    }
    bins = covered_bins(files.folder, args.design.hash)
    show(console, plan, rows, bins)
    return conclude(console, files, plan, problems(plan, existing), rows, bins, args.all_ran)


def conclude(
    console: Console,
    files: ResultFiles,
    plan: Plan,
    wrong: list[str],
    rows: dict[str, Status],
    bins: Bins,
    all_ran: bool,
) -> int:
    """Print problems, failed tests and sums; return the exit code."""
    failed = sorted({test for row in rows.values() for test in row.failed})
    not_run = sorted({test for row in rows.values() for test in row.not_run})
    passed = {test for row in rows.values() for test in row.passed}
    for line in wrong:
        console.print(f"[red]plan[/]  {line}", soft_wrap=True)
    for test in failed:
        console.print(f"[red]failed[/]  {test}", soft_wrap=True)
    if all_ran:
        for test in not_run:
            console.print(f"[red]did not run[/]  {test}", soft_wrap=True)
    total = sum(len(point.bins) for point in plan.points.values())
    hit = sum(hit for hit, _ in bins.values())
    covered = f"{hit:,} were hit" if bins else "make cov did not run"
    good = not wrong and not failed and not (all_ran and not_run)
    return files.finish(
        console,
        good,
        f"{len(plan.features)} features, {len(passed)} tests passed, {len(failed)} failed, "
        f"{len(not_run)} did not run; {len(plan.points)} coverage points with {total:,} bins, "
        f"{covered}; {len(wrong)} problems of the plan",
        {"problems": wrong, "features": {name: asdict(row) for name, row in rows.items()}},
        [Suite("testplan", [*map(_case, rows, rows.values()), *map(_problem, wrong)])],
    )


def _case(name: str, row: Status) -> Case:
    return Case(name, Outcome.of(not row.failed), f"failed: {', '.join(row.failed)}")


def _problem(text: str) -> Case:
    return Case("plan", Outcome.FAILED, text)


if __name__ == "__main__":
    run("testplan", main)
