"""Scoreboard: compares everything a program left with the prediction, and counts."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from pyuvm import ConfigDB, uvm_analysis_port, uvm_component

from verif.agents.control.observation import Observation, ProtocolErrors
from verif.env.analysis_input import AnalysisInput
from verif.env.compare import CHECKS, Burst, compare_bursts
from verif.env.config import EnvConfig
from verif.env.divergence import first_divergence
from verif.env.predictor import Prediction
from verif.env.protocol import PROTOCOL_ERRORS, codes_of
from verif.env.verdict import Verdict
from verif.items.burst_item import BurstItem
from verif.items.result import Mismatch, ProgramResult


class ScoreboardError(AssertionError):
    """The test failed: mismatches, or nothing was compared."""


class Scoreboard(uvm_component):
    """Receives predictions, bursts and observations; publishes a ``Verdict`` a program on ``ap``
    and its result alone on ``results``.

    Mismatches are counted while the simulation goes on; ``check_phase`` raises.
    """

    def build_phase(self) -> None:
        """Create ports and counts."""
        self.ap = uvm_analysis_port("ap", self)
        self.results = uvm_analysis_port("results", self)
        self.predictions = AnalysisInput("predictions", self, self.accept_prediction)
        self.bursts = AnalysisInput("bursts", self, self.accept_burst)
        self.observations = AnalysisInput("observations", self, self.accept_observation)
        self.config: EnvConfig = ConfigDB().get(self, "", "config")
        self.prediction: Prediction | None = None
        self.traffic: list[Burst] = []
        self.programs = self.failed = self.comparisons = self.mismatches = 0

    def accept_prediction(self, prediction: Prediction) -> None:
        """A program is about to start: what it should do."""
        self.prediction = prediction
        self.traffic = []

    def accept_burst(self, burst: BurstItem) -> None:
        """A burst on the external bus has ended."""
        self.traffic.append((burst.kind, burst.addr, burst.length))

    def accept_observation(self, seen: Observation) -> None:
        """A program has ended: compare."""
        prediction, self.prediction = self.prediction, None
        if prediction is None:
            # Reported by check_phase: no result can be attributed.
            self.mismatches += 1
            self.logger.error("a program ended that was never announced")
            return
        result = self.judge(prediction, seen)
        self.programs += 1
        self.comparisons += result.comparisons
        self.mismatches += len(result.mismatches)
        if not result.passed:
            self.failed += 1
        self.ap.write(Verdict(prediction, seen, result))
        self.results.write(result)

    def accept_late(self, errors: ProtocolErrors, complaints: Sequence[str] = ()) -> None:
        """Protocol errors and complaints after the last program, which belong to no result."""
        self.mismatches += errors.count + len(complaints)
        for text in complaints:
            self.logger.error("after the last program: %s", text)
        for code in codes_of(errors.mask):
            self.logger.error("after the last program: %s", PROTOCOL_ERRORS[code])

    def judge(self, prediction: Prediction, seen: Observation) -> ProgramResult:
        """Make every comparison and put the result together."""
        compared, found = compare_bursts(prediction, self.traffic)
        for check in CHECKS:
            count, more = check(prediction, seen)
            compared += count
            found += more
        return self.result(prediction, seen, compared, found)

    def result(
        self, prediction: Prediction, seen: Observation, compared: int, found: list[Mismatch]
    ) -> ProgramResult:
        """The verdict as data."""
        item = prediction.item
        keep = self.config.keep_retires and seen.retires is not None
        return ProgramResult(
            name=item.name,
            provenance=item.provenance,
            passed=not found and compared > 0,
            counters=vars(seen.counters).copy() if seen.counters else {},
            fault=seen.fault,
            fault_code=seen.fault_code,
            fault_pc=seen.fault_pc,
            memory_digest=hashlib.sha256(seen.memory.tobytes()).hexdigest(),
            comparisons=compared,
            mismatches=found,
            first_divergence=first_divergence(prediction, seen, found) if found else "",
            rerun=item.rerun,
            retires=seen.retires.tolist() if keep and seen.retires is not None else None,
        )

    def check_phase(self) -> None:
        """Fail the test on any mismatch, on an unfinished program, and when nothing was compared.

        Raises:
            ScoreboardError: with the counts.
        """
        if self.prediction is not None:
            raise ScoreboardError(f"program {self.prediction.item.name!r} never ended")
        if self.mismatches:
            raise ScoreboardError(
                f"{self.failed} of {self.programs} programs failed, {self.mismatches} mismatches"
            )
        if not self.comparisons:
            raise ScoreboardError("nothing was compared")

    def summary(self) -> dict[str, Any]:
        """Counts of the whole simulation."""
        names = ("programs", "failed", "comparisons", "mismatches")
        return {name: getattr(self, name) for name in names}
