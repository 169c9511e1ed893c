"""Runs campaign simulations side by side, and goes on after a mutant has ended one."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from sim.engine.builds import TOP, Build, tail
from sim.engine.job_folder import scratch_folder
from sim.engine.job_result import JobResult
from sim.engine.simulator import (
    PULSE_FILE,
    STALL_SECONDS,
    Progress,
    command,
    exit_status,
    run_environment,
)
from sim.mutate.rtl.death import Death, DeathError, death_of
from sim.mutate.rtl.schema import CONTROL
from sim.shared import jsonl
from sim.shared.errors import ToolError
from sim.shared.files import read_text
from sim.shared.process import Child, Ended
from verif.items.job import Job
from verif.mutation.protocol import TASK, MutantVerdict, MutationTask, Queue
from verif.mutation.test_series import TestSeries

TEST_MODULE = "verif.tests.test_mutants"
UNIT_MODULE = "verif.tests.test_unit_mutants"
POLL_SECONDS = 0.05

OnVerdict = Callable[[MutantVerdict], None]


class CampaignError(ToolError):
    """The campaign cannot go on: the design itself fails, or a simulation does not start."""


@dataclass
class _Worker:
    """One simulation process and what it said last."""

    place: int
    judge_design: bool
    log: Path
    child: Child
    scratch: Path
    cleanup: ExitStack
    events: jsonl.Tail
    progress: Progress
    current: int | None = None
    begun: int = 0
    ended: bool = False
    leak: str = ""

    def close(self) -> int:
        """End the process, remove its scratch folder, return the simulator's exit status."""
        self.child.end()
        status = exit_status(self.scratch, self.child)
        self.cleanup.close()
        return status


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
        module, top: the Python module that judges in the simulator, and the build's top module.
        on_verdict: called with each verdict as soon as it is known; number 0 is the design.
        deaths: how simulations ended that decided nothing, by the mutant that was alive in them.
        decided: numbers that have a verdict.
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
    module: str = TEST_MODULE
    top: str = TOP
    deaths: dict[int, Death] = field(default_factory=dict)
    decided: set[int] = field(default_factory=set)

    def run(self, numbers: Sequence[int], judge_design: bool = True) -> None:
        """Judge mutants by number; one whose simulation died or was ended is tried once more.

        Raises:
            CampaignError: the design fails a test, or simulations die without a mutant's help.
        """
        self._pass(list(numbers), judge_design)
        again = [number for number in numbers if number not in self.decided]
        if again:
            self._pass(again, False)

    def _pass(self, numbers: list[int], judge_design: bool) -> None:
        if not numbers and not judge_design:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        Queue(self.folder / "queue").reset()
        alive: list[_Worker] = []
        try:
            for place in range(min(self.workers, max(1, len(numbers)))):
                alive.append(self._start(place, numbers, judge_design and place == 0))
            while alive:
                time.sleep(POLL_SECONDS)
                alive = [next_ for worker in alive if (next_ := self._follow(worker, numbers))]
        finally:
            for worker in alive:
                worker.close()

    def _start(self, place: int, numbers: list[int], judge_design: bool) -> _Worker:
        folder = self.folder / f"worker-{place}"
        events, log = folder / "campaign.jsonl", folder / "run.log"
        folder.mkdir(parents=True, exist_ok=True)
        for left in (events, log, folder / "results.xml"):  # make runs nothing where results are
            left.unlink(missing_ok=True)
        task = MutationTask(
            CONTROL, numbers, self.files, self.tests, self.folder / "queue", events, judge_design,
            self.budget, self.survived, self.history,
        )  # fmt: skip
        Job(params={TASK: task}).save(folder)
        argv = command(self.built, JobResult(folder, log), (), 1)
        cleanup = ExitStack()
        scratch = cleanup.enter_context(scratch_folder())
        child = Child(
            [*argv, f"COCOTB_TEST_MODULES={self.module}", f"COCOTB_TOPLEVEL={self.top}"],
            cwd=scratch,
            env=run_environment(folder) | {"COCOTB_LOG_LEVEL": "ERROR"},
            log=log,
        )
        progress = Progress(child, scratch / PULSE_FILE, STALL_SECONDS)
        return _Worker(
            place, judge_design, log, child, scratch, cleanup, jsonl.Tail(events), progress
        )

    def _follow(self, worker: _Worker, numbers: list[int]) -> _Worker | None:
        """Read what a worker said; return it, its successor, or None when it is done."""
        over = not worker.child.running()
        self._listen(worker)
        ended = Ended.EXITED if over else worker.progress.stalled()
        if ended is None:
            return worker
        status = worker.close()
        if worker.ended:
            return None
        if worker.leak and worker.begun <= 1:
            raise CampaignError(f"the design itself fails: {worker.leak}")
        self._died(worker, death_of(ended, status, read_text(worker.log), worker.leak))
        return self._start(worker.place, numbers, worker.judge_design)

    def _died(self, worker: _Worker, death: Death) -> None:
        """Let a mutant be tried again; when its simulation dies twice, that killed it."""
        number = worker.current or 0
        if number not in self.deaths:
            self.deaths[number] = death
            return
        if not number:
            raise CampaignError(f"the simulation died twice:\n{tail(read_text(worker.log))}")
        try:
            check = death.check
        except DeathError as error:
            raise CampaignError(f"mutant {number}: {error}") from None
        self._decide(MutantVerdict(True, (check,), message=death.message, number=number))

    def _decide(self, verdict: MutantVerdict) -> None:
        self.decided.add(verdict.number)
        self.on_verdict(verdict)

    def _listen(self, worker: _Worker) -> None:
        for line in worker.events.new():
            worker.progress.seen()
            if line["type"] == "begin":
                worker.current = line["number"]
                worker.begun += 1
            elif line["type"] == "verdict":
                verdict = msgspec.convert(line, MutantVerdict)
                worker.current = None
                worker.judge_design &= verdict.number != 0
                if verdict.number == 0 and verdict.killed:
                    raise CampaignError(
                        f"the design itself fails {verdict.program}: {verdict.message}"
                    )
                self._decide(verdict)
            elif line["type"] == "leak":
                worker.leak = line["message"]
            elif line["type"] == "end":
                worker.ended = True
