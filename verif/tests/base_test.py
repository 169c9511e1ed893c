"""Base test: builds the environment, plays the job, holds the end until everything is idle."""

from __future__ import annotations

import gc
from dataclasses import replace
from pathlib import Path

from cocotb.triggers import Timer
from pyuvm import ConfigDB, uvm_test

from verif.agents.control.config import ControlConfig
from verif.agents.memory.config import MemoryConfig
from verif.env.config import EnvConfig
from verif.env.env import Ga2Env
from verif.items.job import job_folder, load_job
from verif.sequences.registry import make_sequence

PERIOD = 2  # ns, ga2_tb.Period
DRAIN_POLL_CYCLES = 4
DRAIN_POLLS = 1000


class DrainError(RuntimeError):
    """The monitors did not become idle after the last item."""


class BaseTest(uvm_test):
    """Owns the objection: nobody below raises one."""

    def build_phase(self) -> None:
        """Load the job, place the configuration, build the environment."""
        self.job = load_job(job_folder())
        params = self.job.params
        control = ControlConfig(Path.cwd(), PERIOD)
        if params.get("unloaded"):
            control = replace(control, power_up=None)
        config = EnvConfig(
            control,
            MemoryConfig(Path.cwd(), PERIOD),
            keep_retires=bool(params.get("keep_retires", False)),
            keep_memory=bool(params.get("keep_memory", False)),
            coverage=bool(params.get("coverage", True)),
        )
        ConfigDB().set(self, "*", "config", config)
        self.env = Ga2Env.create("env", self)

    async def run_phase(self) -> None:
        """Play the job's sequence, then drain."""
        self.raise_objection()
        # What was imported stays: the collector need not walk through it again and again.
        gc.freeze()
        sequence = make_sequence(self.job)
        self.env.predictor.foresee(sequence.foreseen())
        self.env.result_log.begin()
        await self.env.control.driver.ready.wait()
        self.env.control.monitor.complaints.new()  # what was said before the first reset is nothing
        await sequence.start(self.env.control.sequencer)
        await self.drain()
        monitor = self.env.control.monitor
        self.env.scoreboard.accept_late(monitor.protocol(), monitor.complaints.new())
        self.drop_objection()

    async def drain(self) -> None:
        """Wait until the monitors are idle.

        Raises:
            DrainError: they never are.
        """
        for _ in range(DRAIN_POLLS):
            if self.env.idle:
                return
            await Timer(DRAIN_POLL_CYCLES * PERIOD, unit="ns")
        raise DrainError("the monitors are still busy after the last program")

    def extract_phase(self) -> None:
        """Close the result log with the scoreboard's counts, before check_phase may raise."""
        self.env.result_log.close(self.env.scoreboard.summary())
