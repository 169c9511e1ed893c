"""Burst monitor: one item a burst, in the order in which they ended."""

from __future__ import annotations

import os
from typing import Any

import cocotb
import numpy as np
from pyuvm import ConfigDB, uvm_analysis_port, uvm_monitor

from verif.agents.memory.bus import bind
from verif.agents.memory.config import MemoryConfig
from verif.items.burst_item import BurstItem


class BurstMonitor(uvm_monitor):
    """Publishes a ``BurstItem`` on ``ap`` for every burst of a program, when the program is over.

    The HDL's bus watch logs each burst as it ends: nobody wakes for it. It counts the words; that
    they are consecutive is a check of the protocol checker, so first address and length say
    everything.
    """

    def build_phase(self) -> None:
        """Create the port and bind the two buses of the bus watch."""
        self.ap = uvm_analysis_port("ap", self)
        self.config: MemoryConfig = ConfigDB().get(self, "", "agent_config")
        self.reads: Any = bind(cocotb.top, "rd", ("valid",))
        self.writes: Any = bind(cocotb.top, "st", ("valid",))

    def collect(self, _: object = None) -> None:
        """Publish the bursts of the program that has just ended."""
        for burst in self.logged():
            self.ap.write(burst)

    def logged(self) -> list[BurstItem]:
        """The bursts in the log, which holds address | write << 16 and length of each."""
        path = os.path.join(self.config.folder, "bursts.bin")
        rows = np.fromfile(path, dtype="<u4").reshape(-1, 2).tolist()
        return [
            BurstItem("write" if where >> 16 else "read", where & 0xFFFF, length)
            for where, length in rows
        ]

    @property
    def idle(self) -> bool:
        """No burst is under way."""
        return not (self.reads.valid.value or self.writes.valid.value)
