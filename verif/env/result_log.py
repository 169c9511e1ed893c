"""Writes every verdict to the job's results file at once, and keeps failing programs."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import Any

import numpy as np
from pyuvm import ConfigDB, uvm_component

from verif.env.analysis_input import AnalysisInput
from verif.env.config import EnvConfig
from verif.env.verdict import Verdict
from verif.items.job import FAILING, KEPT, MEMORY_FILE, RESULTS_FILE, Job, job_folder


class ResultLog(uvm_component):
    """Appends one JSON line a program to ``results.jsonl``; the front end reads along.

    A failing program is saved as a job of its own, with the memories it started from, so that it
    can be played alone.
    """

    def build_phase(self) -> None:
        """Open the file."""
        self.verdicts = AnalysisInput("verdicts", self, self.accept)
        self.folder = job_folder()
        self.config: EnvConfig = ConfigDB().get(self, "", "config")
        self.file = open(self.folder / RESULTS_FILE, "a", encoding="utf-8")  # noqa: SIM115
        self.kept = 0
        self.cycles = 0
        self.begin()

    def begin(self) -> None:
        """Start the clocks: from now on time is the simulation's."""
        self.started = time.perf_counter(), time.process_time()

    def accept(self, verdict: Verdict) -> None:
        """Log one program."""
        result = verdict.result
        self.cycles += result.counters.get("total", 0)
        if not result.passed and self.kept < KEPT:
            self.keep(verdict)
        if self.config.keep_memory:
            np.save(self.folder / MEMORY_FILE, verdict.seen.memory)
        self.write(result.to_json())

    def keep(self, verdict: Verdict) -> None:
        """Save the failing program as a job."""
        folder = self.folder / FAILING / f"{self.kept}"
        spad, image = verdict.prediction.spad_before, verdict.prediction.image
        item = replace(
            verdict.prediction.item, spad=spad, image=image, inherits=False, reset_before=True
        )
        Job("items", {}, [item]).save(folder)
        self.kept += 1

    def write(self, line: str) -> None:
        """Append one line, at once: the simulator may crash later."""
        self.file.write(line + "\n")
        self.file.flush()

    def close(self, summary: dict[str, Any]) -> None:
        """Write the final line: counts of the scoreboard, cycles simulated, seconds it took.

        ``seconds`` is wall-clock time from the first cycle to the end of the run phase, without
        start-up and predictions made before; ``cpu_seconds`` the processor time in it, which a busy
        machine does not lengthen.
        """
        line = {
            "type": "summary",
            **summary,
            "cycles": self.cycles,
            "seconds": time.perf_counter() - self.started[0],
            "cpu_seconds": time.process_time() - self.started[1],
        }
        self.write(json.dumps(line))
        self.file.close()
