"""Resynchronization: after a failure the chip goes on from what the model says."""

from __future__ import annotations

from pyuvm import uvm_analysis_port, uvm_subscriber

from verif.agents.control.load_file import Memories
from verif.env.verdict import Verdict


class Resync(uvm_subscriber):
    """Publishes what a failing program should have left in both memories on ``ap``.

    Loaded with the next program, as far as that brings none, it keeps one fault from being reported
    again by every program that follows.
    """

    def build_phase(self) -> None:
        """Create the port."""
        self.ap = uvm_analysis_port("ap", self)

    def write(self, verdict: Verdict) -> None:
        """Judge whether chip and model may have gone apart."""
        if not verdict.result.passed:
            prediction = verdict.prediction
            self.ap.write(Memories(prediction.spad_after, prediction.expected.ext))
