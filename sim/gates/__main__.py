"""Gate-level simulation (``make gls``): the netlists must do what the model says, like the RTL."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from model.errors import check_int
from sim.engine.design import Design, add_design_option, design_files
from sim.engine.play import Batch, Simulation, play
from sim.engine.yosys import YosysError
from sim.gates.items import decode_items, random_programs
from sim.gates.netlist import TARGETS, Netlist, block_rams, flip_flops, logic, synthesize
from sim.shared.cli import Parser, integer, run
from sim.shared.errors import UsageError
from sim.shared.failures import failure_text, print_failures
from sim.shared.junit import Case, Suite
from sim.shared.outcome import Outcome
from sim.shared.results import ResultFiles
from sim.shared.table import format_table
from verif.items.job import Job
from verif.items.program_item import ProgramItem

LARGEST = 8  # units in the table
SLICE_STEPS, SLICE_PROGRAMS = 1, 6  # in Icarus
OPTIONS = {
    # Functions of 500 statements, little optimized: a netlist is straight-line code without end,
    # and a C++ compiler's time grows faster than the length of a function.
    "verilator": ["-Wno-lint", "-Wno-style", "--output-split-cfuncs", "500", "-CFLAGS", "-O1"],
    "icarus": ["-Wno-timescale"],
}


@dataclass(frozen=True)
class NetlistRun:
    """One netlist in one simulator."""

    netlist: Netlist
    sim: str
    batch: Batch

    @property
    def cycles(self) -> int:
        """Clock cycles of all programs, as the netlist counted them."""
        return sum(each.counters.get("total", 0) for each in self.batch.results)

    @property
    def seconds(self) -> float:
        """Wall-clock time of the simulation."""
        return self.batch.runs[0].seconds


def play_netlist(
    netlist: Netlist, sim: str, items: Sequence[ProgramItem], console: Console
) -> NetlistRun:
    """Compile a netlist, play the items on it."""
    simulation = Simulation(
        Job("items", {}, list(items)),
        sim,
        build={"rtl": netlist.design, "defines": netlist.defines, "options": OPTIONS[sim]},
    )
    return NetlistRun(netlist, sim, play(console, [simulation], title=f"{netlist.target} in {sim}"))


def sizes(netlists: Sequence[Netlist]) -> str:
    """Return the table of sizes, the largest units of each netlist below its total."""
    rows = [["netlist", "unit", "logic cells", "flip-flops", "block RAMs"]]
    for netlist in netlists:
        cells = netlist.cells
        counts = [logic(cells), flip_flops(cells), block_rams(cells)]
        rows.append([netlist.target, "whole chip", *(f"{count:,}" for count in counts)])
        largest = sorted(netlist.units.items(), key=lambda unit: -sum(unit[1].values()))
        for unit, own in largest[: LARGEST if len(largest) > 1 else 0]:
            counts = [logic(own), flip_flops(own), block_rams(own)]
            rows.append(["", unit, *(f"{count:,}" for count in counts)])
    return format_table(rows, "<<>>>")


def runs_table(runs: Sequence[NetlistRun]) -> str:
    """Return the table of simulations."""
    rows = [["netlist", "simulator", "programs", "passed", "cycles", "time", "verdict"]]
    for each in runs:
        rows.append(
            [
                each.netlist.target,
                each.sim,
                str(each.batch.programs),
                str(len(each.batch.results) - len(each.batch.failed)),
                f"{each.cycles:,}",
                f"{each.seconds:.1f} s",
                "pass" if each.batch.passed else "FAIL",
            ]
        )
    return format_table(rows, "<<>>>><")


def main() -> int:
    """Synthesize, simulate, print sizes and verdicts; return 0 only if everything matched."""
    parser = Parser(prog="gls", description=__doc__)
    add_design_option(parser)
    parser.add_argument("--targets", default=" ".join(TARGETS), help="netlists, blank-separated")
    parser.add_argument("--sims", default="verilator icarus", help="simulators, blank-separated")
    parser.add_argument(
        "--steps", type=integer, default=32, help="decode steps; 1 at most in Icarus"
    )
    parser.add_argument(
        "--random", type=integer, default=200, help="random programs; 6 at most in Icarus"
    )
    parser.add_argument("--seed", type=integer, default=1, help="of the random programs")
    args = parser.parse_args()
    design: Design = args.design
    targets = chosen("TARGETS", args.targets, TARGETS)
    sims = chosen("SIMS", args.sims, tuple(OPTIONS))
    check_int("steps", args.steps, 0)
    check_int("n", args.random, 0)
    check_int("seed", args.seed, 0)
    if not args.steps and not args.random:
        raise UsageError("STEPS=0 and N=0 leave nothing to play")
    with design_files("gls", design, None) as files:
        return simulate_gates(args, design, targets, sims, files)


def simulate_gates(
    args: argparse.Namespace,
    design: Design,
    targets: list[str],
    sims: list[str],
    files: ResultFiles,
) -> int:
    """Do it all; return the exit code."""
    console = Console(highlight=False)
    begin = time.monotonic()
    netlists = []
    try:
        for target in targets:
            with console.status(f"synthesizing to {target}"):
                netlists.append(synthesize(target, design))
    except YosysError as error:
        case = Case("synthesis", Outcome.ERROR, str(error))
        return files.finish(console, False, str(error), {}, [Suite("gls", [case])])
    print(sizes(netlists), "\n", sep="")
    runs = []
    for sim in sims:
        # Icarus takes a minute for what Verilator does in a second: a slice of it.
        slow = sim == "icarus"
        steps = min(args.steps, SLICE_STEPS) if slow else args.steps
        count = min(args.random, SLICE_PROGRAMS) if slow else args.random
        items = decode_items(steps) + random_programs(args.seed, count, load_once=slow)
        runs += [play_netlist(netlist, sim, items, console) for netlist in netlists]
    print(runs_table(runs))
    for each in runs:
        print_failures(console, each.batch.results)
    return files.finish(
        console,
        bool(runs) and all(each.batch.passed for each in runs),
        f"{design}, {time.monotonic() - begin:.1f} s",
        _figures(netlists, runs),
        [Suite("gls", [*map(_case, runs)])],
    )


def chosen(name: str, text: str, known: Sequence[str]) -> list[str]:
    """Split a blank-separated choice.

    Raises:
        UsageError: a word that is not known, or none at all.
    """
    words = text.split()
    if not words or set(words) - set(known):
        raise UsageError(f"{name}={text}: choose among {' '.join(known)}")
    return words


def _figures(netlists: Sequence[Netlist], runs: Sequence[NetlistRun]) -> dict[str, Any]:
    return {
        "netlists": {
            n.target: {
                "logic": logic(n.cells),
                "flip_flops": flip_flops(n.cells),
                "block_rams": block_rams(n.cells),
                "cells": dict(n.cells),
                "units": {unit: dict(own) for unit, own in n.units.items()},
            }
            for n in netlists
        },
        "runs": [
            {
                "netlist": each.netlist.target,
                "simulator": each.sim,
                "programs": each.batch.programs,
                "cycles": each.cycles,
                "seconds": round(each.seconds, 2),
                "passed": each.batch.passed,
            }
            for each in runs
        ],
    }


def _case(run: NetlistRun) -> Case:
    reason = "\n".join([*run.batch.errors, *map(failure_text, run.batch.failed)])
    name = f"{run.netlist.target}-{run.sim}"
    return Case(name, Outcome.of(run.batch.passed), reason or "nothing compared", run.seconds)


if __name__ == "__main__":
    run("gls", main)
