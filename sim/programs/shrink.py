"""Reduce a failing program, save it, and say how to replay it (``make shrink FAILURE=...``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from sim.engine.builds import BuildError, build
from sim.engine.design import Design, add_design_option
from sim.engine.job_folder import job_path
from sim.engine.play import Batch
from sim.engine.simulator import SimulationError, simulate
from sim.programs.reproducer import FAILURES, Reproducer, save, stem
from sim.shared.cli import Parser, add_simulator_options, integer, run
from sim.shared.errors import UsageError
from sim.shared.failures import failure_text
from sim.shared.paths import RTL, WAVES, shown
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
    folder: Path = FAILURES,
    waves: bool = False,
    plusargs: tuple[str, ...] = (),
) -> Shrunk | None:
    """Reduce a failing program in one simulation, save it, and play what was saved afresh.

    Args:
        sim: icarus or verilator.
        items: programs in order; the last one fails, alone or after the others.
        rtl: the design, or its folder.
        seconds: how long the search may take.
        folder: where the reduced program goes.
        waves: record waves of the reduced program.
        plusargs: for the simulator.

    Returns:
        None when it did not fail again.

    Raises:
        BuildError, SimulationError: the design does not compile, or the simulator died.
    """
    job = Job("shrink", {"seconds": seconds}, list(items))
    played = job_path(sim)
    try:
        simulate(sim, job, rtl=rtl, timeout=10 * seconds + 600, plusargs=plusargs, folder=played)
    except SimulationError:
        # The last candidate may have left the bus busy; what was found before that counts.
        if not (played / REPORT).exists():
            raise
    report = ShrinkReport.load(played)
    if not report.reproduced:
        return None
    series = load_job(played / SHRUNK).items
    target = WAVES / f"{stem(series[-1].name)}-{sim}" if waves else None
    again = simulate(sim, Job("items", {}, series), rtl=rtl, waves=target, plusargs=plusargs)
    last = again.results[-1] if again.results else None
    failed = last if last and not last.passed else None
    text = failure_text(failed) if failed else "passes in a simulation of its own"
    saved = save(sim, series, text, rtl=rtl, plusargs=plusargs, folder=folder)
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
                items = [*before, replace(played, spad=item.spad)]
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
    add_simulator_options(parser)
    add_design_option(parser)
    parser.add_argument("--failure", type=Path, required=True, help="build/jobs/<job>/failing/<n>")
    parser.add_argument("--seconds", type=integer, default=DEFAULT_SECONDS)
    args = parser.parse_args()
    console = Console(highlight=False)
    try:
        items = load_job(args.failure).items
        if not items:
            raise UsageError(f"{args.failure}: the job has no programs")
        with console.status(f"building for {args.sim}"):
            build(args.sim, rtl=args.design)
        with console.status("replaying simpler programs"):
            shrunk = shrink(
                args.sim, items, rtl=args.design, seconds=args.seconds, waves=args.waves
            )
    except JobError as error:
        raise UsageError(str(error)) from None
    except (BuildError, SimulationError) as error:
        print_verdict(console, False, str(error))
        return 1
    print_shrunk(console, items[-1].name, shrunk)
    return 0 if shrunk and shrunk.result else 1


if __name__ == "__main__":
    run("shrink", main)
