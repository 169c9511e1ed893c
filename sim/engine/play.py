"""Playing jobs for a front end: build, simulate side by side, show progress, collect what came."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from sim.engine.builds import Build, build
from sim.engine.compilers import BuildError, compiler_version
from sim.engine.design import design_of
from sim.engine.job_folder import job_path
from sim.engine.job_result import JobResult, SimulationError
from sim.engine.simulator import OnResult, simulate
from sim.shared.paths import RTL, WAVES, shown
from sim.shared.progress import ProgramProgress
from sim.shared.results import print_verdict
from verif.items.job import FAILING, Job, load_job
from verif.items.program_item import ProgramItem
from verif.items.result import ProgramResult


@dataclass(frozen=True)
class Simulation:
    """One job in one simulator.

    Attributes:
        job: what to play.
        sim: icarus or verilator.
        programs: how many that makes; None: the job's items.
        title: stands before the names of its programs in the progress.
        build: what to build, arguments of ``sim.engine.builds.build``.
        folder: of the job; None makes a new one.
        plusargs: for the simulator.
        seed: of Python's ``random`` in the simulator.
    """

    job: Job
    sim: str
    programs: int | None = None
    title: str = ""
    build: Mapping[str, Any] = field(default_factory=dict)
    folder: Path | None = None
    plusargs: tuple[str, ...] = ()
    seed: int = 1

    @property
    def expected(self) -> int:
        """Programs to come."""
        return len(self.job.items) if self.programs is None else self.programs


@dataclass
class Batch:
    """What came of some simulations.

    Attributes:
        simulations: what was to be played.
        runs: what came of each, in the same order, also of those that did not build or died.
        workers: simulators that ran at the same time.
    """

    simulations: Sequence[Simulation]
    runs: list[JobResult] = field(default_factory=list)
    workers: int = 1

    def each(self) -> Iterator[tuple[Simulation, JobResult]]:
        """Every simulation with what came of it."""
        return zip(self.simulations, self.runs, strict=True)

    @property
    def programs(self) -> int:
        """How many programs were to be played."""
        return sum(simulation.expected for simulation in self.simulations)

    @property
    def results(self) -> list[ProgramResult]:
        """Of all programs, in the order of the simulations."""
        return [result for run in self.runs for result in run.results]

    @property
    def errors(self) -> list[str]:
        """What went wrong beside programs: no build, a crash, a time-out, programs missing."""
        return [run.error for run in self.runs if run.error]

    @property
    def failed(self) -> list[ProgramResult]:
        """The programs that failed."""
        return [result for result in self.results if not result.passed]

    @property
    def passed(self) -> bool:
        """All programs were played, compared and matched."""
        complete = len(self.results) == self.programs > 0
        return complete and not self.errors and all(run.passed for run in self.runs)

    @property
    def rate(self) -> float:
        """Programs a second in the simulation phase, by the simulators that ran together."""
        seconds = sum(float(run.summary.get("seconds", 0)) for run in self.runs)
        return self.workers * len(self.results) / seconds if seconds else 0.0

    def kept(self, result: ProgramResult) -> ProgramItem | None:
        """The failing program with the scratchpad it started from, if it was kept."""
        for run in self.runs:
            failed = [one.name for one in run.failed]
            if result.name in failed:
                folder = run.folder / FAILING / str(failed.index(result.name))
                return load_job(folder).items[0] if folder.exists() else None
        return None


def simulator_version(sim: str) -> str:
    """Return the simulator's version number, e.g. 11.0.

    Raises:
        BuildError: it is not installed.
    """
    said = compiler_version(sim)
    number = re.search(r"\d+(\.\d+)+", said)
    return number.group() if number else said


def play(
    console: Console,
    simulations: Sequence[Simulation],
    *,
    workers: int = 1,
    waves: bool = False,
    waves_of_failure: bool = False,
    title: str = "",
    quiet: bool = False,
    on_result: OnResult | None = None,
) -> Batch:
    """Build what is missing and play all, ``workers`` simulators at a time.

    What goes wrong beside programs is printed and in the batch, which has then not passed.

    Args:
        console: where to show progress, problems and where waves are.
        simulations: what to play.
        workers: simulators that run at the same time.
        waves: record waves of everything.
        waves_of_failure: play the first failing program once more, alone and with waves.
        title: of the progress; the simulators' names otherwise.
        quiet: no progress.
        on_result: called with each program's result as soon as it is known; what it raises ends
            all simulations and comes out here.
    """
    batch = Batch(simulations, workers=min(workers, max(1, len(simulations))))
    builds = [_build(console, one, waves) for one in simulations]
    stop = threading.Event()
    title = title or "+".join(dict.fromkeys(one.sim for one in simulations))

    def play_one(number: int) -> JobResult:
        one, made = simulations[number], builds[number]
        if isinstance(made, JobResult):
            return made

        def finished(result: ProgramResult) -> None:
            name = f"{one.title}: {result.name}" if one.title else result.name
            progress.finished(name, result.passed, result.counters.get("total", 0))
            if on_result:
                on_result(result)

        target = _wave_file(one, number, len(simulations)) if waves else None
        return _simulate(one, made, target, finished, stop)

    with (
        ProgramProgress(console, title, batch.programs, quiet) as progress,
        ThreadPoolExecutor(max_workers=batch.workers) as pool,
    ):
        futures = [pool.submit(play_one, number) for number in range(len(simulations))]
        try:
            batch.runs = [future.result() for future in futures]
        except BaseException:
            stop.set()
            for future in futures:
                future.cancel()
            raise
    _print_problems(console, batch)
    if waves_of_failure and not waves and batch.failed:
        _record_failure(console, batch)
    return batch


def _build(console: Console, one: Simulation, waves: bool) -> Build | JobResult:
    """Build what a simulation runs on; a result that says why when that fails."""
    try:
        with console.status(f"building for {one.title or one.sim}"):
            return build(one.sim, waves=waves, **one.build)
    except BuildError as error:
        folder = one.folder or job_path(one.sim)
        return JobResult(folder, folder / "run.log", error=str(error), ended=None)


def _simulate(
    one: Simulation, made: Build, waves: Path | None, on_result: OnResult, stop: threading.Event
) -> JobResult:
    """Run a simulation; what went wrong beside programs is in what it returns."""
    try:
        run = simulate(
            one.sim,
            one.job,
            built=made,
            folder=one.folder,
            waves=waves,
            seed=one.seed,
            plusargs=one.plusargs,
            on_result=on_result,
            stop=stop,
        )
    except SimulationError as error:
        run = error.run
        run.error = str(error)
    if not run.error and len(run.results) != one.expected:
        run.error = f"{len(run.results)} of {one.expected} programs came back"
    return run


def _wave_file(one: Simulation, number: int = 0, count: int = 1) -> Path:
    suffix = f"-{number}" if count > 1 else ""
    folder = design_of(one.build.get("rtl", RTL)).output(WAVES.name)
    return folder / f"{one.sim}-{job_name(one.job)}{suffix}"


def job_name(job: Job) -> str:
    """Name a job's wave file after its first program."""
    name = job.items[0].name if job.items else job.sequence
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")


