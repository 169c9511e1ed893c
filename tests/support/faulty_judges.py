"""Faulty predictors, scoreboards, result logs and tests. Each class does one thing wrong."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import cocotb
import numpy as np
from cocotb.triggers import Timer

import verif.env.scoreboard as scoreboard_module
from model.chip.image import Words
from model.chip.machine import RunResult
from verif.agents.control.load_file import Memories
from verif.agents.control.observation import Observation
from verif.env.compare import CHECKS, Found, compare_memory
from verif.env.predictor import Prediction, Predictor
from verif.env.result_log import ResultLog
from verif.env.resync import Resync
from verif.env.scoreboard import Scoreboard
from verif.env.verdict import Verdict
from verif.items.program_item import ProgramItem
from verif.items.result import ProgramResult
from verif.sequences.registry import make_sequence
from verif.tests.base_test import PERIOD, BaseTest


class StaleScratchpad(Predictor):
    def predict(self, item: ProgramItem, spad: Words, previous: RunResult | None) -> Prediction:
        return super().predict(item, np.zeros_like(spad), previous)


class PredictsTheDefaultLatency(Predictor):
    def predict(self, item: ProgramItem, spad: Words, previous: RunResult | None) -> Prediction:
        plain = replace(item, latency=8, latencies=(), late_answers=False)
        return replace(super().predict(plain, spad, previous), item=item)


class PredictsTheLastProgram(Predictor):
    last: Prediction | None = None

    def predict(self, item: ProgramItem, spad: Words, previous: RunResult | None) -> Prediction:
        last, self.last = self.last, super().predict(item, spad, previous)
        return replace(last or self.last, item=item)


class ForgetsTheMemory(Predictor):
    def predict(self, item: ProgramItem, spad: Words, previous: RunResult | None) -> Prediction:
        return super().predict(item, spad, None)


class ResynchronizesTheScratchpadAlone(Resync):
    def write(self, verdict: Verdict) -> None:
        if not verdict.result.passed:
            self.ap.write(Memories(verdict.prediction.spad_after))


class PublishesNothing(Predictor):
    def accept(self, item: ProgramItem) -> None:
        pass


class ComparesNothing(Scoreboard):
    def judge(self, prediction: Prediction, seen: Observation) -> ProgramResult:
        return self.result(prediction, seen, 0, [])


class SwallowsMismatches(Scoreboard):
    def judge(self, prediction: Prediction, seen: Observation) -> ProgramResult:
        result = super().judge(prediction, seen)
        return self.result(prediction, seen, result.comparisons, [])


class NeverRaises(Scoreboard):
    def check_phase(self) -> None:
        pass


class KeepsOldTraffic(Scoreboard):
    def accept_prediction(self, prediction: Prediction) -> None:
        self.prediction = prediction


class IgnoresBursts(Scoreboard):
    def judge(self, prediction: Prediction, seen: Observation) -> ProgramResult:
        with patch.object(scoreboard_module, "compare_bursts", lambda *_: (1, [])):
            return super().judge(prediction, seen)


def some_words(prediction: Prediction, seen: Observation) -> Found:
    """A comparison of the memory that stops after 200 words."""
    run = replace(prediction.expected, ext=prediction.expected.ext[:200])
    return compare_memory(
        replace(prediction, expected=run), replace(seen, memory=seen.memory[:200])
    )


class ComparesSomeWords(Scoreboard):
    def judge(self, prediction: Prediction, seen: Observation) -> ProgramResult:
        checks = tuple(some_words if check is compare_memory else check for check in CHECKS)
        with patch.object(scoreboard_module, "CHECKS", checks):
            return super().judge(prediction, seen)


def without(name: str) -> type[Scoreboard]:
    """A scoreboard that leaves out one comparison of ``verif.env.compare.CHECKS``."""
    checks = tuple(check for check in CHECKS if check.__name__ != name)
    if len(checks) != len(CHECKS) - 1:
        raise ValueError(f"{name} is no comparison")

    def judge(self: Scoreboard, prediction: Prediction, seen: Observation) -> ProgramResult:
        with patch.object(scoreboard_module, "CHECKS", checks):
            return Scoreboard.judge(self, prediction, seen)

    return type(f"Without_{name}", (Scoreboard,), {"judge": judge})


class LogsOnlyWhatPassed(ResultLog):
    def write(self, line: str) -> None:
        if '"passed": false' not in line:
            super().write(line)


class SkipsTheLastItem(BaseTest):
    """Not a component: the test and its sequence."""

    def build_phase(self) -> None:
        super().build_phase()
        self.job.items.pop()


class EndsBeforeTheProgram(BaseTest):
    async def run_phase(self) -> None:
        self.raise_objection()
        await self.env.control.driver.ready.wait()
        cocotb.start_soon(make_sequence(self.job).start(self.env.control.sequencer))
        await Timer(100 * PERIOD, unit="ns")
        self.drop_objection()
