"""The main job: the windowed decode workload on the RTL, compared with the model (``make``)."""

from __future__ import annotations

import argparse
import time
from typing import Any

from rich.console import Console

from model.checks.software_checks import software_checks
from model.checks.subject import Check
from sim.decode.exports import write_csv, write_longest_trace
from sim.decode.job import WindowOutcome, by_window, compile_runs, decode_job
from sim.decode.options import DecodeOptions, add_decode_options, decode_options, window_name
from sim.decode.report import (
    print_checks,
    print_cycles,
    print_heading,
    print_window_verdicts,
    print_windows,
)
from sim.engine.design import design_files
from sim.engine.play import Simulation, play, simulator_version
from sim.shared.cli import Parser, add_simulator_options, run
from sim.shared.failures import print_failures, program_cases, simulation_case
from sim.shared.junit import Case, Suite
from sim.shared.outcome import Outcome
from sim.shared.results import ResultFiles


def main() -> int:
    """Check, compile, simulate, report; return 0 only if all matched and something was compared."""
    parser = Parser(prog="decode", description=__doc__)
    add_simulator_options(parser)
    add_decode_options(parser)
    args = parser.parse_args()
    options = decode_options(args)
    head = {"simulator": args.sim, "simulator_version": simulator_version(args.sim)}
    name = f"decode-{args.sim}"
    with design_files(name, args.design, args.results, **head) as files:
        return decode(args, options, files)


def decode(args: argparse.Namespace, options: DecodeOptions, files: ResultFiles) -> int:
    """Do it all; return the exit code."""
    console = Console(highlight=False)
    started = time.perf_counter()
    runs = compile_runs(options)
    simulator = f"{args.sim} {files.head['simulator_version']}"
    print_heading(console, simulator, options.first, args.design)
    checks = software_checks(options.first, list(options.runs))
    checked = print_checks(console, checks)
    # Coverage is what `make cov` asks about; here it would only cost time.
    job = decode_job(runs, {"coverage": False})
    simulation = Simulation(job, args.sim, build={"rtl": args.design})
    played = play(console, [simulation], waves=args.waves, waves_of_failure=True)
    outcomes = by_window(runs, played.results)
    print_windows(console, outcomes)
    print_window_verdicts(console, outcomes)
    print_cycles(console, outcomes)
    print_failures(console, played.results)

    comparisons = sum(result.comparisons for result in played.results)
    mismatches = sum(len(result.mismatches) for result in played.results)
    matched = all(outcome.passed for outcome in outcomes.values()) and comparisons > 0
    seconds = time.perf_counter() - started
    files.attempt(files.path(".csv"), lambda path: write_csv(path, outcomes))
    files.attempt(
        files.path(".trace.json"),
        lambda path: write_longest_trace(path.parent, args.sim, outcomes, args.design.to_json()),
    )
    return files.finish(
        console,
        checked and matched and played.passed,
        f"{comparisons:,} comparisons, {mismatches} mismatches, {seconds:.1f} s",
        {
            "comparisons": comparisons,
            "mismatches": mismatches,
            **_figures(options, outcomes, seconds),
        },
        [
            *_suites(files.name, checks, outcomes),
            Suite(files.name, [simulation_case(played.errors)]),
        ],
    )


def _figures(
    options: DecodeOptions, outcomes: dict[int | None, WindowOutcome], seconds: float
) -> dict[str, Any]:
    first = options.first
    return {
        "model": first.model,
        "seed": first.seed,
        "start": first.start,
        "page": first.page,
        "pool": first.pool,
        "latency": first.latency,
        "seconds": round(seconds, 3),
        "windows": {window_name(w): outcome.to_json() for w, outcome in outcomes.items()},
    }


def _suites(
    name: str, checks: list[Check], outcomes: dict[int | None, WindowOutcome]
) -> list[Suite]:
    """One suite of software checks, one a window with a case for each step."""
    known = {"pass": Outcome.PASSED, "skip": Outcome.SKIPPED}
    checked = [
        Case(c.name, known.get(c.verdict, Outcome.FAILED), c.detail, c.seconds) for c in checks
    ]
    suites = [Suite(f"{name}.software", checked)]
    for window, outcome in outcomes.items():
        missing = outcome.run.steps[len(outcome.results) :]
        cases = program_cases(outcome.results)
        cases += [Case(f"step {s.step}", Outcome.ERROR, "was not played") for s in missing]
        suites.append(Suite(f"{name}.window-{window_name(window)}", cases))
    return suites


if __name__ == "__main__":
    run("decode", main)
