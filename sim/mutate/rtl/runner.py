"""Runs campaign simulations side by side, and goes on after a mutant has killed one."""

from __future__ import annotations

import math
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sim.engine.builds import Build, tail
from sim.engine.job_folder import memory
from sim.engine.simulator import JobResult, command, run_environment
from sim.mutate.rtl.messages import LineReader, Queue, Verdict
from sim.mutate.rtl.suite import TestSeries
from sim.shared.process import Child
from verif.items.job import Job

TEST_MODULE = "sim.mutate.rtl.campaign_test"
POLL_SECONDS = 0.05
STALL_SECONDS = 90.0
"""A simulation that reports nothing for so long is stuck inside one time step."""

OnVerdict = Callable[[Verdict], None]


class CampaignError(RuntimeError):
    """The campaign cannot go on: the design itself fails, or a simulation does not start."""


@dataclass
class _Worker:
    """One simulation process and what it said last."""

    folder: Path
    process: Child
    scratch: tempfile.TemporaryDirectory[str]
    lines: LineReader
    heard: float
    current: int | None = None
    begun: int = 0
    ended: bool = False
    leak: str = ""

    def close(self) -> None:
        """End the process and remove its scratch folder."""
        self.process.end()
        self.scratch.cleanup()


@dataclass
class Runner:
    """Judges mutants with one build in ``workers`` processes.

    Attributes:
        built: the instrumented design.
        files: number of each mutant to the file it is in.
        tests: what it has to survive.
        folder: for job files and logs.
        workers: processes.
        budget: cost of the tests that one mutant gets (cycles, and some for each program).
        survived: tests that a mutant need not run again.
        history: (file, test) of known kills; says which tests to try first.
        on_verdict: called with each verdict as soon as it is known; number 0 is the design.
    """

    built: Build
    files: Mapping[int, str]
    tests: Sequence[TestSeries]
    folder: Path
    on_verdict: OnVerdict
    workers: int = 2
    budget: float = math.inf
    survived: Mapping[int, Sequence[str]] = field(default_factory=dict)
    history: Sequence[tuple[str, str]] = ()
    retry: list[int] = field(default_factory=list)

    def run(self, numbers: Sequence[int], judge_design: bool = True) -> None:
        """Judge mutants by number; one that a simulation dropped is tried once more.

        Raises:
            CampaignError: the design fails a test, or simulations die without a mutant's help.
        """
        self._pass(list(numbers), judge_design)
        again, self.retry = self.retry, []
        if again:
            self._pass(again, False)
        if self.retry:
            raise CampaignError(f"mutants {self.retry} twice found the design broken before them")

    def _pass(self, numbers: list[int], judge_design: bool) -> None:
        if not numbers and not judge_design:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        Queue(self.folder / "queue").reset()
        alive = [
            self._start(place, numbers, judge_design and place == 0)
            for place in range(min(self.workers, max(1, len(numbers))))
        ]
        try:
            while alive:
                time.sleep(POLL_SECONDS)
                alive = [next_ for worker in alive if (next_ := self._follow(worker, numbers))]
        finally:
            for worker in alive:
                worker.close()

    def _start(self, place: int, numbers: list[int], judge_design: bool) -> _Worker:
        folder = self.folder / f"worker-{place}"
        log = folder / "campaign.jsonl"
        folder.mkdir(parents=True, exist_ok=True)
        for left in (
            log,
            folder / "results.xml",
            folder / "run.log",
        ):  # make runs nothing when it finds results
            left.unlink(missing_ok=True)
        params = {
            "numbers": numbers,
            "files": dict(self.files),
            "tests": list(self.tests),
            "queue": str(self.folder / "queue"),
            "log": str(log),
            "judge_design": judge_design,
            "budget": self.budget,
            "history": list(self.history),
            "survived": {number: list(names) for number, names in self.survived.items()},
        }
        Job(params=params).save(folder)
        run = JobResult(folder=folder, log=folder / "run.log")
        scratch = tempfile.TemporaryDirectory(dir=memory())
        process = Child(
            [*command(self.built, run, (), 1), f"COCOTB_TEST_MODULES={TEST_MODULE}"],
            cwd=Path(scratch.name),
            env=run_environment(folder) | {"COCOTB_LOG_LEVEL": "ERROR"},
            log=run.log,
        )
        return _Worker(folder, process, scratch, LineReader(log), time.monotonic())

    def _follow(self, worker: _Worker, numbers: list[int]) -> _Worker | None:
        """Read what a worker said; return it, its successor, or None when it is done."""
        over = not worker.process.running()
        self._listen(worker)
        stuck = time.monotonic() - worker.heard > STALL_SECONDS
        if not over and not stuck:
            return worker
        worker.close()
        if worker.ended:
            return None
        place = int(worker.folder.name.rpartition("-")[2])
        if worker.leak and worker.begun <= 1:
            raise CampaignError(f"the design itself fails: {worker.leak}")
        if worker.current is None:
            log = (worker.folder / "run.log").read_text(errors="replace")
            raise CampaignError(f"the simulation died:\n{tail(log)}")
        if worker.leak:
            self.retry.append(worker.current)
        else:
            kind, text = ("hang", "no progress") if stuck else ("crash", self._last_words(worker))
            self.on_verdict(Verdict(worker.current, True, (kind,), message=text))
        return self._start(place, numbers, False)

    def _listen(self, worker: _Worker) -> None:
        for line in worker.lines.new():
            worker.heard = time.monotonic()
            if line["type"] == "begin":
                worker.current = line["number"]
                worker.begun += 1
            elif line["type"] == "verdict":
                verdict = Verdict.from_json(line)
                worker.current = None
                if verdict.number == 0 and verdict.killed:
                    raise CampaignError(
                        f"the design itself fails {verdict.program}: {verdict.message}"
                    )
                self.on_verdict(verdict)
            elif line["type"] == "leak":
                worker.leak = line["message"]
            elif line["type"] == "end":
                worker.ended = True

    @staticmethod
    def _last_words(worker: _Worker) -> str:
        log = (worker.folder / "run.log").read_text(errors="replace")
        errors = [line for line in log.splitlines() if "rror" in line]
        return (errors or ["the simulation ended"])[0].strip()[:200]


def processors() -> int:
    """Return how many processes this machine runs at once."""
    return max(1, len(os.sched_getaffinity(0)))
