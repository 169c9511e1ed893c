"""What is printed and written about a run of many programs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from sim.engine.play import Batch, simulator_version
from sim.programs.shrink import Shrunk
from sim.shared.failures import failure_text
from sim.shared.files import write_json
from sim.shared.paths import RESULTS, RTL, shown
from sim.shared.results import Verdict, write_junit
from sim.shared.table import format_table
from sim.shared.test_log import record_programs
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
    name: str,
    sim: str,
    batch: Batch,
    groups: Groups,
    reduced: Mapping[str, Shrunk],
    *,
    rtl: Path = RTL,
    results: Path = RESULTS,
    **head: Any,
) -> int:
    """Write the result files, record the tests that ran, print the verdict.

    Returns:
        The exit code: 0 if every program passed and something was compared.
    """
    if rtl == RTL:  # what another design does says nothing about this one
        record_programs(sim, batch.results, results)
    comparisons = sum(result.comparisons for result in batch.results)
    passed = batch.passed and comparisons > 0
    figures = {
        "simulator": sim,
        "simulator_version": simulator_version(sim),
        "passed": passed,
        **head,
        "programs_per_second": round(batch.rate, 1),
        "errors": batch.errors,
        "groups": {group: _figures(members) for group, members in groups.items()},
        "failures": [_failure(result, reduced.get(result.name)) for result in batch.failed],
    }
    target = results / f"{name}-{sim}"
    write_json(target.with_suffix(".json"), figures)
    suites = [
        (
            f"{name}-{sim}.{group}",
            [Verdict(r.name, r.passed, failure_text(r)) for r in members],
        )
        for group, members in groups.items()
    ]
    # What died on the way is a failure of its own.
    suites.append(
        (f"{name}-{sim}", [Verdict("simulation", not batch.errors, "\n".join(batch.errors))])
    )
    write_junit(target.with_suffix(".xml"), suites)
    word = "[bold green]PASS[/]" if passed else "[bold red]FAIL[/]"
    console.print(
        f"{word}  {len(batch.results):,} of {batch.programs:,} programs, {len(batch.failed)} "
        f"failed, {comparisons:,} comparisons, {batch.rate:,.0f} programs/s; {shown(target)}.json "
        "and .xml",
        soft_wrap=True,
    )
    return 0 if passed else 1


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
