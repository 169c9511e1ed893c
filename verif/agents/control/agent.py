"""Control agent: sequencer, driver and monitor of the control pins."""

from __future__ import annotations

from pyuvm import uvm_agent, uvm_sequencer

from verif.agents.control.driver import ControlDriver
from verif.agents.control.monitor import ControlMonitor


class ControlAgent(uvm_agent):
    """Owns ``sequencer``, ``driver`` and ``monitor``."""

    def build_phase(self) -> None:
        """Create the components."""
        self.sequencer = uvm_sequencer("sequencer", self)
        self.driver = ControlDriver.create("driver", self)
        self.monitor = ControlMonitor.create("monitor", self)

    def connect_phase(self) -> None:
        """Connect the driver to its sequencer."""
        self.driver.seq_item_port.connect(self.sequencer.seq_item_export)
