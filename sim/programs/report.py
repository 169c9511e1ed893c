"""What is printed and written about a run of many programs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from sim.engine.design import Design, design_files
from sim.engine.play import Batch, simulator_version
from sim.programs.shrink import Shrunk
from sim.shared.failures import program_cases, simulation_case
from sim.shared.junit import Suite
from sim.shared.paths import shown
from sim.shared.results import ResultFiles
from sim.shared.table import format_table
from sim.shared.test_log import RAN_FILE, record_programs
from verif.items.result import ProgramResult

Groups = Mapping[str, list[ProgramResult]]


def print_groups(console: Console, title: str, groups: Groups) -> None:
    """One row a group: programs, failures, cycles, comparisons."""
    columns = ("programs", "failed", "cycles", "comparisons")
    rows = [[title, *columns]]
    for name, results in groups.items():
        figures = _figures(results)
        rows.append([name, *(f"{figures[column]:,}" for column in columns)])
    console.print(format_table(rows, "<>>>>"), soft_wrap=True)


def finish(
    console: Console,
    files: ResultFiles,
    batch: Batch,
    groups: Groups,
    reduced: Mapping[str, Shrunk],
) -> int:
    """Write the result files, record the tests that ran, print the verdict.

    Returns:
        The exit code: 0 if every program passed and something was compared.
    """
    sim, folder, design = files.head["simulator"], files.folder, files.head["design"]["hash"]
    log = folder / RAN_FILE
    files.attempt(log, lambda _: record_programs(sim, batch.results, folder, design))
    comparisons = sum(result.comparisons for result in batch.results)
    suites = [
        Suite(f"{files.name}.{group}", program_cases(members)) for group, members in groups.items()
    ]
    return files.finish(
        console,
        batch.passed and comparisons > 0,
        f"{len(batch.results):,} of {batch.programs:,} programs, {len(batch.failed)} failed, "
        f"{comparisons:,} comparisons, {batch.rate:,.0f} programs/s",
        {
            "programs_per_second": round(batch.rate, 1),
            "errors": batch.errors,
            "groups": {group: _figures(members) for group, members in groups.items()},
            "failures": [_failure(result, reduced.get(result.name)) for result in batch.failed],
        },
        [*suites, Suite(files.name, [simulation_case(batch.errors)])],
    )


def finish_programs(console: Console, files: ResultFiles, batch: Batch, text: str) -> int:
    """Write the result files of some programs that are no tests of the plan, print the verdict.

    Returns:
        The exit code: 0 if every program passed and something was compared.
    """
    cases = [*program_cases(batch.results), simulation_case(batch.errors)]
    return files.finish(
        console,
        batch.passed,
        text,
        {
            **_figures(batch.results),
            "counters": [result.counters for result in batch.results],
            "errors": batch.errors,
            "failures": [_failure(result, None) for result in batch.failed],
        },
        [Suite(files.name, cases)],
    )


def program_files(
    name: str, sim: str, design: Design, folder: Path | None, **head: Any
) -> ResultFiles:
    """Return the result files of a run of many programs in one simulator."""
    head = {"simulator": sim, "simulator_version": simulator_version(sim), **head}
    return design_files(f"{name}-{sim}", design, folder, **head)


def _figures(results: list[ProgramResult]) -> dict[str, int]:
    return {
        "programs": len(results),
        "failed": sum(not result.passed for result in results),
        "cycles": sum(result.counters.get("total", 0) for result in results),
        "comparisons": sum(result.comparisons for result in results),
    }


def _failure(result: ProgramResult, shrunk: Shrunk | None) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "name": result.name,
        "kinds": sorted({mismatch.kind for mismatch in result.mismatches}),
        "first_divergence": result.first_divergence,
        "rerun": result.rerun,
    }
    if shrunk:
        entry["reduced"] = {
            "file": shown(shrunk.saved.path),
            "instructions": shrunk.saved.instructions,
            "programs": shrunk.saved.programs,
            "replay": shrunk.saved.command,
        }
    return entry
