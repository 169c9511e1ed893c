"""A mutation campaign inside the simulator: mutant after mutant in one live testbench.

The flow's own driver, monitors and scoreboard judge; only the predictions are computed once and
kept, and verdicts go to the campaign instead of the result log. Before each mutant the design
itself (number 0) is reset and runs a short program that must pass: nothing of one mutant reaches
the next.
"""

from __future__ import annotations

import time
from typing import Any

import cocotb
import numpy as np
import pyuvm
from pyuvm import uvm_factory

from model.chip.image import Words
from model.chip.isa import SPAD_WORDS, encode, halt, mm, st
from model.chip.machine import RunResult
from verif.env.predictor import Prediction, Predictor, predict
from verif.env.result_log import ResultLog
from verif.env.scoreboard import Scoreboard
from verif.env.verdict import Verdict
from verif.items.job import Job
from verif.items.program_item import ProgramItem
from verif.items.result import ProgramResult
from verif.mutation.protocol import TASK, EventLog, MutantVerdict, MutationTask, Queue
from verif.mutation.test_ranking import TestRanking
from verif.mutation.test_series import TestSeries
from verif.sequences.items import ItemsSequence
from verif.tests.base_test import BaseTest
from verif.typed import plain

PROGRAM_COST = 700
"""What one program costs besides its cycles: loading and judging, in cycles."""


class LeakError(RuntimeError):
    """The design itself failed: the campaign's verdicts would mean nothing."""


class CachedPredictor(Predictor):
    """Predicts each program once."""

    cache: dict[int, Prediction] = {}

    def accept(self, item: ProgramItem) -> None:
        """Publish the kept prediction of a program."""
        self.ap.write(self.cache[id(item)])

    @classmethod
    def learn(cls, items: tuple[ProgramItem, ...]) -> int:
        """Predict the programs of a series; return their cycles."""
        spad: Words = np.zeros(SPAD_WORDS, dtype=np.uint32)
        cycles = 0
        previous: RunResult | None = None
        for item in items:
            prediction = predict(item, spad, previous=previous)
            cls.cache[id(item)] = prediction
            spad, previous = prediction.spad_after, prediction.expected
            cycles += prediction.expected.counters.total
        return cycles


class CountingScoreboard(Scoreboard):
    """Judges like the flow's; a mutant's mismatches are what the campaign wants."""

    def check_phase(self) -> None:
        """Let the campaign decide."""


class VerdictKeeper(ResultLog):
    """Keeps the last verdict instead of logging it."""

    def build_phase(self) -> None:
        """Open no file."""
        super().build_phase()
        self.last: ProgramResult | None = None

    def accept(self, verdict: Verdict) -> None:
        """Keep the verdict."""
        self.last = verdict.result


def scrub_program() -> ProgramItem:
    """Return a program that overwrites what no reset reaches: operand memories and sums."""
    program = [encode(mm(2048, 0, 1024, 4, 64, 4)), encode(st(2048, 0, 16)), encode(halt())]
    spad = np.arange(SPAD_WORDS, dtype=np.uint32)
    return ProgramItem("scrub", program, spad=spad, depth=64, latency=1, reset_before=True)


@pyuvm.test()
class MutationTest(BaseTest):
    """Runs the mutants of the job's task."""

    def build_phase(self) -> None:
        """Replace what predicts and what listens."""
        factory = uvm_factory()
        factory.set_type_override_by_type(Predictor, CachedPredictor)
        factory.set_type_override_by_type(Scoreboard, CountingScoreboard)
        factory.set_type_override_by_type(ResultLog, VerdictKeeper)
        super().build_phase()

    async def run_phase(self) -> None:
        """Judge the design, then mutants until the queue is empty."""
        self.raise_objection()
        await self.env.control.driver.ready.wait()
        task: MutationTask = self.job.params[TASK]
        self.task = task
        self.events = EventLog(task.log)
        self.series: dict[str, TestSeries] = {test.name: test for test in task.tests}
        self.scrub = scrub_program()
        CachedPredictor.learn((self.scrub,))
        costs = {
            name: float(CachedPredictor.learn(test.items) + PROGRAM_COST * len(test.items))
            for name, test in self.series.items()
        }
        slow = frozenset(name for name, test in self.series.items() if test.slow)
        families = {name: test.family for name, test in self.series.items()}
        self.ranking = TestRanking(costs, slow, families, task.history)
        if task.judge_design:
            await self.judge_design()
        queue = Queue(task.queue)
        while (position := queue.take()) < len(task.numbers):
            number = task.numbers[position]
            self.events.write("begin", number=number)
            file = task.files[number]
            verdict = await self.judge(number, file, self.tests_for(number, file))
            self.events.write("verdict", **plain(verdict))
        self.events.write("end")
        self.drop_objection()

    async def judge_design(self) -> None:
        """Run every test on the design, which has to pass.

        Raises:
            LeakError: with the program and the first mismatch.
        """
        verdict = await self.judge(0, "", list(self.series))
        self.events.write("verdict", **plain(verdict))
        if verdict.killed:
            raise LeakError(f"the design fails {verdict.program}: {verdict.message}")

    def tests_for(self, number: int, file: str) -> list[str]:
        """Return the tests for a mutant, best first, as far as the budget reaches."""
        known = set(self.task.survived.get(number, ()))
        left = self.task.budget
        chosen: list[str] = []
        for name in self.ranking.best_first(file):
            if name in known:
                continue
            left -= self.ranking.costs[name]
            if left < 0 and chosen:
                break
            chosen.append(name)
        return chosen

    async def judge(self, number: int, file: str, tests: list[str]) -> MutantVerdict:
        """Bring one mutant to life and run tests until one fails."""
        began = time.perf_counter()
        await self.select(0)
        if self.env.control.monitor.protocol().count:
            await self.play(self.scrub)  # its end clears what the last mutant broke after its own
        clean = await self.play(self.scrub)
        if not clean.passed:
            message = clean.mismatches[0].message if clean.mismatches else "no comparison"
            self.events.write("leak", number=number, message=message)
            raise LeakError(f"before mutant {number}: {message}")
        await self.select(number)
        count = 0
        for name in tests:
            for item in self.series[name].items:
                result = await self.play(item)
                count += 1
                if not result.passed:
                    if number:
                        self.ranking.killed_by(file, name)
                    kinds = tuple(dict.fromkeys(m.kind for m in result.mismatches))
                    first = result.mismatches[0].message if result.mismatches else "no comparison"
                    seconds = round(time.perf_counter() - began, 4)
                    return MutantVerdict(
                        True, kinds, name, item.name, first, count, seconds, number=number
                    )
        seconds = round(time.perf_counter() - began, 4)
        survived = tuple(tests) if number else ()
        return MutantVerdict(False, (), "", "", "", count, seconds, survived, number)

    async def select(self, number: int) -> None:
        """Make a mutant the live one, in reset: what it finds of the last one's state is no fault.

        Drops late complaints of the last.
        """
        driver = self.env.control.driver
        top: Any = cocotb.top
        top.rst.value = 1
        getattr(top.dut, self.task.control).value = number
        await driver.cycles(2)
        await driver.reset()
        self.env.control.monitor.complaints.new()
        await driver.cycles(2)

    async def play(self, item: ProgramItem) -> ProgramResult:
        """Play one program through the sequencer; return the scoreboard's verdict."""
        log: VerdictKeeper = self.env.result_log
        log.last = None
        await ItemsSequence("one", Job(items=[item])).start(self.env.control.sequencer)
        if log.last is None:
            raise LeakError(f"program {item.name} ended without a verdict")
        return log.last
