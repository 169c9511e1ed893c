"""Reduce a failing program, save it, and say how to replay it (``make shrink FAILURE=...``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from sim.engine.builds import build
from sim.engine.compilers import BuildError
from sim.engine.design import Design, design_of, design_option, print_design
from sim.engine.job_folder import job_path
from sim.engine.job_record import JobRecord
from sim.engine.job_result import SimulationError
from sim.engine.play import Batch
from sim.engine.simulator import simulate
from sim.programs.reproducer import Reproducer, save, stem
from sim.shared.cli import Parser, integer, run
from sim.shared.errors import UsageError
from sim.shared.failures import failure_text
from sim.shared.paths import RTL, SIMULATORS, WAVES, shown
from sim.shared.results import print_verdict
from verif.items.job import Job, JobError, load_job
from verif.items.program_item import ProgramItem
from verif.items.result import ProgramResult
from verif.shrink.failure import FailureClass, failure_class
from verif.shrink.report import REPORT, SHRUNK, ShrinkReport

DEFAULT_SECONDS = 30
MOST = 3
SeriesOf = Callable[[ProgramResult], list[ProgramItem]]


@dataclass(frozen=True)
class Shrunk:
    """A reduced failure.

    Attributes:
        saved: its files.
        result: what the testbench says about it in a simulation of its own; None when it passes
            there.
        report: how the search went.
        waves: of that simulation.
    """

    saved: Reproducer
    result: ProgramResult | None
    report: ShrinkReport
    waves: Path | None


def shrink(
    sim: str,
    items: Sequence[ProgramItem],
    *,
    rtl: Path | Design = RTL,
    seconds: float = DEFAULT_SECONDS,
    folder: Path | None = None,
    waves: bool = False,
    plusargs: tuple[str, ...] = (),
    seed: int = 1,
    more: Mapping[str, Any] | None = None,
) -> Shrunk | None:
    """Reduce a failing program in one simulation, save it, and play what was saved afresh.

    Args:
        sim: icarus or verilator.
        items: programs in order; the last one fails, alone or after the others.
        rtl: the design, or its folder.
        seconds: how long the search may take.
        folder: where the reduced program goes; None: among the failures of the design.
        waves: record waves of the reduced program.
        plusargs: for the simulator.
        seed: of Python's ``random`` in the simulator.
        more: arguments of ``sim.engine.builds.build`` beside the design.

    Returns:
        None when it did not fail again.

    Raises:
        BuildError, SimulationError: the design does not compile, or the simulator died.
    """
    design, more = design_of(rtl), dict(more or {})
    job = Job("shrink", {"seconds": seconds}, list(items))
    played = job_path(sim)
    common: dict[str, Any] = {"plusargs": plusargs, "seed": seed}
    built = build(sim, rtl=design, **more)
    try:
        simulate(sim, job, built=built, timeout=10 * seconds + 600, folder=played, **common)
    except SimulationError:
        # The last candidate may have left the bus busy; what was found before that counts.
        if not (played / REPORT).exists():
            raise
    report = ShrinkReport.load(played)
    if not report.reproduced:
        return None
    series = load_job(played / SHRUNK).items
    target = design.output(WAVES.name) / f"{stem(series[-1].name)}-{sim}" if waves else None
    built = build(sim, rtl=design, waves=waves, **more)
    again = simulate(sim, Job("items", {}, series), built=built, waves=target, **common)
    last = again.results[-1] if again.results else None
    failed = last if last and not last.passed else None
    text = failure_text(failed) if failed else "passes in a simulation of its own"
    saved = save(sim, series, text, rtl=design, folder=folder, more=more, **common)
    return Shrunk(saved, failed, report, again.waves)


def print_shrunk(console: Console, name: str, shrunk: Shrunk | None) -> None:
    """Say what became of a failing program."""
    if shrunk is None:
        console.print(f"{escape(name)}: did not fail again, so it was not reduced")
        return
    saved, report = shrunk.saved, shrunk.report
    count = "1 instruction" if saved.instructions == 1 else f"{saved.instructions} instructions"
    what = count if saved.programs == 1 else f"{saved.programs} programs, the last of {count}"
    early = "" if report.finished else ", out of time"
    console.print(
        f"[bold]reduced[/] {escape(name)} to {what} ({report.candidates} candidates, "
        f"{report.seconds:.1f} s{early}): {shown(saved.path)}",
        soft_wrap=True,
    )
    listing = [line for line in saved.path.read_text().splitlines() if not line.startswith(";")]
    for line in listing[:8]:
        console.print(f"    {escape(line)}", soft_wrap=True)
    if shrunk.result:
        wrong = shrunk.result.first_divergence or shrunk.result.mismatches[0].message
        console.print(f"  {escape(wrong)}", soft_wrap=True)
    else:
        console.print("  [yellow]it passes in a simulation of its own[/]: it needs what ran before")
    console.print(f"  replay: {escape(saved.command)}", soft_wrap=True)
    if shrunk.waves:
        console.print(f"  waves: {shown(shrunk.waves)}", soft_wrap=True)


def shrink_failures(
    console: Console,
    sim: str,
    batch: Batch,
    series_of: SeriesOf,
    *,
    rtl: Path | Design,
    seconds: float,
) -> dict[str, Shrunk]:
    """Reduce the first failing program of each class of failures, of ``MOST`` classes at most.

    Args:
        console: where to say what came of it.
        sim: icarus or verilator.
        batch: what was played.
        series_of: gives a failing program as it was played, after those that ran before it.
        rtl: the design, or its folder.
        seconds: for each; 0 reduces none.

    Returns:
        By the program's name.
    """
    done: dict[str, Shrunk] = {}
    seen: set[FailureClass] = set()
    for result in batch.failed if seconds > 0 else ():
        kind = failure_class(result)
        item = batch.kept(result)
        if kind is None or kind in seen or item is None or len(seen) >= MOST:
            continue
        seen.add(kind)
        try:
            with console.status(f"reducing {result.name}"):
                *before, played = series_of(result)
                items = [*before, replace(played, spad=item.spad, image=item.image, inherits=False)]
                shrunk = shrink(sim, items, rtl=rtl, seconds=seconds, waves=not done)
        except (BuildError, SimulationError) as error:
            console.print(f"{escape(result.name)} was not reduced: {escape(str(error))}")
            continue
        print_shrunk(console, result.name, shrunk)
        if shrunk:
            done[result.name] = shrunk
    return done


def main() -> int:
    """Reduce the program of a kept job; 0 when it was reduced."""
    parser = Parser(prog="shrink", description=__doc__)
    parser.add_argument("--failure", type=Path, required=True, help="build/jobs/<job>/failing/<n>")
    parser.add_argument("--sim", choices=SIMULATORS, help="in another simulator")
    parser.add_argument("--rtl", dest="design", type=design_option, help="on another design")
    parser.add_argument("--waves", action="store_true", help="record waves of what is left")
    parser.add_argument("--seconds", type=integer, default=DEFAULT_SECONDS)
    args = parser.parse_args()
    console = Console(highlight=False)
    try:
        items = load_job(args.failure).items
    except JobError as error:
        raise UsageError(str(error)) from None
    if not items:
        raise UsageError(f"{args.failure}: the job has no programs")
    record = JobRecord.load(args.failure)
    sim = args.sim or record.sim
    more = record.build(args.design or record.design())
    design = more.pop("rtl")
    print_design(console, design)
    try:
        with console.status(f"replaying simpler programs on {sim}"):
            shrunk = shrink(
                sim,
                items,
                rtl=design,
                seconds=args.seconds,
                waves=args.waves,
                plusargs=record.plusargs if sim == record.sim else (),
                seed=record.seed,
                more=more,
            )
    except (BuildError, SimulationError) as error:
        print_verdict(console, False, str(error))
        return 1
    print_shrunk(console, items[-1].name, shrunk)
    return 0 if shrunk and shrunk.result else 1


if __name__ == "__main__":
    run("shrink", main)
