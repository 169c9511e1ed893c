"""Functional coverage: counts the bins that passing programs hit, exports them at the end."""

from __future__ import annotations

from collections import Counter

from pyuvm import uvm_subscriber

from verif.bins.program import Deeds, mark_all
from verif.bins.sheet import Hit
from verif.env.bin_database import BinDatabase
from verif.env.verdict import Verdict
from verif.items.job import COVERAGE_FILE, job_folder
from verif.plan import load_plan

TOGETHER = 64
"""Programs that are looked at together: more are not faster."""
LARGEST = 1 << 18
"""Instructions, and words that they read, from which fewer are: what was read takes memory."""


class UnplannedBinError(AssertionError):
    """A program hit bins that the test plan does not name."""


class Coverage(uvm_subscriber):
    """Receives verdicts; leaves ``coverage.xml`` in the job's folder.

    A program that failed covers nothing: what it was meant to do did not happen. A bin counts once
    a program, however often the program hit it. Programs are looked at many together.
    """

    def build_phase(self) -> None:
        """Start from nothing."""
        self.counts: Counter[Hit] = Counter()
        self.waiting: list[Deeds] = []
        self.size = 0
        self.unplanned: list[Hit] = []

    def write(self, verdict: Verdict) -> None:
        """Count one program."""
        deeds = verdict.prediction.deeds
        if verdict.result.passed and deeds:
            self.waiting.append(deeds)
            self.size += deeds.size
            if len(self.waiting) == TOGETHER or self.size > LARGEST:
                self.count()

    def count(self) -> None:
        """Count the programs that wait for it."""
        self.counts.update(mark_all(self.waiting).counts())
        self.waiting.clear()
        self.size = 0

    def extract_phase(self) -> None:
        """Put the counts into the database and export it; without programs there is no file."""
        self.count()
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
