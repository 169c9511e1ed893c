"""Burst monitor: one item a burst, one wake-up a burst."""

from __future__ import annotations

from typing import Any, Literal

import cocotb
from cocotb.triggers import FallingEdge, Timer
from pyuvm import uvm_analysis_port, uvm_monitor

from verif.agents.memory.bus import bind
from verif.items.burst_item import BurstItem


class BurstMonitor(uvm_monitor):
    """Publishes a ``BurstItem`` on ``ap`` when a read or write burst has ended.

    The HDL's burst trackers count the words; that they are consecutive is a check of the protocol
    checker, so first address and length say everything.
    """

    def build_phase(self) -> None:
        """Create the port and bind the two buses of the burst trackers."""
        self.ap = uvm_analysis_port("ap", self)
        self.reads: Any = bind(cocotb.top, "rd", ("valid", "addr", "length"))
        self.writes: Any = bind(cocotb.top, "st", ("valid", "addr", "length"))

    async def run_phase(self) -> None:
        """Watch both directions, once the buses have left their unknown state of time 0."""
        await Timer(1, unit="ns")
        cocotb.start_soon(self.watch("read", self.reads))
        cocotb.start_soon(self.watch("write", self.writes))

    async def watch(self, kind: Literal["read", "write"], bus: Any) -> None:
        """Wake when a burst of one direction ends."""
        ended = FallingEdge(bus.valid)
        while True:
            await ended
            self.ap.write(BurstItem(kind, int(bus.addr.value), int(bus.length.value)))

    @property
    def idle(self) -> bool:
        """No burst is under way."""
        return not (self.reads.valid.value or self.writes.valid.value)
