"""Functional coverage: counts the bins that passing programs hit, exports them at the end."""

from __future__ import annotations

from collections import Counter

from pyuvm import uvm_subscriber

from verif.bins.fields import Hit
from verif.env.bin_database import BinDatabase
from verif.env.verdict import Verdict
from verif.items.job import COVERAGE_FILE, job_folder
from verif.plan import load_plan


class UnplannedBinError(AssertionError):
    """A program hit bins that the test plan does not name."""


class Coverage(uvm_subscriber):
    """Receives verdicts; leaves ``coverage.xml`` in the job's folder.

    A program that failed covers nothing: what it was meant to do did not happen. A bin counts once
    a program, however often the program hit it.
    """

    def build_phase(self) -> None:
        """Start from nothing."""
        self.counts: Counter[Hit] = Counter()
        self.unplanned: list[Hit] = []

    def write(self, verdict: Verdict) -> None:
        """Count one program."""
        if verdict.result.passed:
            self.counts.update(verdict.prediction.hits)

    def extract_phase(self) -> None:
        """Put the counts into the database and export it; without programs there is no file."""
        if self.counts:
            database = BinDatabase(load_plan())
            self.unplanned = database.add(self.counts)
            database.export(job_folder() / COVERAGE_FILE)

    def check_phase(self) -> None:
        """Fail the test when the plan and the classifying functions do not agree.

        Raises:
            UnplannedBinError: naming the bins.
        """
        if self.unplanned:
            names = ", ".join(f"{point}: {bin_}" for point, bin_ in self.unplanned)
            raise UnplannedBinError(f"bins that the test plan does not name: {names}")
