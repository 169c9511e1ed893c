"""Plays a failing program again, alone and with waves: what every failure report names.

A failing program is kept as a job of its own in its job's folder, ``failing/<n>``, with the
scratchpad it started from. It is played on what it failed on: the same design, netlist, initial
state and simulator. When the design is another by now, that is said instead.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from sim.engine.design import Design, design_option, print_design
from sim.engine.job_record import JobRecord
from sim.engine.play import Simulation, job_name, play
from sim.shared.cli import Parser, run
from sim.shared.errors import UsageError
from sim.shared.failures import print_failures
from sim.shared.paths import SIMULATORS
from verif.items.job import JobError, load_job


def main() -> int:
    """Play the job of a folder with waves; 0 when it passes (now)."""
    console = Console()
    simulation = read_simulation(parse(), console)
    played = play(console, [simulation], waves=True, quiet=True)
    print_failures(console, played.results)
    if played.passed:
        comparisons = sum(result.comparisons for result in played.results)
        console.print(f"{job_name(simulation.job)}: passed, {comparisons:,} comparisons")
    return 0 if played.passed else 1


def parse(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = Parser(prog="rerun", description=__doc__)
    parser.add_argument("folder", type=Path, help="e.g. build/jobs/<job>/failing/0")
    parser.add_argument("--sim", choices=SIMULATORS, help="in another simulator")
    parser.add_argument("--rtl", dest="design", type=design_option, help="on another design")
    parser.add_argument("--changed", action="store_true", help="on the design as it is now")
    return parser.parse_args(words)


def read_simulation(options: argparse.Namespace, console: Console) -> Simulation:
    """Read the job and what it was played on.

    Raises:
        UsageError: there is no such job, or its design has changed.
    """
    try:
        job = load_job(options.folder)
    except JobError as error:
        raise UsageError(str(error)) from None
    record = JobRecord.load(options.folder)
    design: Design = options.design or record.design(options.changed)
    print_design(console, design)
    return Simulation(
        job,
        options.sim or record.sim,
        programs=job.params.get("count"),
        build=record.build(design),
        plusargs=record.plusargs if options.sim in (None, record.sim) else (),
        seed=record.seed,
    )


if __name__ == "__main__":
    run("rerun", main)
