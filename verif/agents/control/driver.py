"""Control driver: loads a program, starts it, waits for its end. Wakes a handful of times each."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import Event, First, RisingEdge, Timer
from pyuvm import ConfigDB, uvm_analysis_port, uvm_driver

from verif.agents.control.config import ControlConfig
from verif.agents.control.load_file import Memories, write_load_file
from verif.agents.control.transaction import ProgramTransaction
from verif.items.program_item import RESET_CYCLES, ProgramItem
from verif.items.result import ProgramResult


class LoadError(RuntimeError):
    """The HDL testbench did not take the load file."""


class ControlDriver(uvm_driver):
    """Drives ``clk_enable``, ``load_req``, ``rst`` and ``start``.

    Everything is driven midway between rising edges of the clock, which lives in the HDL: the
    driver knows its period and never waits for clock edges. ``started`` announces each item before
    it is loaded, and again when it was aborted and is loaded for its full run. Whoever judges a
    program hands the result to ``answer``; it goes back to the sequence on the transaction.
    """

    def build_phase(self) -> None:
        """Create the port; fetch the configuration."""
        self.started = uvm_analysis_port("started", self)
        self.config: ControlConfig = ConfigDB().get(self, "", "agent_config")
        self.dut: Any = cocotb.top
        self.ready = Event()  # powered up
        self.preload = Memories(spad=self.config.power_up)
        self.transaction: ProgramTransaction | None = None

    async def run_phase(self) -> None:
        """Play items for ever."""
        await self.power_up()
        while True:
            self.transaction = await self.seq_item_port.get_next_item()
            await self.play(self.transaction.item)
            self.seq_item_port.item_done()

    def answer(self, result: ProgramResult) -> None:
        """Take the result of the program that has just ended; one that failed stays.

        Of a program to be aborted there are two if it ended too early, before its full run.
        """
        if self.transaction is None:
            return
        before = self.transaction.result
        if before is None or before.passed:
            self.transaction.result = result

    def load_next(self, memories: Memories) -> None:
        """Load these with the next program, as far as it brings none of its own."""
        self.preload = memories

    async def power_up(self) -> None:
        """Start the clock, which rises half a period later, in the shortest reset."""
        self.dut.rst.value = 1
        self.dut.clk_enable.value = 1
        await self.cycles(1)
        self.dut.rst.value = 0
        self.probed = bool(self.dut.probed.value)
        self.ready.set()

    async def cycles(self, count: int) -> None:
        """Wait from the middle of a cycle to that of the one ``count`` cycles later."""
        if count > 0:
            await Timer(count * self.config.period, unit="ns")

    async def reset(self, item: ProgramItem | None = None) -> None:
        """Assert reset for ``RESET_CYCLES`` cycles, or as the item wants it."""
        self.dut.rst.value = 1
        if item is not None and item.start_in_reset:
            self.dut.start.value = 1
        await self.cycles(RESET_CYCLES if item is None else item.reset_cycles)
        self.dut.rst.value = 0
        self.dut.start.value = 0

    async def play(self, item: ProgramItem) -> None:
        """Run one item to its end, with what it asks for before, during and after."""
        if item.reset_before:
            await self.reset(item)
        self.started.write(item)
        if item.abort_at is not None:
            await self.load_and_start(item)
            self.dut.start.value = 0
            await self.cycles(item.abort_at - 1)
            await self.reset(item)
            await self.cycles(item.idle_after)
            self.started.write(item)
        await self.load_and_start(item)
        await self.pulse_start(item)
        if item.restart_after is not None:
            await self.restart(item.restart_after)
        if not self.dut.done.value:
            await RisingEdge(self.dut.done)
        # Back to the middle of a cycle; by then the monitor has published what it saw.
        await Timer(self.config.period // 2, unit="ns")
        if self.dut.hang.value:
            await self.reset()
        await self.cycles(item.idle_after)

    def memories_for(self, item: ProgramItem) -> Memories:
        """What to load into both memories with ``item``.

        Raises:
            LoadError: the item brings a scratchpad, and the design is a netlist, which takes none.
        """
        preload, self.preload = self.preload, Memories()
        spad = item.spad if item.spad is not None else preload.spad
        if not self.probed:
            if item.spad is not None:
                raise LoadError(f"item {item.name!r} brings a scratchpad; a netlist takes none")
            spad = None
        return Memories(spad, preload.image if item.inherits else item.image)

    async def load_and_start(self, item: ProgramItem) -> None:
        """Load and raise ``start``, for one cycle unless it is held; returns amid cycle 1."""
        write_load_file(self.config.folder, item, self.memories_for(item))
        request = not self.dut.load_req.value
        self.dut.load_req.value = request
        self.dut.start.value = 1
        await self.cycles(1)
        self.dut.start.value = item.start_held
        if self.dut.load_ack.value != request:
            raise LoadError(f"item {item.name!r}: the testbench top did not load it")

    async def restart(self, after: int) -> None:
        """Wait for the end of the first run, and raise ``start`` ``after`` halted cycles later."""
        if not self.dut.halted.value:
            ended = RisingEdge(self.dut.done)  # hung
            if await First(RisingEdge(self.dut.halted), ended) is ended:
                return
            await Timer(self.config.period // 2, unit="ns")
        await self.cycles(after)
        self.dut.start.value = 1
        await self.cycles(1)
        self.dut.start.value = 0

    async def pulse_start(self, item: ProgramItem) -> None:
        """Raise ``start`` in the cycles the item asks for, as long as the program runs."""
        now = 1
        for cycle in sorted(set(item.start_pulses)):
            if cycle > now:
                ended = RisingEdge(self.dut.done)
                reached = Timer((cycle - now) * self.config.period, unit="ns")
                if await First(ended, reached) is ended:
                    return
                now = cycle
            # A start after the end is a new program, not one to be ignored.
            if self.dut.halted.value:
                return
            self.dut.start.value = 1
            await self.cycles(1)
            self.dut.start.value = 0
            now += 1
