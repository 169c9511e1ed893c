"""Does what is in the flops at power-up matter? (``make powerup``)

The same programs run in Verilator from two different random initial states; final memory, counters,
fault outputs and every retire record must be the same. Icarus, where everything starts as unknown,
looks for the same mistake in every run: an unknown bit on an output is an error.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from model.chip.isa import encode, st
from model.errors import check_int
from sim.engine.agree import compare_results, difference_cases, print_differences
from sim.engine.design import add_design_option, design_files, print_design
from sim.engine.play import Batch, Simulation, play
from sim.shared.cli import Parser, add_simulator_options, integer, run
from sim.shared.errors import UsageError
from sim.shared.failures import print_failures, program_cases, simulation_case
from sim.shared.junit import Case, Suite
from sim.shared.outcome import Outcome
from sim.shared.results import ResultFiles, print_verdict
from verif.items.job import Job
from verif.items.program_item import ProgramItem
from verif.stimulus.directed import REGISTRY
from verif.stimulus.profiles import PROFILES
from verif.stimulus.random_program import random_items

SIM = "verilator"
STATES = (1, 2)  # seeds of the initial state


@dataclass(frozen=True)
class PowerUp:
    """Outcome of the same programs from two initial states.

    Attributes:
        batch: one simulation for each state.
        differences: (program, what differs).
        states: digest of the scratchpad in each of them; empty when a simulation died.
    """

    batch: Batch
    differences: list[tuple[str, str]]
    states: list[str]

    @property
    def states_differ(self) -> bool:
        """They really were different ones."""
        return len(set(self.states)) == len(STATES)

    @property
    def passed(self) -> bool:
        """Everything passed, agreed, and started from different states."""
        return self.batch.passed and self.states_differ and not self.differences


def programs(count: int, seed: int) -> list[ProgramItem]:
    """Directed programs without the slow ones, and ``count`` random ones of each profile."""
    directed = [i for entry in REGISTRY.values() if not entry.slow for i in entry.items()]
    drawn = [item for profile in PROFILES for item in random_items(seed, profile, count)]
    return [*directed, *drawn]


def simulations(job: Job, build: Mapping[str, Any]) -> list[Simulation]:
    """Return the simulations of ``job`` from each initial state."""
    return [
        Simulation(
            job,
            SIM,
            build=build,
            plusargs=("+verilator+rand+reset+2", f"+verilator+seed+{state}"),
        )
        for state in STATES
    ]


def compare_states(
    console: Console, items: list[ProgramItem], build: Mapping[str, Any] | None = None
) -> PowerUp:
    """Play ``items`` from both states and compare; ``build`` says what to build."""
    job = Job("items", {"keep_retires": True}, items)
    batch = play(console, simulations(job, build or {}), title="two initial states")
    names = [item.name for item in items]
    first, second = (run.results for run in batch.runs)
    differences = compare_results(names, first, second)
    if batch.errors:
        return PowerUp(batch, differences, [])
    # The scratchpad is an array of flops that nothing resets: it shows the state it woke up in.
    look = Job("items", {"unloaded": True}, [ProgramItem("look", [encode(st(0, 0, 4095))])])
    looked = play(console, simulations(look, build or {}), quiet=True)
    return PowerUp(batch, differences, [result.memory_digest for result in looked.results])


def main() -> int:
    """Play and compare; 0 when all passed and agreed."""
    parser = Parser(prog="powerup", description=__doc__)
    add_simulator_options(parser)
    add_design_option(parser)
    parser.add_argument("--count", type=integer, default=100, help="programs of each profile")
    parser.add_argument("--seed", type=integer, default=1)
    parser.add_argument("--results", type=Path, help="folder of the result files")
    args = parser.parse_args()
    if args.sim != SIM:
        raise UsageError(f"SIM={args.sim}: initial states are random in {SIM} only")
    check_int("n", args.count, 0)
    with design_files("powerup", args.design, args.results, simulator=SIM) as files:
        return powerup(args, files)


def powerup(args: argparse.Namespace, files: ResultFiles) -> int:
    """Do it all; return the exit code."""
    console = Console(highlight=False)
    print_design(console, args.design)
    items = programs(args.count, args.seed)
    outcome = compare_states(console, items, {"rtl": args.design})
    print_failures(console, outcome.batch.results)
    print_differences(console, outcome.differences)
    same = bool(outcome.states) and not outcome.states_differ
    if same:
        print_verdict(console, False, "both runs started from the same state")
    suites = [
        Suite(f"powerup.state-{state}", program_cases(run.results))
        for state, run in zip(STATES, outcome.batch.runs, strict=True)
    ]
    cases = difference_cases([item.name for item in items], dict(outcome.differences))
    states = Case("states differ", Outcome.of(outcome.states_differ), "both runs start the same")
    return files.finish(
        console,
        outcome.passed,
        f"{len(items):,} programs from {len(STATES)} initial states, "
        f"{len(outcome.differences)} differences",
        {
            "programs": len(items),
            "differences": [f"{name}: {what}" for name, what in outcome.differences],
            "states_differ": outcome.states_differ,
        },
        [*suites, Suite("powerup", [*cases, states, simulation_case(outcome.batch.errors)])],
    )


if __name__ == "__main__":
    run("powerup", main)
