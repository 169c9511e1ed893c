"""Which check finds which realistic fault, and how soon (``make faults``)."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.markup import escape

from model.errors import check_int
from sim.engine.design import Design, design_option
from sim.engine.play import Simulation, play
from sim.mutate.realistic.faults import Fault, load_faults, plant
from sim.shared.cli import Parser, integer, run
from sim.shared.errors import UsageError
from sim.shared.files import write_json
from sim.shared.paths import RESULTS, RTL, shown
from sim.shared.progress import ProgramProgress
from sim.shared.results import Verdict, write_junit
from sim.shared.table import format_table
from verif.items.job import Job
from verif.items.program_item import ProgramItem
from verif.items.result import ProgramResult
from verif.stimulus.directed import REGISTRY

SIM = "verilator"
_NAMED = re.compile(r"pc \d+ `(?:\.word \w+ ; )?(\w+)")


class FoundError(Exception):
    """A program failed: the fault is found, the simulation need not go on."""


@dataclass
class Detection:
    """What one series of programs says of a fault.

    Attributes:
        programs: how many were played until one failed, that one included; None: none failed.
        check: kind of its first mismatch; ``crash`` when the simulation died.
        named: the operation that was named as the first wrong one.
    """

    programs: int | None = None
    check: str = ""
    named: str = ""


def detect(design: Path, number: int, job: Job, programs: int) -> Detection:
    """Play programs until one fails."""
    found = Detection()
    played = 0

    def look(result: ProgramResult) -> None:
        nonlocal played
        played += 1
        if not result.passed:
            named = _NAMED.match(result.first_divergence)
            found.programs = played
            found.check = result.mismatches[0].kind if result.mismatches else "nothing"
            found.named = named[1] if named else ""
            raise FoundError

    simulation = Simulation(
        job, SIM, programs=programs, build={"rtl": design}, plusargs=(f"+bug={number}",)
    )
    try:
        batch = play(Console(quiet=True), [simulation], quiet=True, on_result=look)
    except FoundError:
        return found
    if batch.errors:
        found.programs, found.check = played + 1, "crash"
    return found


def directed_items() -> list[ProgramItem]:
    """All directed programs but those of many cycles."""
    return [item for entry in REGISTRY.values() if not entry.slow for item in entry.items()]


def right(fault: Fault, found: Detection) -> str:
    """Whether the right instruction was named: yes, no, or nothing where there is none to name."""
    if not fault.operation or found.programs is None:
        return ""
    return "yes" if found.named == fault.operation else "no"


def record(fault: Fault, directed: Detection, drawn: Detection) -> dict[str, Any]:
    """One row of the detection table, for other tools."""
    return {
        "name": fault.name,
        "about": fault.about,
        "kind": fault.kind,
        "operation": fault.operation,
        "file": fault.file,
        "directed": {**vars(directed), "right": right(fault, directed)},
        "random": {**vars(drawn), "right": right(fault, drawn)},
    }


def select(names: str) -> list[tuple[int, Fault]]:
    """Faults whose name matches one of ``names``, with their numbers.

    Raises:
        UsageError: a name matches nothing.
    """
    faults = list(enumerate(load_faults(), 1))
    chosen: dict[int, Fault] = {}
    for pattern in names.replace(",", " ").split():
        found = {number: fault for number, fault in faults if fnmatchcase(fault.name, pattern)}
        if not found:
            raise UsageError(f"NAME={pattern}: no such fault; they are in tests/realistic_faults")
        chosen.update(found)
    if not chosen:
        raise UsageError("NAME is empty: give names of faults, or *")
    return sorted(chosen.items())


def table(rows: list[dict[str, Any]]) -> str:
    """The detection table as text."""
    head = ("fault", "kind", "directed", "check", "named", "random", "check", "named")
    cells = [head]
    for row in rows:
        parts = [row["name"], row["kind"]]
        for way in ("directed", "random"):
            found = row[way]
            parts += [str(found["programs"] or "-"), found["check"], found["right"]]
        cells.append(tuple(parts))
    return format_table(cells, "<<><<><<")


def main() -> int:
    """Play the programs on every fault; 0 when each was found and named."""
    parser = Parser(prog="faults", description=__doc__)
    parser.add_argument("--name", default="*", help="names; * and ? are wildcards")
    parser.add_argument("--count", type=integer, default=2000, help="random programs at most")
    parser.add_argument("--seed", type=integer, default=1)
    parser.add_argument("--rtl", type=design_option, default=None, help="folder of the design")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the result files")
    args = parser.parse_args()
    check_int("n", args.count, 1)
    chosen = select(args.name)
    design = args.rtl or Design.load(RTL)
    console = Console(highlight=False)
    items = directed_items()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        planted = plant(design, load_faults(), Path(folder) / "rtl")
        drawn = Job("random", random_parameters(args.seed, args.count))
        with ProgramProgress(console, "faults", len(chosen)) as progress:
            for number, fault in chosen:
                directed = detect(planted, number, Job(items=items), len(items))
                random = detect(planted, number, drawn, args.count)
                rows.append(record(fault, directed, random))
                found = directed.programs is not None or random.programs is not None
                progress.finished(fault.name, found, 0)
    console.print(escape(table(rows)), soft_wrap=True)
    return report(console, args, design, rows)


def random_parameters(seed: int, count: int) -> dict[str, Any]:
    """Programs of all profiles in turn."""
    return {
        "seed": seed,
        "profile": "all",
        "first": 0,
        "count": count,
        "where": f"SIM={SIM}",
        "coverage": False,
    }


def report(console: Console, args: Any, design: Design, rows: list[dict[str, Any]]) -> int:
    """Print the sums, write the files; 0 when each fault was found and rightly named."""
    needed = [row["random"]["programs"] for row in rows if row["random"]["programs"]]
    missed = [
        row["name"]
        for row in rows
        if not (row["random"]["programs"] or row["directed"]["programs"])
    ]
    wrong = [
        row["name"] for row in rows if "no" in (row["random"]["right"], row["directed"]["right"])
    ]
    figures = {
        "faults": len(rows),
        "random": len(needed),
        "directed": sum(1 for row in rows if row["directed"]["programs"]),
        "median": median(needed) if needed else None,
        "worst": max(needed, default=None),
        "limit": args.count,
    }
    console.print(
        f"random programs find {len(needed)} of {len(rows)} within {args.count:,}: "
        f"median {figures['median']}, worst {figures['worst']}; directed {figures['directed']}"
    )
    for what, names in (("not found", missed), ("another instruction named", wrong)):
        if names:
            console.print(f"{what}: {', '.join(names)}", soft_wrap=True)
    passed = not missed and not wrong
    data = {
        "passed": passed,
        "design": design.to_json(),
        "seed": args.seed,
        **figures,
        "table": rows,
    }
    args.results.mkdir(parents=True, exist_ok=True)
    write_json(args.results / "faults.json", data, indent=1)
    cases = [
        Verdict(
            row["name"], row["name"] not in (*missed, *wrong), f"{row['about']}: not found or named"
        )
        for row in rows
    ]
    write_junit(args.results / "faults.xml", [("faults", cases)])
    word = "[bold green]PASS[/]" if passed else "[bold red]FAIL[/]"
    console.print(
        f"{word}  {len(rows)} realistic faults; {shown(args.results / 'faults')}.json and .xml"
    )
    return 0 if passed else 1


if __name__ == "__main__":
    run("faults", main)
