"""Plays a failing program again, alone and with waves: what every failure report names.

A failing program is kept as a job of its own in its job's folder, ``failing/<n>``, with the
scratchpad it started from.
"""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from sim.engine.play import Simulation, job_name, play
from sim.shared.cli import Parser, add_simulator_options, run
from sim.shared.errors import UsageError
from sim.shared.failures import print_failures
from verif.items.job import JobError, load_job


def main() -> int:
    """Play the job of a folder with waves; 0 when it passes (now)."""
    parser = Parser(prog="rerun", description=main.__doc__)
    parser.add_argument("folder", type=Path, help="e.g. build/jobs/<job>/failing/0")
    add_simulator_options(parser)
    options = parser.parse_args()
    try:
        job = load_job(options.folder)
    except JobError as error:
        raise UsageError(str(error)) from None
    console = Console()
    simulation = Simulation(job, options.sim, build={"rtl": options.rtl})
    played = play(console, [simulation], waves=True, quiet=True)
    print_failures(console, played.results)
    if played.passed:
        console.print(f"{job_name(job)}: passed, {played.results[0].comparisons:,} comparisons")
    return 0 if played.passed else 1


if __name__ == "__main__":
    run("rerun", main)
