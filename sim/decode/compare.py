"""The decode workload in both simulators, which must also agree with each other (``make compare``).

Each simulator is compared with the model as in the main job. On top of that, final memory, the
five counters and every retire record of every program must be the same in both.
"""

from __future__ import annotations

import time

from rich.console import Console

from sim.decode.job import Runs, by_window, compile_runs, decode_job
from sim.decode.options import DecodeOptions, add_decode_options, decode_options
from sim.decode.report import print_heading, print_window_verdicts
from sim.engine.agree import compare_results, difference_cases, print_differences
from sim.engine.design import Design, design_files
from sim.engine.play import Batch, Simulation, play, simulator_version
from sim.shared.cli import Parser, run
from sim.shared.failures import print_failures, program_cases, simulation_case
from sim.shared.junit import Suite
from sim.shared.paths import SIMULATORS
from sim.shared.results import ResultFiles


def main() -> int:
    """Play the workload twice and compare; return 0 only if both matched and agree."""
    parser = Parser(prog="compare", description=__doc__)
    add_decode_options(parser)
    args = parser.parse_args()
    options = decode_options(args)
    with design_files("compare", args.design, args.results) as files:
        return compare(options, args.design, files)


def compare(options: DecodeOptions, design: Design, files: ResultFiles) -> int:
    """Do it all; return the exit code."""
    console = Console(highlight=False)
    started = time.perf_counter()
    versions = {sim: simulator_version(sim) for sim in SIMULATORS}
    runs = compile_runs(options)
    simulators = " and ".join(f"{s} {v}" for s, v in versions.items())
    print_heading(console, simulators, options.first, design)
    job = decode_job(runs, {"keep_retires": True})
    built = {"rtl": design}
    played = {
        sim: play(console, [Simulation(job, sim, build=built)], waves_of_failure=True)
        for sim in SIMULATORS
    }
    suites = [against_the_model(console, sim, runs, played[sim]) for sim in SIMULATORS]
    first, second = (played[sim].results for sim in SIMULATORS)
    names = [item.name for item in job.items]
    differences = compare_results(names, first, second)
    print_differences(console, differences)
    agreed = not differences and bool(names)
    records = sum(len(result.retires or ()) for result in first)
    seconds = time.perf_counter() - started
    return files.finish(
        console,
        agreed and all(outcome.passed for outcome in played.values()),
        f"{len(names)} programs in {' and '.join(SIMULATORS)}, {records:,} retire records, "
        f"{len(differences)} differences, {seconds:.1f} s",
        {
            "simulators": versions,
            "programs": len(names),
            "retire_records": records,
            "differences": [f"{name}: {what}" for name, what in differences],
            "seconds": round(seconds, 3),
        },
        [*suites, Suite("compare", difference_cases(names, dict(differences)))],
    )


def against_the_model(console: Console, sim: str, runs: Runs, played: Batch) -> Suite:
    """Print how one simulator did by itself; return its test cases."""
    console.print(f"{sim} against the model")
    print_window_verdicts(console, by_window(runs, played.results))
    print_failures(console, played.results)
    return Suite(f"compare.{sim}", [*program_cases(played.results), simulation_case(played.errors)])


if __name__ == "__main__":
    run("compare", main)
