"""Random programs on the RTL, compared with the model; failing ones are reduced (``make random``).

Everything follows from SEED, PROFILE and a program's index: the same on each simulator and Python.
"""

from __future__ import annotations

import argparse
from itertools import pairwise
from pathlib import Path

from rich.console import Console

from model.errors import check_int
from sim.engine.design import add_design_option, make_settings, print_design, random_command
from sim.engine.play import Simulation, play
from sim.programs.report import finish, print_groups, program_files
from sim.programs.shrink import DEFAULT_SECONDS, shrink_failures
from sim.shared.cli import Parser, add_simulator_options, integer, run
from sim.shared.errors import UsageError
from sim.shared.failures import print_failures
from sim.shared.results import ResultFiles
from verif.items.job import Job
from verif.items.program_item import ProgramItem
from verif.items.result import ProgramResult
from verif.stimulus.profiles import ALL, PROFILES
from verif.stimulus.random_program import random_item
from verif.stimulus.surroundings import SERIES


def main() -> int:
    """Play the programs; 0 when all passed and something was compared."""
    parser = Parser(prog="random", description=__doc__)
    add_simulator_options(parser)
    add_design_option(parser)
    parser.add_argument("--count", type=integer, help="programs of each profile (1000)")
    parser.add_argument("--seed", type=integer, default=1)
    parser.add_argument("--profile", default="typical", help=f"{', '.join(PROFILES)}, or {ALL}")
    parser.add_argument("--first", type=integer, default=0, help="index of the first program")
    parser.add_argument("--only", type=integer, help="play this index, and what it needs before")
    parser.add_argument("--jobs", type=integer, default=1, help="simulators at the same time")
    parser.add_argument("--shrink", type=integer, default=DEFAULT_SECONDS, help="seconds; 0: no")
    parser.add_argument("--results", type=Path, help="folder of the result files")
    args = parser.parse_args()
    profiles = parse_profiles(args.profile)
    first, count = parse_range(args, profiles)
    check_int("jobs", args.jobs, 1)
    check_int("shrink", args.shrink, 0)
    head = {"seed": args.seed, "first": first, "count": count}
    with program_files("random", args.sim, args.design, args.results, **head) as files:
        return play_random(args, profiles, first, count, files)


def play_random(
    args: argparse.Namespace, profiles: list[str], first: int, count: int, files: ResultFiles
) -> int:
    """Play the programs, reduce what fails, report; return the exit code."""
    console = Console(highlight=False)
    console.print(
        f"GA-2 random programs on {args.sim} {files.head['simulator_version']}: "
        f"{', '.join(profiles)}; seed {args.seed}, {count:,} programs each from index {first}",
        soft_wrap=True,
    )
    print_design(console, args.design)
    again = random_command(make_settings(args.sim, args.design), args.seed)
    common = {"seed": args.seed, "rerun": again}
    simulations = [
        Simulation(
            Job("random", {**common, "profile": profile, "first": start, "count": size}),
            args.sim,
            size,
            build={"rtl": args.design},
        )
        for profile in profiles
        for start, size in split(first, count, args.jobs)
    ]
    batch = play(console, simulations, workers=args.jobs, waves=args.waves)
    groups = {
        profile: [r for r in batch.results if r.name.startswith(f"{profile}-")]
        for profile in profiles
    }
    print_groups(console, "profile", groups)
    print_failures(console, batch.results)
    reduced = shrink_failures(
        console, args.sim, batch, series_of, rtl=args.design, seconds=args.shrink
    )
    return finish(console, files, batch, groups, reduced)


def parse_profiles(text: str) -> list[str]:
    """Names of profiles, separated by commas or blanks; ``all`` for each.

    Raises:
        UsageError: there is no such profile.
    """
    names = text.replace(",", " ").split()
    if names == [ALL]:
        return list(PROFILES)
    for name in names:
        if name not in PROFILES:
            raise UsageError(f"PROFILE={name}: must be {', '.join(PROFILES)}, or {ALL}")
    if not names:
        raise UsageError(f"PROFILE is empty: give {', '.join(PROFILES)}, or {ALL}")
    return list(dict.fromkeys(names))


def parse_range(args: argparse.Namespace, profiles: list[str]) -> tuple[int, int]:
    """First index and number of programs of each profile.

    Raises:
        UsageError, ParameterError: naming the value and what would be right.
    """
    check_int("first", args.first, 0)
    if args.only is None:
        return args.first, check_int("n", 1000 if args.count is None else args.count, 1)
    check_int("only", args.only, 0)
    if args.count is not None or args.first:
        raise UsageError(f"ONLY={args.only} goes without N and FIRST")
    # A program that keeps the scratchpad needs those before it, back to one that brings its own.
    keeps = any(random_item(args.seed, profile, args.only).spad is None for profile in profiles)
    first = args.only - args.only % SERIES if keeps else args.only
    return first, args.only - first + 1


def split(first: int, count: int, parts: int) -> list[tuple[int, int]]:
    """Cut a range of indices into at most ``parts``, at programs that bring a scratchpad."""
    size = -(-count // (parts * SERIES)) * SERIES
    cuts = [first, *range(first - first % SERIES + size, first + count, size), first + count]
    return [(start, end - start) for start, end in pairwise(cuts) if end > start]


def series_of(result: ProgramResult) -> list[ProgramItem]:
    """The failing program after as many of those before it as can matter for the scratchpad."""
    profile, seed, index = result.name.rsplit("-", 2)
    last = int(index)
    numbers = range(max(0, last - SERIES), last + 1)
    return [random_item(int(seed), profile, number) for number in numbers]


if __name__ == "__main__":
    run("random", main)
