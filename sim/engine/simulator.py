"""Runs a job in a simulator, through cocotb's makefiles, in a folder of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import find_libpython
from cocotb_tools import config as cocotb_config

from sim.engine.builds import MAKEFILE, Build, build, tail, tool_environment
from sim.engine.save_file import write_save_file
from sim.shared.paths import BUILD, ROOT, RTL
from verif.items.job import JOB_VARIABLE, RESULTS_FILE, Job
from verif.items.result import ProgramResult

POLL_SECONDS = 0.02
# The files a program is loaded from and dumped to are rewritten for each program. In main memory
# that costs nothing; some disk file systems write every truncated file out at once.
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
KEPT_JOBS = 300
OnResult = Callable[[ProgramResult], None]

__all__ = ["JobResult", "SimulationError", "build", "simulate"]


class SimulationError(RuntimeError):
    """The simulator crashed, ran no test, or ran out of time; the message ends with its log."""


@dataclass
class JobResult:
    """What came of a job.

    Attributes:
        results: one a program, in order.
        summary: final line of the simulator: programs, failed, comparisons, mismatches, cycles,
            seconds (simulation phase).
        passed: every program passed, something was compared, cocotb's test passed.
        error: why the simulation as a whole is no good, empty otherwise.
        folder: the job's folder.
        log: the simulator's output.
        waves: the wave file, when there is one; a save file for GTKWave lies beside it.
        seconds: wall-clock time of the run, start-up included, building excluded.
        status: exit status of make.
    """

    folder: Path
    log: Path
    results: list[ProgramResult] = field(default_factory=list)
    summary: dict[str, Any] = field(default_factory=dict)
    passed: bool = False
    error: str = ""
    waves: Path | None = None
    seconds: float = 0.0
    status: int = 0

    @property
    def failed(self) -> list[ProgramResult]:
        """The programs that failed."""
        return [result for result in self.results if not result.passed]


def job_path(sim: str) -> Path:
    """A new folder for a job; of the old ones the newest ``KEPT_JOBS`` stay."""
    jobs = BUILD / "jobs"
    old = sorted(jobs.glob("*-*-*"))[:-KEPT_JOBS]
    for folder in old:
        shutil.rmtree(folder, ignore_errors=True)
    return jobs / f"{time.strftime('%y%m%d%H%M%S')}-{sim}-{uuid.uuid4().hex[:6]}"


def simulate(
    sim: str,
    job: Job,
    *,
    waves: Path | bool | None = None,
    seed: int = 1,
    timeout: float = 3600.0,
    on_result: OnResult | None = None,
    rtl: Path = RTL,
    built: Build | None = None,
    folder: Path | None = None,
    plusargs: tuple[str, ...] = (),
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
        rtl: folder of the design.
        built: a build to use instead of the one that ``build(sim, waves=..., rtl=...)`` gives.
        folder: the job's folder; None makes a new one below build/jobs.
        plusargs: more plusargs for the simulator.

    Raises:
        BuildError: the design does not compile.
        SimulationError: the run ended without its final line: a crash, a time-out, no test.
    """
    made = built or build(sim, waves=bool(waves), rtl=rtl)
    folder = (folder or job_path(sim)).resolve()
    job.save(folder)
    for old in (RESULTS_FILE, "results.xml"):
        (folder / old).unlink(missing_ok=True)
    run = JobResult(folder=folder, log=folder / "run.log")
    if waves:
        target = folder / "waves" if waves is True else Path(waves).resolve()
        run.waves = target.with_suffix(f".{made.waves}")
        run.waves.parent.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    with open(run.log, "w") as log, tempfile.TemporaryDirectory(dir=MEMORY) as scratch:
        process = subprocess.Popen(
            command(made, run, plusargs, seed),
            cwd=scratch,
            env=run_environment(folder),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        follow(process, run, begin + timeout, on_result)
    run.seconds = time.monotonic() - begin
    run.status = process.returncode
    if run.waves:
        write_save_file(run.waves)
    judge(run)
    return run


def run_environment(folder: Path) -> dict[str, str]:
    """Environment of the simulator; half of it spares start-up time."""
    env = {**tool_environment(), JOB_VARIABLE: str(folder)}
    # cocotb would have pytest rewrite the assertions of every module it loads, for 0.9 s.
    env["COCOTB_REWRITE_ASSERTION_FILES"] = ""
    # What cocotb's makefile would start Python for, three times.
    extension = next(cocotb_config.base_cocotb_dir.glob("simulator*.so"))
    env["GPI_USERS"] = f"{find_libpython.find_libpython()};{extension},initialize"
    env["cocotb_makefiles"] = env["GA2_COCOTB_MAKEFILES"] = str(cocotb_config.makefiles_dir)
    env["GA2_COCOTB_LIBS"] = str(cocotb_config.libs_dir)
    env["GA2_COCOTB_SHARE"] = str(cocotb_config.share_dir)
    env["GA2_PYTHON"] = sys.executable
    # Notes about objects of the testbench that Python does not look at.
    env.setdefault("GPI_LOG_LEVEL", "ERROR")
    return env


def command(made: Build, run: JobResult, plusargs: tuple[str, ...], seed: int) -> list[str]:
    """The call of make that runs the compiled simulator."""
    arguments = [*plusargs]
    sim_args = ""
    if run.waves:
        arguments += [f"+ga2_waves={run.waves}"]
    if made.sim == "icarus":
        # vvp takes its wave format behind the program's name, where plusargs go, too.
        arguments += ["-fst" if run.waves else "-none"]
    elif run.waves:
        sim_args = f"--trace --trace-file {run.waves}"
    old = [made.binary, made.binary.with_suffix(".mk")]
    return [
        *("make", "-s", "-f", str(MAKEFILE), "-I", str(ROOT), f"SIM={made.sim}"),
        f"PYTHON_BIN={MAKEFILE.with_name('cocotb_python')}",
        f"SIM_BUILD={made.folder}",
        f"COCOTB_RESULTS_FILE={run.folder / 'results.xml'}",
        f"COCOTB_RANDOM_SEED={seed}",
        f"COCOTB_PLUSARGS={' '.join(arguments)}",
        f"SIM_ARGS={sim_args}",
        # The build is named after its contents; make must not look at times of files.
        *(word for path in old for word in ("-o", str(path))),
        "regression",
    ]


def follow(
    process: subprocess.Popen[bytes], run: JobResult, deadline: float, on_result: OnResult | None
) -> None:
    """Read results while the simulator writes them, until it ends."""
    lines = _Lines(run.folder / RESULTS_FILE)
    running = True
    try:
        while running:
            try:
                process.wait(POLL_SECONDS)
                running = False
            except subprocess.TimeoutExpired:
                if time.monotonic() > deadline:
                    run.error = "timed out"
                    running = False
            for line in lines.new():
                take(run, line, on_result)
    finally:
        if process.poll() is None:
            end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """End a simulation with everything make started."""
    os.killpg(process.pid, 9)
    process.wait()
    # What make started may outlive it by a moment, and holds files in folders that go next.
    for _ in range(100):
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.01)


