"""Control monitor: samples pins and collects the HDL testbench's files when a program ends."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge
from pyuvm import ConfigDB, uvm_analysis_port, uvm_monitor

from model.chip.timing import Counters
from verif.agents.control.complaints import ComplaintReader
from verif.agents.control.config import ControlConfig
from verif.agents.control.observation import (
    Observation,
    ProtocolErrors,
    read_memory,
    read_retires,
    read_writes,
)

COUNTERS = ("cyc_total", "cyc_mm", "cyc_dma", "cyc_vec", "n_inst")


class ControlMonitor(uvm_monitor):
    """Publishes an ``Observation`` on ``ap`` whenever ``done`` rises, and says so before on
    ``ended``.
    """

    def build_phase(self) -> None:
        """Create the ports; fetch the configuration."""
        self.ap = uvm_analysis_port("ap", self)
        self.ended = uvm_analysis_port("ended", self)
        self.config: ControlConfig = ConfigDB().get(self, "", "agent_config")
        self.dut: Any = cocotb.top
        self.complaints = ComplaintReader()

    async def run_phase(self) -> None:
        """Wake at the end of every program."""
        done = RisingEdge(self.dut.done)
        while True:
            await done
            self.publish(self.observe())

    def publish(self, seen: Observation) -> None:
        """Have the program's traffic published, then what it left."""
        self.ended.write(None)
        self.ap.write(seen)

    @cached_property
    def probed(self) -> bool:
        """The design has the names that the retire probe looks at (a netlist has not)."""
        return bool(self.dut.probed.value)

    @property
    def idle(self) -> bool:
        """No program is running."""
        return not self.dut.running.value

    def observe(self) -> Observation:
        """Sample everything the finished program left."""
        dut, folder = self.dut, self.config.folder
        counters = [self.sample(getattr(dut, name)) for name in COUNTERS]
        known = [value for value in counters if value is not None]
        memory, unknown = read_memory(folder, "memory")
        spad, spad_unknown = read_memory(folder, "scratchpad") if self.probed else (None, [])
        return Observation(
            hung=bool(dut.hang.value),
            counters=Counters(*known) if len(known) == len(counters) else None,
            fault=self.sample(dut.fault),
            fault_code=self.sample(dut.fault_code),
            fault_pc=self.sample(dut.fault_pc),
            memory=memory,
            unknown=unknown,
            spad=spad,
            spad_unknown=spad_unknown,
            writes=read_writes(folder),
            retires=read_retires(folder) if self.probed else None,
            protocol=self.protocol(),
            complaints=self.complaints.new(),
        )

    def protocol(self) -> ProtocolErrors:
        """What the protocol checker has found since the program before ended."""
        dut = self.dut
        count = int(dut.errors.value)
        if not count:
            return ProtocolErrors(0, 0, 0, 0)
        return ProtocolErrors(
            count,
            int(dut.error_mask.value),
            int(dut.first_error.value),
            int(dut.first_cycle.value),
        )

    @staticmethod
    def sample(handle: Any) -> int | None:
        """Value of a signal, None when a bit of it is unknown."""
        try:
            return int(handle.value)
        except ValueError:  # asking first would look at every bit
            return None
