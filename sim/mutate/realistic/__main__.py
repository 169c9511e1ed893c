"""Which check finds which realistic fault, and how soon (``make faults``)."""

from __future__ import annotations

import os
import tempfile
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console

from model.errors import check_int
from sim.engine.design import add_design_option, design_files
from sim.mutate.realistic.detect import Detection, play_faults
from sim.mutate.realistic.faults import Fault, load_faults, plant
from sim.shared.cli import Parser, integer, run
from sim.shared.errors import UsageError
from sim.shared.junit import Case, Suite
from sim.shared.outcome import Outcome
from sim.shared.results import ResultFiles
from sim.shared.table import format_table


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
    parser.add_argument("--jobs", type=integer, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--results", type=Path, help="folder of the result files")
    add_design_option(parser)
    args = parser.parse_args()
    check_int("n", args.count, 1)
    check_int("jobs", args.jobs, 1)
    chosen = select(args.name)
    console = Console(highlight=False)
    head = {"seed": args.seed, "limit": args.count}
    with (
        design_files("faults", args.design, args.results, **head) as files,
        tempfile.TemporaryDirectory() as folder,
    ):
        planted = plant(args.design, load_faults(), Path(folder) / "rtl")
        found = play_faults(console, planted, chosen, args.seed, args.count, args.jobs)
        return report(console, files, [record(*one) for one in found])


def found(row: dict[str, Any]) -> bool:
    """Some program failed."""
    return bool(row["random"]["programs"] or row["directed"]["programs"])


def misnamed(row: dict[str, Any]) -> bool:
    """Some failure was blamed on another instruction."""
    return "no" in (row["random"]["right"], row["directed"]["right"])


def report(console: Console, files: ResultFiles, rows: list[dict[str, Any]]) -> int:
    """Print the table and the sums, write the files; 0 when each fault was found and named."""
    console.print(table(rows), soft_wrap=True, markup=False)
    needed = [row["random"]["programs"] for row in rows if row["random"]["programs"]]
    figures = {
        "faults": len(rows),
        "random": len(needed),
        "directed": sum(1 for row in rows if row["directed"]["programs"]),
        "median": median(needed) if needed else None,
        "worst": max(needed, default=None),
        "table": rows,
    }
    missed = [row["name"] for row in rows if not found(row)]
    wrong = [row["name"] for row in rows if misnamed(row)]
    for what, names in (("not found", missed), ("another instruction named", wrong)):
        if names:
            console.print(f"{what}: {', '.join(names)}", soft_wrap=True)
    cases = [
        Case(
            row["name"],
            Outcome.of(row["name"] not in (*missed, *wrong)),
            "not found" if row["name"] in missed else "another instruction was named",
        )
        for row in rows
    ]
    text = (
        f"{len(rows)} realistic faults; random programs find {len(needed)}, the median after "
        f"{figures['median']}, the worst after {figures['worst']}; directed programs find "
        f"{figures['directed']}"
    )
    passed = not missed and not wrong
    return files.finish(console, passed, text, figures, [Suite("faults", cases)])


if __name__ == "__main__":
    run("faults", main)