def take(run: JobResult, line: str, on_result: OnResult | None) -> None:
    """Take one line of the results file."""
    fields = json.loads(line)
    if fields.get("type") == "summary":
        run.summary = fields
        return
    result = ProgramResult.from_json(fields)
    run.results.append(result)
    if on_result:
        on_result(result)


class _Lines:
    """Complete lines that were appended to a file since the last look."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.offset = 0

    def new(self) -> list[str]:
        if not self.path.exists():
            return []
        with open(self.path, "rb") as file:
            file.seek(self.offset)
            data = file.read()
        complete = data.rfind(b"\n") + 1
        self.offset += complete
        return data[:complete].decode().splitlines()


def judge(run: JobResult) -> None:
    """Decide whether the run as a whole passed.

    Raises:
        SimulationError: there is nothing to judge.
    """
    verdicts = test_verdicts(run.folder / "results.xml")
    if not run.error and not run.summary:
        run.error = "ended without a summary"
    if not run.error and not verdicts:
        run.error = "no test was run"
    if run.error:
        raise SimulationError(f"simulation {run.error} ({run.log}):\n{tail(run.log.read_text())}")
    if not all(verdicts) and not run.failed:
        run.error = "cocotb's test failed"
    run.passed = all(verdicts) and not run.failed and run.summary["comparisons"] > 0


def test_verdicts(results: Path) -> list[bool]:
    """Verdict of each test in cocotb's results file; empty when there is none."""
    if not results.exists():
        return []
    cases = ET.parse(results).getroot().iter("testcase")
    return [not any(c.tag in ("failure", "error", "skipped") for c in case) for case in cases]