def _print_problems(console: Console, batch: Batch) -> None:
    """Say what went wrong beside programs, and where waves are."""
    for run in batch.runs:
        if run.error:
            log = f"; log: {shown(run.log)}" if run.log.exists() and not run.died else ""
            print_verdict(console, False, f"{run.error}{log}")
        if run.waves and run.waves.exists():
            console.print(f"waves: {shown(run.waves)}", soft_wrap=True)


def _record_failure(console: Console, batch: Batch) -> None:
    """Play the first failing program once more, alone and with waves; print where they are."""
    one, run = next((one, run) for one, run in batch.each() if run.failed)
    try:
        job = load_job(run.folder / FAILING / "0")
        target = _wave_file(replace(one, job=job))
        with console.status("recording waves of the first failing program"):
            made = build(one.sim, waves=True, **one.build)
            again = simulate(one.sim, job, waves=target, built=made, plusargs=one.plusargs)
    except (BuildError, SimulationError, OSError, RuntimeError) as error:
        console.print(f"no waves of the failing program: {escape(str(error))}", soft_wrap=True)
        return
    what = run.failed[0].name
    note = "" if again.failed else " (alone it passed: it depends on what ran before)"
    if again.waves:
        console.print(f"waves of {escape(what)}: {shown(again.waves)}{note}", soft_wrap=True)
