"""Plays workloads and leaves their coverage data, one folder a simulation."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from sim.coverage.workloads import Workload
from sim.engine.builds import Build, build
from sim.engine.simulator import OnResult, SimulationError, simulate
from sim.shared.progress import ProgramProgress
from sim.shared.test_log import record_programs
from verif.items.job import COVERAGE_FILE
from verif.items.result import ProgramResult

CODE_FILE = "coverage.dat"
CODE_SIMULATOR = "verilator"


@dataclass
class Played:
    """What came of one workload in one simulator.

    Attributes:
        sim: simulator.
        name: of the workload.
        folder: holds its coverage data.
        results: of its programs.
        error: why the simulation as a whole is no good, empty otherwise.
        seconds: wall-clock time, start-up included.
    """

    sim: str
    name: str
    folder: Path
    results: list[ProgramResult] = field(default_factory=list)
    error: str = ""
    seconds: float = 0.0

    @property
    def failed(self) -> list[ProgramResult]:
        """The programs that failed."""
        return [result for result in self.results if not result.passed]


def collect(
    console: Console,
    plan: dict[str, list[Workload]],
    folder: Path,
    recorded: Path,
    *,
    jobs: int = 0,
    seed: int = 1,
) -> list[Played]:
    """Play the workloads of every simulator.

    Args:
        console: where to show progress.
        plan: workloads by simulator.
        folder: gets a folder for each simulation; emptied first.
        recorded: where it is noted which tests ran.
        jobs: simulations at the same time; 0: one a processor.
        seed: of the simulator.

    Raises:
        BuildError: the design does not compile.
    """
    shutil.rmtree(folder, ignore_errors=True)
    builds: dict[str, Build] = {}
    for sim in plan:
        with console.status(f"building for {sim}"):
            builds[sim] = build(sim, coverage=sim == CODE_SIMULATOR)
    work = [(sim, workload) for sim, loads in plan.items() for workload in loads]
    # The longest first, so that none is left alone at the end.
    work.sort(key=lambda pair: (pair[0] == CODE_SIMULATOR, -pair[1].programs))
    stop = threading.Event()

    def play(pair: tuple[str, Workload]) -> Played:
        sim, workload = pair

        def finished(result: ProgramResult) -> None:
            if stop.is_set():
                raise InterruptedError("another simulation was interrupted")
            cycles = result.counters.get("total", 0)
            progress.finished(f"{workload.name}: {result.name}", result.passed, cycles)

        return play_one(builds[sim], workload, folder, seed, finished)

    total = sum(workload.programs for _, workload in work)
    with (
        ProgramProgress(console, "+".join(plan), total) as progress,
        ThreadPoolExecutor(max_workers=jobs or os.cpu_count() or 1) as pool,
    ):
        try:
            played = list(pool.map(play, work))
        except BaseException:
            stop.set()
            raise
    for run in played:
        record_programs(run.sim, run.results, recorded)
    return played


def play_one(
    built: Build,
    workload: Workload,
    folder: Path,
    seed: int,
    finished: OnResult = lambda result: None,
) -> Played:
    """Play one workload with a build."""
    played = Played(built.sim, workload.name, folder / f"{built.sim}-{workload.name}")
    plusargs: tuple[str, ...] = ()
    if built.sim == CODE_SIMULATOR:
        plusargs = (f"+verilator+coverage+file+{(played.folder / CODE_FILE).resolve()}",)
    try:
        run = simulate(
            built.sim,
            workload.job,
            built=built,
            folder=played.folder,
            plusargs=plusargs,
            seed=seed,
            on_result=finished,
        )
    except SimulationError as error:
        played.error = str(error)
        return played
    played.results, played.seconds = run.results, run.seconds
    played.error = run.error
    if not played.error and len(run.results) != workload.programs:
        played.error = f"{len(run.results)} of {workload.programs} programs came back"
    return played


def data_files(folders: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Functional and code coverage data below ``folders``."""
    functional = [path for folder in folders for path in sorted(folder.rglob(COVERAGE_FILE))]
    code = [path for folder in folders for path in sorted(folder.rglob(CODE_FILE))]
    return functional, code
