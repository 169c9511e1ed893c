"""Memory agent: burst monitor, and the reactive driver for items that want it."""

from __future__ import annotations

from pyuvm import uvm_agent

from verif.agents.memory.driver import ReactiveDriver
from verif.agents.memory.monitor import BurstMonitor


class MemoryAgent(uvm_agent):
    """Owns ``monitor`` and ``driver``."""

    def build_phase(self) -> None:
        """Create the components."""
        self.monitor = BurstMonitor.create("monitor", self)
        self.driver = ReactiveDriver.create("driver", self)
