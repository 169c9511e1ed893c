"""Studies of serving on the RTL: every program behind their cycles (``make serve STUDIES=1``)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, replace

from rich.console import Console

from model.studies.serving import Study, cost_studies, trace_study
from sim.engine.design import add_design_option, design_files, print_design
from sim.engine.play import Simulation, play, simulator_version
from sim.serving.job import serving_job
from sim.shared.cli import Parser, add_simulator_options, run
from sim.shared.failures import print_failures, program_cases, simulation_case
from sim.shared.junit import Suite
from sim.shared.table import format_table
from verif.items.job import Job
from verif.items.program_item import ProgramItem
from verif.items.result import ProgramResult


def main() -> int:
    """Play them; 0 only if every program matched and took the cycles that the studies say."""
    parser = Parser(prog="serve", description=__doc__)
    add_simulator_options(parser)
    add_design_option(parser)
    args = parser.parse_args()
    version = {args.sim: simulator_version(args.sim)}
    with design_files(f"serve-studies-{args.sim}", args.design, None, simulators=version) as files:
        console = Console(highlight=False)
        started = time.perf_counter()
        with console.status("serving on the model"):
            costs = list(cost_studies())
            studies = [*costs, trace_study()]
        console.print(f"GA-2 studies of serving on {args.sim} {version[args.sim]}")
        print_design(console, args.design)
        job = Job("items", {"coverage": False}, study_items(studies))
        simulation = Simulation(job, args.sim, build={"rtl": args.design})
        played = play(console, [simulation], waves=args.waves, waves_of_failure=True)
        rows: list[Sequence[str]] = [
            ("study", "cycles a token", "matrix unit", "cycles on the RTL")
        ]
        figures = []
        for study in studies:
            cycles = rtl_cycles(study, played.results)
            cost = asdict(study.cost()) if study in costs else {"study": study.name}
            figures.append({**cost, "model_cycles": study.run.cycles, "rtl_cycles": cycles})
            shown = [f"{cost[key]:,.0f}" if key in cost else "-" for key in ("cycles", "matrix")]
            rows.append([study.label, *shown, f"{cycles:,}"])
        console.print(format_table(rows, "<>>>"), soft_wrap=True)
        print_failures(console, played.results)
        alike = all(one["model_cycles"] == one["rtl_cycles"] for one in figures)
        comparisons = sum(result.comparisons for result in played.results)
        seconds = time.perf_counter() - started
        return files.finish(
            console,
            played.passed and alike,
            f"{len(played.results):,} programs, {comparisons:,} comparisons, {seconds:.1f} s",
            {"studies": figures, "comparisons": comparisons, "seconds": round(seconds, 3)},
            [Suite(files.name, [*program_cases(played.results), simulation_case(played.errors)])],
        )


def study_items(studies: Sequence[Study]) -> list[ProgramItem]:
    """Programs of all studies, each study from an image of its own."""
    return [
        replace(item, name=f"{study.label}: {item.name}")
        for study in studies
        for item in serving_job(study.run).items
    ]


def rtl_cycles(study: Study, results: Sequence[ProgramResult]) -> int:
    """Cycles that the RTL took for the programs of a study."""
    mine = (result for result in results if result.name.startswith(f"{study.label}: "))
    return sum(result.counters.get("total", 0) for result in mine)


if __name__ == "__main__":
    run("serve", main)
