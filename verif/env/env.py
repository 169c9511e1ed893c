"""Environment: agents, predictor, scoreboard, and who listens behind it; their connections."""

from __future__ import annotations

from pyuvm import ConfigDB, uvm_env

from verif.agents.control.agent import ControlAgent
from verif.agents.memory.agent import MemoryAgent
from verif.env.analysis_input import AnalysisInput
from verif.env.config import EnvConfig
from verif.env.coverage import Coverage
from verif.env.predictor import Predictor
from verif.env.result_log import ResultLog
from verif.env.resync import Resync
from verif.env.scoreboard import Scoreboard


class Ga2Env(uvm_env):
    """The components are made by the factory, so a test can replace any of them."""

    def build_phase(self) -> None:
        """Hand each agent its settings and create the components."""
        self.config: EnvConfig = ConfigDB().get(self, "", "config")
        ConfigDB().set(self, "control*", "agent_config", self.config.control)
        ConfigDB().set(self, "memory*", "agent_config", self.config.memory)
        self.control = ControlAgent.create("control", self)
        self.memory = MemoryAgent.create("memory", self)
        self.predictor = Predictor.create("predictor", self)
        self.scoreboard = Scoreboard.create("scoreboard", self)
        self.result_log = ResultLog.create("result_log", self)
        self.resync = Resync.create("resync", self)
        self.coverage = Coverage.create("coverage", self)

    def connect_phase(self) -> None:
        """Connect what announces, predicts, watches and judges."""
        driver = self.control.driver
        started = driver.started
        started.connect(AnalysisInput("reads", self, self.memory.driver.accept))
        started.connect(self.predictor.items)
        self.predictor.ap.connect(self.scoreboard.predictions)
        ended = self.control.monitor.ended
        ended.connect(AnalysisInput("ends", self, self.memory.monitor.collect))
        self.memory.monitor.ap.connect(self.scoreboard.bursts)
        self.control.monitor.ap.connect(self.scoreboard.observations)
        self.scoreboard.ap.connect(self.result_log.verdicts)
        self.scoreboard.ap.connect(self.coverage.analysis_export)
        self.scoreboard.ap.connect(self.resync.analysis_export)
        self.scoreboard.results.connect(AnalysisInput("results", self, driver.answer))
        self.resync.ap.connect(AnalysisInput("memories", self, driver.load_next))

    @property
    def idle(self) -> bool:
        """No program runs and no burst is under way."""
        return bool(self.control.monitor.idle and self.memory.monitor.idle)
