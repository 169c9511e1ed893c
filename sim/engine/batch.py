"""Playing jobs side by side with one progress, and collecting what failed."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from sim.engine.builds import build
from sim.engine.simulator import JobResult, SimulationError, simulate
from sim.shared.paths import BUILD, RTL, shown
from sim.shared.progress import ProgramProgress
from verif.items.job import FAILING, Job, load_job
from verif.items.program_item import ProgramItem
from verif.items.result import ProgramResult


@dataclass
class Batch:
    """What came of the jobs.

    Attributes:
        results: of all programs, in the order of the jobs.
        runs: of the jobs that ended, in their order.
        errors: what went wrong beside programs: a crash, a time-out.
        programs: how many were to be played.
        workers: simulators that ran at the same time.
    """

    programs: int
    workers: int = 1
    results: list[ProgramResult] = field(default_factory=list)
    runs: list[JobResult] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    @property
    def failed(self) -> list[ProgramResult]:
        """The programs that failed."""
        return [result for result in self.results if not result.passed]

    @property
    def passed(self) -> bool:
        """All programs were played, compared and matched."""
        complete = len(self.results) >= self.programs > 0
        return complete and not self.errors and all(run.passed for run in self.runs)

    @property
    def rate(self) -> float:
        """Programs a second in the simulation phase, by the simulators that ran together."""
        seconds = sum(float(run.summary["seconds"]) for run in self.runs)
        return self.workers * len(self.results) / seconds if seconds else 0.0

    def kept(self, result: ProgramResult) -> ProgramItem | None:
        """The failing program with the scratchpad it started from, if it was kept."""
        for run in self.runs:
            failed = [one.name for one in run.failed]
            if result.name in failed:
                folder = run.folder / FAILING / str(failed.index(result.name))
                return load_job(folder).items[0] if folder.exists() else None
        return None


def play_batch(
    console: Console,
    sim: str,
    jobs: Sequence[Job],
    programs: int,
    *,
    workers: int = 1,
    waves: bool = False,
    rtl: Path = RTL,
) -> Batch:
    """Build what is missing and play all jobs, ``workers`` simulators at a time.

    Args:
        console: where to show progress and what went wrong beside programs.
        sim: icarus or verilator.
        jobs: what to play.
        programs: how many that makes, for the progress.
        workers: simulators that run at the same time.
        waves: record waves of each job.
        rtl: folder of the design.

    Raises:
        BuildError: the design does not compile.
    """
    with console.status(f"building for {sim}"):
        built = build(sim, waves=waves, rtl=rtl)
    batch = Batch(programs, min(workers, len(jobs)))
    stop = threading.Event()
    played: list[list[ProgramResult]] = [[] for _ in jobs]

    def play(number: int) -> JobResult | str:
        target = BUILD / "waves" / f"{sim}-{jobs[number].sequence}-{number}" if waves else None

        def finished(result: ProgramResult) -> None:
            if stop.is_set():
                raise InterruptedError("another simulation was interrupted")
            played[number].append(result)
            progress.finished(result.name, result.passed, result.counters.get("total", 0))

        try:
            return simulate(
                sim, jobs[number], built=built, rtl=rtl, waves=target, on_result=finished
            )
        except SimulationError as error:
            return str(error)

    with (
        ProgramProgress(console, sim, programs) as progress,
        ThreadPoolExecutor(max_workers=workers) as pool,
    ):
        try:
            outcomes = list(pool.map(play, range(len(jobs))))
        except BaseException:
            stop.set()
            raise
    for outcome, results in zip(outcomes, played, strict=True):
        batch.results += results
        if isinstance(outcome, str):
            batch.errors.append(outcome)
            continue
        batch.runs.append(outcome)
        if outcome.error:
            batch.errors.append(f"{outcome.error}; log: {shown(outcome.log)}")
    for text in batch.errors:
        console.print(f"[bold red]FAIL[/] {escape(text)}", soft_wrap=True)
    for run in batch.runs:
        if run.waves:
            console.print(f"waves: {shown(run.waves)}", soft_wrap=True)
    return batch
