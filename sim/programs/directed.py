"""Directed programs on the RTL, compared with the model (``make directed``)."""

from __future__ import annotations

import argparse
import difflib
from fnmatch import fnmatchcase
from pathlib import Path

from rich.console import Console

from model.errors import check_int
from sim.engine.design import add_design_option, print_design
from sim.engine.play import Simulation, play
from sim.programs.report import finish, print_groups, program_files
from sim.programs.shrink import shrink_failures
from sim.shared.cli import Parser, add_simulator_options, integer, run
from sim.shared.errors import UsageError
from sim.shared.failures import print_failures
from sim.shared.results import ResultFiles
from sim.shared.table import format_table
from verif.items.job import Job
from verif.items.program_item import ProgramItem
from verif.items.result import ProgramResult
from verif.stimulus.directed import REGISTRY, Directed


def main() -> int:
    """Play the programs; 0 when all passed and something was compared."""
    parser = Parser(prog="directed", description=__doc__)
    add_simulator_options(parser)
    add_design_option(parser)
    parser.add_argument("--name", default="*", help="names or families; * and ? are wildcards")
    parser.add_argument("--quick", action="store_true", help="without those of many cycles")
    parser.add_argument("--list", action="store_true", help="only list them")
    parser.add_argument("--shrink", type=integer, default=0, help="seconds to reduce failures")
    parser.add_argument("--results", type=Path, help="folder of the result files")
    args = parser.parse_args()
    check_int("shrink", args.shrink, 0)
    chosen = select(args.name, args.quick)
    console = Console(highlight=False)
    if args.list:
        rows = [("program", "family", "about"), *((e.name, e.family, e.about) for e in chosen)]
        console.print(format_table(rows, "<<<"), soft_wrap=True, markup=False)
        return 0

    tests = [entry.name for entry in chosen]
    with program_files("directed", args.sim, args.design, args.results, tests=tests) as files:
        return play_directed(console, args, chosen, files)


def play_directed(
    console: Console, args: argparse.Namespace, chosen: list[Directed], files: ResultFiles
) -> int:
    """Play the programs, reduce what fails, report; return the exit code."""
    items = [item for entry in chosen for item in entry.items()]
    console.print(
        f"GA-2 directed programs on {args.sim} {files.head['simulator_version']}: "
        f"{len(chosen)} tests, {len(items):,} programs",
        soft_wrap=True,
    )
    print_design(console, args.design)
    simulation = Simulation(Job("items", {}, items), args.sim, build={"rtl": args.design})
    batch = play(console, [simulation], waves=args.waves)
    families = {entry.name: entry.family for entry in chosen}
    groups: dict[str, list[ProgramResult]] = {family: [] for family in families.values()}
    for result in batch.results:
        groups[families[result.name.split("/")[0]]].append(result)
    print_groups(console, "family", groups)
    print_failures(console, batch.results)

    def series_of(result: ProgramResult) -> list[ProgramItem]:
        """The failing program after those of the same test that ran before it."""
        mates = REGISTRY[result.name.split("/")[0]].items()
        names = [item.name for item in mates]
        return mates[: names.index(result.name) + 1]

    reduced = shrink_failures(
        console, args.sim, batch, series_of, rtl=args.design, seconds=args.shrink
    )
    return finish(console, files, batch, groups, reduced)


def select(names: str, quick: bool) -> list[Directed]:
    """Directed programs whose name or family matches one of ``names``.

    Raises:
        UsageError: a name that matches nothing.
    """
    chosen: dict[str, Directed] = {}
    for pattern in names.replace(",", " ").split():
        found = {
            entry.name: entry
            for entry in REGISTRY.values()
            if fnmatchcase(entry.name, pattern) or fnmatchcase(entry.family, pattern)
        }
        if not found:
            known = [*REGISTRY, *dict.fromkeys(entry.family for entry in REGISTRY.values())]
            close = difflib.get_close_matches(pattern, known, n=3)
            hint = f"did you mean {', '.join(close)}?" if close else "see make directed LIST=1"
            raise UsageError(f"NAME={pattern}: no such directed program; {hint}")
        chosen.update(found)
    kept = [entry for entry in chosen.values() if not (quick and entry.slow)]
    if not kept:
        raise UsageError(f"NAME={names}: nothing to play")
    return kept


if __name__ == "__main__":
    run("directed", main)
