"""What came of a job, and the verdict over it."""

from __future__ import annotations

import signal
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sim.engine.builds import tail
from sim.shared import junit
from sim.shared.errors import ToolError
from sim.shared.files import read_text
from sim.shared.outcome import Outcome
from sim.shared.process import Ended
from verif.agents.control.complaints import complaints_in
from verif.items.job import Job
from verif.items.result import ProgramResult


@dataclass
class JobResult:
    """What came of a job.

    Attributes:
        results: one a program, in order; fewer when the simulator died.
        summary: final line of the simulator: programs, failed, comparisons, mismatches, cycles,
            seconds (simulation phase).
        passed: every program passed, something was compared, cocotb's test passed, and the
            simulator ended well.
        error: why the simulation as a whole is no good, in one line, empty otherwise.
        ended: how the simulator came to its end; None when it never began.
        folder: the job's folder.
        log: the simulator's output.
        waves: the wave file, when there is one; a save file for GTKWave lies beside it.
        seconds: wall-clock time of the run, start-up included, building excluded.
        status: exit status of the simulator, 128 and the signal's number after a signal.
    """

    folder: Path
    log: Path
    results: list[ProgramResult] = field(default_factory=list)
    summary: dict[str, Any] = field(default_factory=dict)
    passed: bool = False
    error: str = ""
    ended: Ended | None = Ended.EXITED
    waves: Path | None = None
    seconds: float = 0.0
    status: int = 0

    @property
    def failed(self) -> list[ProgramResult]:
        """The programs that failed."""
        return [result for result in self.results if not result.passed]

    @property
    def died(self) -> bool:
        """The simulator did not come to an end of its own with all it had to say."""
        return not self.summary or self.ended is not Ended.EXITED


class SimulationError(ToolError):
    """The simulator crashed, ran no test, or ran out of time; the message ends with its log.

    Attributes:
        run: what is known of it, the results up to then among it.
    """

    def __init__(self, run: JobResult) -> None:
        text = read_text(run.log) if run.log.exists() else ""
        super().__init__(f"simulation {run.error} ({run.log}):\n{tail(text)}")
        self.run = run


def judge(run: JobResult, job: Job) -> None:
    """Decide whether the run as a whole passed, and say what is wrong if it did not."""
    verdicts = test_verdicts(run.folder / "results.xml")
    if run.ended is not Ended.EXITED:
        run.error = f"{how_it_ended(run)} {place(run, job)}"
    elif not run.summary:
        run.error = f"ended without a summary, exit status {run.status}, {place(run, job)}"
    elif not verdicts:
        run.error = "no test was run"
    elif run.status and not run.failed:
        run.error = f"ended with exit status {run.status}"
    elif not all(verdicts) and not run.failed:
        run.error = "cocotb's test failed"
    said = complaints_in(read_text(run.log)) if run.error else []
    if said:
        run.error += f": {said[-1]}"
    sound = run.status == 0 and not run.error and all(verdicts)
    run.passed = sound and not run.failed and run.summary["comparisons"] > 0


def how_it_ended(run: JobResult) -> str:
    """Say it in a word or two, e.g. ``crashed (SIGSEGV)``."""
    if run.ended is Ended.CRASHED:
        return f"crashed ({signal_name(run.status - 128)})"
    return run.ended.value if run.ended else "never began"


def place(run: JobResult, job: Job) -> str:
    """Say how far a simulation came that has no end."""
    if run.summary:
        return "after the last program"
    if job.sequence == "items" and len(run.results) < len(job.items):
        return f"in program {job.items[len(run.results)].name!r}"
    return f"after {run.results[-1].name!r}" if run.results else "before any program ended"


def signal_name(number: int) -> str:
    """Return e.g. SIGSEGV."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def test_verdicts(results: Path) -> list[bool]:
    """Verdict of each test in cocotb's results file; empty when there is none."""
    try:
        return [case.outcome is Outcome.PASSED for case in junit.read(results)]
    except junit.JunitError:
        return []
