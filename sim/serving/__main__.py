"""Serving on the RTL: requests through the engine, every program of it compared (``make serve``).

With ``--compare`` both simulators play it, and must also agree with each other.
"""

from __future__ import annotations

import time

from rich.console import Console

from model.serving.engine import run_engine
from model.serving.records import Run
from sim.engine.agree import compare_results, difference_cases, print_differences
from sim.engine.design import Design, design_files, print_design
from sim.engine.play import Batch, Simulation, play, simulator_version
from sim.serving.figures import figures, table, write_csv
from sim.serving.job import Served, serving_job
from sim.serving.options import add_serving_options, serving_options, serving_requests
from sim.shared.cli import Parser, add_simulator_options, run
from sim.shared.failures import print_failures, program_cases, simulation_case
from sim.shared.junit import Case, Suite
from sim.shared.outcome import Outcome
from sim.shared.paths import SIMULATORS
from sim.shared.results import ResultFiles
from sim.shared.table import format_table


def main() -> int:
    """Serve, simulate, compare; 0 only if all matched and each request is as if alone."""
    parser = Parser(prog="serve", description=__doc__)
    add_simulator_options(parser)
    parser.add_argument("--compare", action="store_true", help="play it in both simulators")
    add_serving_options(parser)
    args = parser.parse_args()
    options = serving_options(args)
    requests = serving_requests(args, options)
    simulators = SIMULATORS if args.compare else (args.sim,)
    versions = {sim: simulator_version(sim) for sim in simulators}
    name = "serve-compare" if args.compare else f"serve-{args.sim}"
    with design_files(name, args.design, args.results, simulators=versions) as files:
        console = Console(highlight=False)
        started = time.perf_counter()
        with console.status("serving on the model"):
            served = run_engine(requests, options)
        print_heading(console, served, versions, args.design)
        played = simulate(console, served, args.design, list(simulators), args.waves)
        return report(console, files, served, played, started)


def print_heading(console: Console, served: Run, versions: dict[str, str], design: Design) -> None:
    """Say what runs, with everything needed to run it again."""
    options = served.options
    seen = "all rows" if options.window is None else f"a window of {options.window} rows"
    sinks = f" with {options.sinks} sinks" if options.sinks else ""
    weights = "kept in the scratchpad" if options.resident else "loaded in each step"
    console.print(
        f"GA-2 serving on {' and '.join(f'{s} {v}' for s, v in versions.items())}: "
        f"{options.model} model, seed {options.seed}, {len(served.requests)} requests, batch "
        f"{options.batch}, {options.rows} rows a step, {seen}{sinks}, {options.pool} pages of "
        f"{options.page} rows, drafts of {options.draft}, admission by {options.admission}, "
        f"weights {weights}, latency {options.latency}",
        soft_wrap=True,
    )
    print_design(console, design)


def simulate(
    console: Console, served: Run, design: Design, simulators: list[str], waves: bool
) -> dict[str, Batch]:
    """Play every program in each simulator."""
    job = serving_job(served, {"coverage": False, "keep_retires": len(simulators) > 1})
    return {
        sim: play(
            console,
            [Simulation(job, sim, build={"rtl": design})],
            waves=waves,
            waves_of_failure=True,
        )
        for sim in simulators
    }


def report(
    console: Console, files: ResultFiles, served: Run, played: dict[str, Batch], started: float
) -> int:
    """Print the figures and leave the files; return the exit code."""
    names = [step.name for step in served.steps]
    runs = {sim: Served(served, batch.results) for sim, batch in played.items()}
    first = next(iter(runs.values()))
    data = figures(first)
    console.print(format_table(table(data), "<<"), soft_wrap=True)
    suites = [_requests(files.name, first)]
    for sim, batch in played.items():
        print_failures(console, batch.results)
        cases = program_cases(batch.results)
        cases += [Case(n, Outcome.ERROR, "was not played") for n in names[len(cases) :]]
        suites.append(Suite(f"{files.name}.{sim}", [*cases, simulation_case(batch.errors)]))
    agreed = True
    if len(played) > 1:
        differences = compare_results(names, *(batch.results for batch in played.values()))
        print_differences(console, differences)
        suites.append(Suite(f"{files.name}.agree", difference_cases(names, dict(differences))))
        agreed = not differences
    for rid, how in data["unlike_alone"].items():
        console.print(f"request {rid}: {how}", soft_wrap=True, markup=False)
    comparisons = sum(r.comparisons for batch in played.values() for r in batch.results)
    mismatches = sum(len(r.mismatches) for batch in played.values() for r in batch.results)
    files.attempt(files.path(".csv"), lambda path: write_csv(path, first))
    seconds = time.perf_counter() - started
    matched = all(one.matched for one in runs.values())
    alike = len(served.requests) - len(data["unlike_alone"])
    agreeing = ", both simulators agree" if agreed and len(played) > 1 else ""
    return files.finish(
        console,
        matched and agreed and all(batch.passed for batch in played.values()),
        f"{alike} of {len(served.requests)} requests as if alone, {comparisons:,} comparisons, "
        f"{mismatches} mismatches{agreeing}, {seconds:.1f} s",
        {
            **data,
            "comparisons": comparisons,
            "mismatches": mismatches,
            "seconds": round(seconds, 3),
        },
        suites,
    )


def _requests(name: str, served: Served) -> Suite:
    """One case a request: what it generated is what it generates alone."""
    wrong = served.unlike_alone
    cases = [
        Case(
            f"request {request.rid}",
            Outcome.of(request.rid not in wrong),
            wrong.get(request.rid, ""),
        )
        for request in served.run.requests
    ]
    return Suite(f"{name}.requests", cases)


if __name__ == "__main__":
    run("serve", main)
