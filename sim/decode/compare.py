"""The decode workload in both simulators, which must also agree with each other (``make compare``).

Each simulator is compared with the model as in the main job. On top of that, final memory, the
five counters and every retire record of every program must be the same in both.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from rich.console import Console

from sim.decode.job import by_window, compile_runs, decode_job
from sim.decode.options import add_decode_options, decode_options
from sim.decode.report import print_heading, print_verdicts, verdict
from sim.engine.play import Simulation, play, simulator_version
from sim.shared.cli import Parser, run
from sim.shared.failures import print_failures
from sim.shared.files import write_json
from sim.shared.paths import SIMULATORS, shown
from sim.shared.results import Verdict, write_junit
from verif.items.result import ProgramResult

SHOWN = 5


def main() -> int:
    """Play the workload twice and compare; return 0 only if both matched and agree."""
    parser = Parser(prog="compare", description=__doc__)
    add_decode_options(parser)
    args = parser.parse_args()
    options = decode_options(args)
    console = Console(highlight=False)
    started = time.perf_counter()

    versions = {sim: simulator_version(sim) for sim in SIMULATORS}
    runs = compile_runs(options)
    print_heading(console, " and ".join(f"{s} {v}" for s, v in versions.items()), options.first)
    job = decode_job(runs, {"keep_retires": True})
    played = {
        sim: play(console, [Simulation(job, sim)], waves_of_failure=True) for sim in SIMULATORS
    }
    for sim, outcome in played.items():
        console.print(f"{sim} against the model")
        print_verdicts(console, by_window(runs, outcome.results))
        print_failures(console, outcome.results)

    first, second = (played[sim].results for sim in SIMULATORS)
    names = [item.name for item in job.items]
    differences = compare_results(names, first, second)
    for name, what in differences[:SHOWN]:
        console.print(f"[bold red]DIFFERENT[/] {name}: {what}", soft_wrap=True)
    agreed = not differences and bool(names)
    records = sum(len(result.retires or ()) for result in first)
    console.print(
        f"{' and '.join(SIMULATORS)}: {verdict(agreed)}  {len(names)} programs, {records:,} retire "
        f"records, {len(differences)} differences",
        soft_wrap=True,
    )
    passed = agreed and all(outcome.passed for outcome in played.values())
    seconds = time.perf_counter() - started
    write_json(
        args.results / "compare.json",
        {
            "simulators": versions,
            "passed": passed,
            "programs": len(names),
            "retire_records": records,
            "differences": [f"{name}: {what}" for name, what in differences],
            "seconds": round(seconds, 3),
        },
    )
    found = dict(differences)
    cases = [Verdict(name, name not in found, found.get(name, "")) for name in names]
    write_junit(args.results / "compare.xml", [("compare", cases)])
    console.print(
        f"{verdict(passed)}  {seconds:.1f} s; {shown(args.results / 'compare')}.json and .xml"
    )
    return 0 if passed else 1


def compare_results(
    names: Sequence[str], first: Sequence[ProgramResult], second: Sequence[ProgramResult]
) -> list[tuple[str, str]]:
    """Compare what two simulators said about the same programs; return (program, difference).

    A program that one of them did not finish, or that left nothing to compare, is a difference.
    """
    sides = [{result.name: result for result in results} for results in (first, second)]
    differences = []
    for name in names:
        one, other = (side.get(name) for side in sides)
        if one is None or other is None:
            differences.append((name, "not finished in both"))
        elif difference := compare_programs(one, other):
            differences.append((name, difference))
    return differences


def compare_programs(one: ProgramResult, other: ProgramResult) -> str:
    """Say how two results of one program differ, empty if they do not."""
    # A program of one HALT has no retire records, but it has a list of them.
    if not (one.memory_digest and one.counters) or one.retires is None:
        return "left no memory, counters or retire records to compare"
    if one.counters != other.counters:
        return f"counters {one.counters} and {other.counters}"
    fault, other_fault = ((r.fault, r.fault_code, r.fault_pc) for r in (one, other))
    if fault != other_fault:
        return f"fault outputs {fault} and {other_fault}"
    if one.retires != other.retires:
        pairs = zip(one.retires, other.retires or [], strict=False)
        index = next((i for i, (a, b) in enumerate(pairs) if a != b), None)
        return "numbers of retire records" if index is None else f"retire record {index}"
    return "" if one.memory_digest == other.memory_digest else "final memory"


if __name__ == "__main__":
    run("compare", main)
