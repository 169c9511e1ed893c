"""Playing a job for a front end: build, progress, and waves of the first program that fails."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from sim.engine.builds import BuildError, build, compiler_version
from sim.engine.simulator import JobResult, SimulationError, simulate
from sim.shared.paths import BUILD, RTL, shown
from sim.shared.progress import ProgramProgress
from verif.items.job import FAILING, Job, load_job
from verif.items.result import ProgramResult


@dataclass
class Played:
    """What came of a job, also when the simulation died on the way.

    Attributes:
        results: programs that finished, in order.
        ok: the simulation as a whole passed.
        folder: the job's folder; None when there was no build.
        summary: the simulator's counts, cycles and seconds; empty when it died.
        seconds: wall-clock time of the run, start-up included.
    """

    results: list[ProgramResult] = field(default_factory=list)
    ok: bool = False
    folder: Path | None = None
    summary: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0


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
    sim: str,
    job: Job,
    *,
    waves: bool = False,
    rtl: Path = RTL,
    quiet: bool = False,
) -> Played:
    """Build what is missing, play ``job``, show progress, and record a failure's waves.

    Problems of the simulation as a whole are printed; the result is then not ``ok``.

    Args:
        console: where to show things.
        sim: icarus or verilator.
        job: what to play.
        waves: record waves of everything.
        rtl: folder of the design.
        quiet: no progress.
    """
    played = Played()
    try:
        with console.status(f"building for {sim}"):
            built = build(sim, waves=waves, rtl=rtl)
        with ProgramProgress(console, sim, len(job.items), quiet) as progress:

            def finished(result: ProgramResult) -> None:
                played.results.append(result)
                progress.finished(result.name, result.passed, result.counters.get("total", 0))

            target = BUILD / "waves" / f"{sim}-{job_name(job)}" if waves else None
            run = simulate(sim, job, waves=target, built=built, rtl=rtl, on_result=finished)
    except (BuildError, SimulationError) as error:
        console.print(f"[bold red]FAIL[/] {escape(str(error))}", soft_wrap=True)
        return played
    played.ok, played.folder, played.summary = run.passed, run.folder, run.summary
    played.seconds = run.seconds
    if run.error:
        console.print(f"[bold red]FAIL[/] {escape(run.error)}; log: {shown(run.log)}")
    if run.waves:
        console.print(f"waves: {shown(run.waves)}", soft_wrap=True)
    elif run.failed:
        record_failure(console, sim, run, rtl)
    return played


def job_name(job: Job) -> str:
    """Name a job's wave file after its first program."""
    name = job.items[0].name if job.items else job.sequence
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")


def record_failure(console: Console, sim: str, run: JobResult, rtl: Path) -> None:
    """Play the first failing program once more, alone and with waves; print where they are."""
    kept = run.folder / FAILING / "0"
    try:
        job = load_job(kept)
        target = BUILD / "waves" / f"{sim}-{job_name(job)}"
        with console.status("recording waves of the first failing program"):
            again = simulate(sim, job, waves=target, rtl=rtl)
    except (BuildError, SimulationError, OSError, RuntimeError) as error:
        console.print(f"no waves of the failing program: {escape(str(error))}", soft_wrap=True)
        return
    what = run.failed[0].name
    note = "" if again.failed else " (alone it passed: it depends on what ran before)"
    if again.waves:
        console.print(f"waves of {escape(what)}: {shown(again.waves)}{note}", soft_wrap=True)
