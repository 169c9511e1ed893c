"""Does what is in the flops at power-up matter? (``make powerup``)

The same programs run in Verilator from two different random initial states; final memory, counters,
fault outputs and every retire record must be the same. Icarus, where everything starts as unknown,
looks for the same mistake in every run: an unknown bit on an output is an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from model.chip.isa import encode, st
from model.errors import check_int
from sim.decode.compare import compare_results
from sim.engine.builds import Build, build
from sim.engine.simulator import JobResult, SimulationError, simulate
from sim.shared.cli import Parser, add_simulator_options, integer, run
from sim.shared.errors import UsageError
from sim.shared.failures import print_failures
from sim.shared.files import write_json
from sim.shared.paths import RESULTS, shown
from sim.shared.progress import ProgramProgress
from sim.shared.results import Verdict, write_junit
from verif.items.job import Job
from verif.items.program_item import ProgramItem
from verif.items.result import ProgramResult
from verif.stimulus.directed import REGISTRY
from verif.stimulus.profiles import PROFILES
from verif.stimulus.random_program import random_items

SIM = "verilator"
STATES = (1, 2)  # seeds of the initial state
SHOWN = 5


@dataclass(frozen=True)
class PowerUp:
    """Outcome of the same programs from two initial states.

    Attributes:
        runs: one for each state.
        differences: (program, what differs).
        states_differ: the two states really were different ones.
    """

    runs: list[JobResult]
    differences: list[tuple[str, str]]
    states_differ: bool

    @property
    def passed(self) -> bool:
        """Everything passed, agreed, and started from different states."""
        good = all(run.passed for run in self.runs)
        return good and self.states_differ and not self.differences


def programs(count: int, seed: int) -> list[ProgramItem]:
    """Directed programs without the slow ones, and ``count`` random ones of each profile."""
    directed = [i for entry in REGISTRY.values() if not entry.slow for i in entry.items()]
    drawn = [item for profile in PROFILES for item in random_items(seed, profile, count)]
    return [*directed, *drawn]


def play(built: Build, job: Job, state: int, progress: ProgramProgress | None = None) -> JobResult:
    """Play ``job`` from the initial state number ``state``."""

    def finished(result: ProgramResult) -> None:
        if progress:
            progress.finished(result.name, result.passed, result.counters.get("total", 0))

    plusargs = ("+verilator+rand+reset+2", f"+verilator+seed+{state}")
    return simulate(SIM, job, built=built, plusargs=plusargs, on_result=finished)


def compare_states(
    built: Build, items: list[ProgramItem], progress: ProgramProgress | None = None
) -> PowerUp:
    """Play ``items`` from both states and compare.

    Raises:
        SimulationError: a simulation died.
    """
    job = Job("items", {"keep_retires": True}, items)
    runs = [play(built, job, state, progress) for state in STATES]
    names = [item.name for item in items]
    differences = compare_results(names, runs[0].results, runs[1].results)
    # The scratchpad is an array of flops that nothing resets: it shows the state it woke up in.
    look = Job("items", {"unloaded": True}, [ProgramItem("look", [encode(st(0, 0, 4095))])])
    digests = {play(built, look, state).results[0].memory_digest for state in STATES}
    return PowerUp(runs, differences, len(digests) == len(STATES))


def main() -> int:
    """Play and compare; 0 when all passed and agreed."""
    parser = Parser(prog="powerup", description=__doc__)
    add_simulator_options(parser)
    parser.add_argument("--count", type=integer, default=100, help="programs of each profile")
    parser.add_argument("--seed", type=integer, default=1)
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the result files")
    args = parser.parse_args()
    if args.sim != SIM:
        raise UsageError(f"SIM={args.sim}: initial states are random in {SIM} only")
    check_int("n", args.count, 0)
    console = Console(highlight=False)
    items = programs(args.count, args.seed)
    with console.status(f"building for {SIM}"):
        built = build(SIM, rtl=args.rtl)
    try:
        with ProgramProgress(console, "two initial states", len(STATES) * len(items)) as progress:
            outcome = compare_states(built, items, progress)
    except SimulationError as error:
        console.print(f"[bold red]FAIL[/] {escape(str(error))}", soft_wrap=True)
        return 1
    for finished in outcome.runs:
        print_failures(console, finished.results)
    for name, what in outcome.differences[:SHOWN]:
        console.print(f"[bold red]DIFFERENT[/] {escape(name)}: {what}", soft_wrap=True)
    if not outcome.states_differ:
        console.print("[bold red]FAIL[/] both runs started from the same state")
    found = dict(outcome.differences)
    cases = [Verdict(i.name, i.name not in found, found.get(i.name, "")) for i in items]
    write_junit(args.results / "powerup.xml", [("powerup", cases)])
    figures = {
        "passed": outcome.passed,
        "programs": len(items),
        "differences": [f"{name}: {what}" for name, what in outcome.differences],
        "states_differ": outcome.states_differ,
    }
    write_json(args.results / "powerup.json", figures)
    word = "[bold green]PASS[/]" if outcome.passed else "[bold red]FAIL[/]"
    console.print(
        f"{word}  {len(items):,} programs from {len(STATES)} initial states, "
        f"{len(outcome.differences)} differences; {shown(args.results / 'powerup')}.json and .xml",
        soft_wrap=True,
    )
    return 0 if outcome.passed else 1


if __name__ == "__main__":
    run("powerup", main)
