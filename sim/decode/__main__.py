"""The main job: the windowed decode workload on the RTL, compared with the model (``make``)."""

from __future__ import annotations

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
    print_verdicts,
    print_windows,
    verdict,
)
from sim.engine.play import Simulation, play, simulator_version
from sim.shared.cli import Parser, add_simulator_options, run
from sim.shared.failures import failure_text, print_failures
from sim.shared.files import write_json
from sim.shared.paths import shown
from sim.shared.results import Verdict, write_junit


def main() -> int:
    """Check, compile, simulate, report; return 0 only if all matched and something was compared."""
    parser = Parser(prog="decode", description=__doc__)
    add_simulator_options(parser)
    add_decode_options(parser)
    args = parser.parse_args()
    options = decode_options(args)
    console = Console(highlight=False)
    started = time.perf_counter()

    version = simulator_version(args.sim)
    runs = compile_runs(options)
    print_heading(console, f"{args.sim} {version}", options.first)
    checks = software_checks(options.first, list(options.runs))
    checked = print_checks(console, checks)
    # Coverage is what `make cov` asks about; here it would only cost time.
    job = decode_job(runs, {"coverage": False})
    simulation = Simulation(job, args.sim, build={"rtl": args.rtl})
    played = play(console, [simulation], waves=args.waves, waves_of_failure=True)
    outcomes = by_window(runs, played.results)
    print_windows(console, outcomes)
    print_verdicts(console, outcomes)
    print_cycles(console, outcomes)
    print_failures(console, played.results)

    comparisons = sum(result.comparisons for result in played.results)
    mismatches = sum(len(result.mismatches) for result in played.results)
    matched = all(outcome.passed for outcome in outcomes.values()) and comparisons > 0
    passed = checked and matched and played.passed
    name = f"decode-{args.sim}"
    head = {"simulator": args.sim, "simulator_version": version, "passed": passed}
    counts = {"comparisons": comparisons, "mismatches": mismatches}
    seconds = time.perf_counter() - started
    write_json(args.results / f"{name}.json", head | counts | _figures(options, outcomes, seconds))
    write_junit(args.results / f"{name}.xml", _verdicts(name, checks, outcomes))
    write_csv(args.results / f"{name}.csv", outcomes)
    write_longest_trace(args.results, args.sim, outcomes)
    console.print(
        f"{verdict(passed)}  {comparisons:,} comparisons, {mismatches} mismatches, "
        f"{seconds:.1f} s; {shown(args.results / name)}.json, .xml and .csv",
        soft_wrap=True,
    )
    return 0 if passed else 1


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


def _verdicts(
    name: str, checks: list[Check], outcomes: dict[int | None, WindowOutcome]
) -> list[tuple[str, list[Verdict]]]:
    """One suite of software checks, one a window with a case for each step."""
    suites = [
        (
            f"{name}.software",
            [Verdict(c.name, c.verdict != "fail", c.detail, c.seconds) for c in checks],
        )
    ]
    for window, outcome in outcomes.items():
        cases = [Verdict(r.name, r.passed, failure_text(r)) for r in outcome.results]
        missing = outcome.run.steps[len(outcome.results) :]
        cases += [Verdict(f"step {s.step}", False, "was not played") for s in missing]
        suites.append((f"{name}.window-{window_name(window)}", cases))
    return suites


if __name__ == "__main__":
    run("decode", main)
