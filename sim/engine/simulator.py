"""Runs a job in a simulator, through cocotb's makefiles, in a folder of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from shlex import quote
from typing import Any

from sim.engine.builds import MAKEFILE, Build, build
from sim.engine.compilers import ANSWERS, makefile_environment
from sim.engine.design import Design, python_command
from sim.engine.job_folder import job_path, scratch_folder
from sim.engine.job_record import JobRecord
from sim.engine.job_result import JobResult, SimulationError, judge
from sim.engine.save_file import write_save_file
from sim.shared.jsonl import Tail
from sim.shared.paths import ROOT, RTL, shown
from sim.shared.process import Child, Ended, StoppedError
from verif import start
from verif.items.job import FAILING, JOB_VARIABLE, KEPT, RESULTS_FILE, Job
from verif.items.result import ProgramResult

POLL_SECONDS = 0.02
STALL_SECONDS = 60.0  # of processor time, without a result and without simulated time
DEAF_SECONDS = 600.0  # the same of wall-clock time, for one that sleeps
STATUS_FILE = "status"  # in the scratch folder: exit status of the simulator itself
PULSE_FILE = "pulse"  # in the scratch folder: touched by the testbench as simulated time goes on
RERUN = "sim.programs.rerun"  # plays a kept program again
OnResult = Callable[[ProgramResult], None]


def simulate(
    sim: str,
    job: Job,
    *,
    waves: Path | bool | None = None,
    seed: int = 1,
    timeout: float = 3600.0,
    on_result: OnResult | None = None,
    rtl: Path | Design = RTL,
    built: Build | None = None,
    folder: Path | None = None,
    plusargs: tuple[str, ...] = (),
    stop: threading.Event | None = None,
) -> JobResult:
    """Play ``job`` and collect what it says.

    Args:
        sim: ``icarus`` or ``verilator``.
        job: what to do.
        waves: file to write waves to (its suffix is set to what the simulator writes), or True for
            a file in the job's folder.
        seed: of Python's ``random`` in the simulator; sequences take theirs from the job.
        timeout: seconds of wall-clock time.
        on_result: called with each program's result as soon as it is known.
        rtl: the design, or its folder.
        built: a build to use instead of the one that ``build(sim, waves=..., rtl=...)`` gives.
        folder: the job's folder; None makes a new one below build/jobs.
        plusargs: more plusargs for the simulator.
        stop: ends the simulation when it is set.

    Raises:
        BuildError: the design does not compile.
        SimulationError: the run ended without its final line: a crash, a time-out, no test.
        StoppedError: ``stop`` was set.
    """
    made = built or build(sim, waves=bool(waves), rtl=rtl)
    folder = (folder or job_path(sim)).resolve()
    job.save(folder)
    JobRecord.of(made, seed, plusargs).save(folder)
    run = JobResult(folder=folder, log=folder / "run.log")
    for old in (RESULTS_FILE, "results.xml", run.log.name):
        (folder / old).unlink(missing_ok=True)
    if waves:
        target = folder / "waves" if waves is True else Path(waves).resolve()
        run.waves = target.with_suffix(f".{made.waves}")
        run.waves.parent.mkdir(parents=True, exist_ok=True)
    execute(command(made, run, plusargs, seed), run, timeout, on_result, stop)
    if run.waves:
        write_save_file(run.waves)
    judge(run, job)
    if run.died:
        raise SimulationError(run)
    return run


def execute(
    argv: list[str],
    run: JobResult,
    timeout: float,
    on_result: OnResult | None = None,
    stop: threading.Event | None = None,
    stall: float | None = None,
) -> None:
    """Carry out a call of ``command`` to its end, however that comes, and note it in ``run``."""
    begin = time.monotonic()
    with scratch_folder() as scratch:
        with Child(argv, cwd=scratch, env=run_environment(run.folder), log=run.log) as child:
            progress = Progress(child, scratch / PULSE_FILE, stall or STALL_SECONDS)
            run.ended = follow(progress, run, begin + timeout, on_result, stop)
        run.status = exit_status(scratch, child)
    if run.status >= 128 and run.ended is Ended.EXITED:
        run.ended = Ended.CRASHED
    run.seconds = time.monotonic() - begin


def run_environment(folder: Path) -> dict[str, str]:
    """Environment of the simulator; half of it spares start-up time."""
    env = {**makefile_environment(), JOB_VARIABLE: str(folder)}
    env[start.STARTED_BY] = f"{start.__name__}:{start.run.__name__}"
    # The testbench's arrays are small: more threads would only cost their start.
    env["OPENBLAS_NUM_THREADS"] = "1"
    # Notes about objects of the testbench that Python does not look at.
    env.setdefault("GPI_LOG_LEVEL", "ERROR")
    return env


def command(made: Build, run: JobResult, plusargs: tuple[str, ...], seed: int) -> list[str]:
    """The call of make that runs the compiled simulator; its status goes to ``STATUS_FILE``."""
    arguments = [*plusargs]
    sim_args = ""
    if run.waves:
        arguments += [f"+ga2_waves={run.waves}"]
    if made.sim == "icarus":
        # vvp takes its wave format behind the program's name, where plusargs go, too.
        arguments += ["-fst" if run.waves else "-none"]
    else:
        # An assertion that failed is a mismatch of its program; the others are played all the same.
        arguments += ["+verilator+error+limit+1000000000"]
    if made.sim == "verilator" and run.waves:
        sim_args = f"--trace --trace-file {run.waves}"
    old = [made.binary, made.binary.with_suffix(".mk")]
    return [
        *("make", "-s", "-f", str(MAKEFILE), "-I", str(ROOT), f"SIM={made.sim}"),
        f"PYTHON_BIN={ANSWERS}",
        "SHELL=/bin/sh",  # not bash, which starts twenty times
        f"SIM_BUILD={made.folder}",
        f"COCOTB_RESULTS_FILE={run.folder / 'results.xml'}",
        f"COCOTB_RANDOM_SEED={seed}",
        f"COCOTB_PLUSARGS={' '.join(arguments)}",
        f"SIM_ARGS={sim_args}",
        # cocotb's makefile for Verilator ignores how the simulator ended.
        f"SIM_CMD_SUFFIX=; echo $$? > {STATUS_FILE}",
        # The build is named after its contents; make must not look at times of files.
        *(word for path in old for word in ("-o", str(path))),
        "regression",
    ]


def exit_status(scratch: Path, child: Child) -> int:
    """Return the simulator's exit status; make's where it did not get so far."""
    try:
        return int((scratch / STATUS_FILE).read_text())
    except (OSError, ValueError):
        code = child.code or 0
        return code if code >= 0 else 128 - code


def follow(
    progress: Progress,
    run: JobResult,
    deadline: float,
    on_result: OnResult | None,
    stop: threading.Event | None,
) -> Ended:
    """Read results while the simulator writes them, until it ends or has to be ended.

    Raises:
        StoppedError: ``stop`` was set.
    """
    records = Tail(run.folder / RESULTS_FILE)
    while True:
        running = progress.child.running(POLL_SECONDS)
        for record in records.new():
            progress.seen()
            take(run, record, on_result)
        if not running:
            return Ended.EXITED
        if stop is not None and stop.is_set():
            raise StoppedError("another simulation was interrupted")
        if time.monotonic() > deadline:
            return Ended.TIMED_OUT
        if ended := progress.stalled():
            return ended


class Progress:
    """Tells a simulator that is stuck inside one moment of simulated time from a slow machine."""

    LOOK_SECONDS = 1.0

    def __init__(self, child: Child, pulse: Path, limit: float) -> None:
        self.child = child
        self.pulse = pulse
        self.limit = limit  # seconds of processor time
        self.beat = 0
        self.cpu = 0.0
        self.looked = self.moved = time.monotonic()

    def seen(self) -> None:
        """Note that there was progress."""
        self.moved, self.cpu = time.monotonic(), self.child.cpu_seconds()

    def stalled(self) -> Ended | None:
        """Say whether it works without getting anywhere, or does not work at all."""
        now = time.monotonic()
        if now - self.looked < self.LOOK_SECONDS:
            return None
        self.looked = now
        try:
            beat = self.pulse.stat().st_mtime_ns
        except FileNotFoundError:
            beat = 0
        if beat != self.beat:
            self.beat = beat
            self.seen()
            return None
        still = now - self.moved
        if still > self.limit and self.child.cpu_seconds() - self.cpu > self.limit:
            return Ended.STALLED
        return Ended.ASLEEP if still > DEAF_SECONDS else None


def take(run: JobResult, fields: dict[str, Any], on_result: OnResult | None) -> None:
    """Take one record of the results file."""
    if fields.get("type") == "summary":
        run.summary = fields
        return
    result = ProgramResult.from_json(fields)
    run.results.append(result)
    number = len(run.failed) - 1
    if not result.passed and number < KEPT and not result.rerun:
        folder = shown(run.folder / FAILING / str(number))
        result.rerun = f"{python_command()} -m {RERUN} {quote(folder)}"
    if on_result:
        on_result(result)
