"""Plays workloads and leaves their coverage data, one folder a simulation."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from sim.coverage.workloads import Workload
from sim.engine.design import Design, own_design
from sim.engine.play import Batch, Simulation, play
from sim.shared.test_log import record_programs
from verif.items.job import COVERAGE_FILE

CODE_FILE = "coverage.dat"
CODE_SIMULATOR = "verilator"


def simulation(
    sim: str, workload: Workload, folder: Path, seed: int = 1, design: Design | None = None
) -> Simulation:
    """Return a workload as a simulation that leaves its coverage in a folder below ``folder``."""
    own = (folder / f"{sim}-{workload.name}").resolve()
    measured = sim == CODE_SIMULATOR
    return Simulation(
        workload.job,
        sim,
        workload.programs,
        title=workload.name,
        build={"coverage": measured, "rtl": design or own_design()},
        folder=own,
        plusargs=(f"+verilator+coverage+file+{own / CODE_FILE}",) if measured else (),
        seed=seed,
    )


def collect(
    console: Console,
    plan: dict[str, list[Workload]],
    folder: Path,
    recorded: Path,
    *,
    jobs: int = 0,
    seed: int = 1,
    design: Design | None = None,
) -> Batch:
    """Play the workloads of every simulator.

    Args:
        console: where to show progress.
        plan: workloads by simulator.
        folder: gets a folder for each simulation; emptied first.
        recorded: where it is noted which tests ran.
        jobs: simulations at the same time; 0: one a processor.
        seed: of the simulator.
        design: None: the own one.
    """
    shutil.rmtree(folder, ignore_errors=True)
    work = [
        simulation(sim, load, folder, seed, design) for sim, loads in plan.items() for load in loads
    ]
    # The longest first, so that none is left alone at the end.
    work.sort(key=lambda one: (one.sim == CODE_SIMULATOR, -one.expected))
    batch = play(console, work, workers=jobs or os.cpu_count() or 1)
    for one, run in batch.each():
        record_programs(one.sim, run.results, recorded, (design or own_design()).hash)
    return batch


def data_files(folders: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Functional and code coverage data below ``folders``."""
    functional = [path for folder in folders for path in sorted(folder.rglob(COVERAGE_FILE))]
    code = [path for folder in folders for path in sorted(folder.rglob(CODE_FILE))]
    return functional, code
