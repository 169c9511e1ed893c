"""Functional and code coverage of the whole flow, merged, with every hole named (``make cov``).

Plays all directed programs, random ones of each profile and the decode workload; functional
coverage comes from every simulator, code coverage of hw/rtl from Verilator. Fails when a goal is
missed, a program fails, or an exclusion is no longer needed.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from rich.console import Console

from model.errors import check_int
from sim.coverage import code, functional
from sim.coverage.collect import CODE_SIMULATOR, collect, data_files
from sim.coverage.dat import CoverageDataError, read_all
from sim.coverage.exclusions import (
    EXCLUSIONS_FILE,
    Exclusion,
    load_exclusions,
)
from sim.coverage.report import Report, print_report
from sim.coverage.workloads import workloads
from sim.engine.design import (
    Design,
    add_design_option,
    design_files,
    print_design,
    show_report,
)
from sim.engine.job_record import RECORD
from sim.engine.play import Batch
from sim.shared.cli import Parser, integer, run
from sim.shared.errors import UsageError
from sim.shared.failures import program_cases, simulation_case
from sim.shared.files import read_json
from sim.shared.junit import Case, Suite
from sim.shared.outcome import Outcome
from sim.shared.paths import BUILD, SIMULATORS, shown
from sim.shared.results import ResultFiles
from verif.items.job import COVERAGE_FILE
from verif.plan import Plan, load_plan

FOLDER = BUILD / "cov"
RUNS = "runs"
PROGRAMS = {"verilator": 200, "icarus": 10}  # of each profile; Icarus takes 50 times as long
EXPECTED = (CoverageDataError, functional.FunctionalDataError)


def main() -> int:
    """Play, merge, report; 0 when every goal is met."""
    parser = Parser(prog="cov", description=__doc__)
    parser.add_argument("--sim", choices=SIMULATORS, help="only this one (default: both)")
    parser.add_argument("--programs", type=integer, help="random programs of each profile")
    parser.add_argument("--seed", type=integer, default=1, help="of the random programs")
    parser.add_argument("--jobs", type=integer, help="simulations at the same time")
    parser.add_argument("--also", type=Path, action="append", default=[], help="of other runs")
    parser.add_argument("--folder", type=Path, help="for the data")
    parser.add_argument("--results", type=Path, help="for coverage.json")
    add_design_option(parser)
    args = parser.parse_args()
    if args.programs is not None:
        check_int("n", args.programs, 0)
    if args.jobs is not None:
        check_int("jobs", args.jobs, 1)
    for folder in args.also:
        if not any(data_files([folder])):
            raise UsageError(f"ALSO={folder}: no folder with coverage data, as {shown(FOLDER)} is")
        check_design(folder, args.design)
    with design_files("coverage", args.design, args.results) as files:
        return cover(args, files)


def check_design(also: Path, design: Design) -> None:
    """Refuse coverage of other runs that were about another design, or about this before an edit.

    Raises:
        UsageError: naming the run.
    """
    for path in (file for files in data_files([also]) for file in files):
        played = read_json(path.with_name(RECORD)) or {}
        # A regression moves the data of a job beside its record, which holds the hash.
        job = read_json(path.with_name("record.json")) or {}
        known = played.get("request", {}).get("design", {}).get("hash") or job.get("design")
        if known and known != design.hash:
            raise UsageError(f"ALSO={also}: {shown(path)} is of design {known}, not of {design}")


def cover(args: argparse.Namespace, files: ResultFiles) -> int:
    """Do it all; return the exit code."""
    design: Design = args.design
    target = args.folder or design.output(FOLDER.name)
    begin = time.monotonic()
    sims = [args.sim] if args.sim else ["icarus", "verilator"]
    console = Console(highlight=False)
    print_design(console, design)
    try:
        # Mistakes in these files are told before the simulations, not after.
        plan = load_plan()
        # What is left out is said of lines of the own design.
        exclusions = load_exclusions(EXCLUSIONS_FILE) if design.is_own else []
        counts = PROGRAMS if args.programs is None else dict.fromkeys(sims, args.programs)
        loads = {sim: workloads(sim, counts[sim], args.seed, design=design) for sim in sims}
        jobs = args.jobs or 0
        played = collect(console, loads, target / RUNS, files.folder, jobs=jobs, design=design)
        report = measure(played, plan, exclusions, target, args.also, begin, design)
    except EXPECTED as error:
        raise UsageError(str(error)) from error
    print_report(console, report)
    cases = [Case(f"problem {n}", Outcome.FAILED, p) for n, p in enumerate(report.problems, 1)]
    return files.finish(
        console,
        not report.problems,
        f"coverage, {report.seconds:.0f} s; {show_report(design)} shows it",
        report.to_json(),
        [
            Suite("coverage.programs", program_cases(report.played.results)),
            Suite("coverage", [*cases, simulation_case(report.played.errors)]),
        ],
    )


def measure(
    played: Batch,
    plan: Plan,
    exclusions: list[Exclusion],
    folder: Path,
    also: list[Path],
    begin: float,
    design: Design,
) -> Report:
    """Merge what the simulations left."""
    by_simulator = {}
    files: list[Path] = []
    for sim in dict.fromkeys(one.sim for one in played.simulations):
        own, _ = data_files([run.folder for one, run in played.each() if one.sim == sim])
        files += own
        merged = folder / f"{sim}-{COVERAGE_FILE}"
        functional.merge(own, merged)
        by_simulator[sim] = functional.measure(merged, plan)
    more, more_code = data_files(also)
    for path in more:
        # Of another plan, perhaps: merging would mix up the bins.
        functional.measure(path, plan)
    functional.merge(files + more, folder / COVERAGE_FILE)
    _, data = data_files([run.folder for one, run in played.each() if one.sim == CODE_SIMULATOR])
    measured = None
    if data or more_code:
        sources = code.read_sources(design)
        measured = code.measure(read_all(data + more_code), sources, exclusions)
    return Report(
        played,
        functional.measure(folder / COVERAGE_FILE, plan),
        by_simulator,
        measured,
        time.monotonic() - begin,
    )


if __name__ == "__main__":
    run("cov", main)
