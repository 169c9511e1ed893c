"""Reactive memory driver: answers reads from Python, each request with a latency of its own."""

from __future__ import annotations

from collections import deque
from typing import Any

import cocotb
import numpy as np
from cocotb.triggers import Event, First, RisingEdge, Timer
from pyuvm import ConfigDB, uvm_component

from verif.agents.memory.bus import bind
from verif.agents.memory.config import MemoryConfig
from verif.items.program_item import ProgramItem


class ReactiveDriver(uvm_component):
    """Answers read requests of items that give ``latencies``; sleeps for all others.

    Request i of a program, made in cycle t, is answered in cycle ``max(t + latencies[i],
    previous answer + 1)``, which is the model's rule too. While a burst is under way it works once
    a cycle, in its middle. A reset drops what is in flight, unless the item asks for late
    answers; these end in the cycle of the next LD's first request, or the item is none.
    """

    def build_phase(self) -> None:
        """Bind the pins; nothing is to do until ``accept``."""
        self.config: MemoryConfig = ConfigDB().get(self, "", "agent_config")
        top: Any = cocotb.top
        self.requests = bind(top, "req", ("valid", "addr"))
        self.writes = bind(top, "wr", ("valid", "addr", "data"))
        self.answers = bind(top, "py_resp", ("valid", "data"))
        self.rst = top.rst
        self.armed = Event()
        self.item: ProgramItem | None = None
        self.forget()

    def forget(self) -> None:
        """Drop requests in flight."""
        self.pending: deque[tuple[int, int]] = deque()  # cycle due, data
        self.count = 0
        self.last_due = 0
        self.cycle = 0

    def accept(self, item: ProgramItem) -> None:
        """Begin a program: answer its reads if it asks for it."""
        again = item is self.item
        self.item = item
        if again and item.late_answers:
            # What is pending was requested before the reset; the requests count anew.
            self.count = self.last_due = 0
        else:
            self.forget()
            self.answers.valid.value = 0
        if not item.reactive:
            self.armed.clear()
            return
        self.memory = np.zeros(item.depth, dtype=np.uint32)
        self.memory[: item.image.size] = item.image
        self.armed.set()

    async def run_phase(self) -> None:
        """Sleep until a reactive item comes, then until there is traffic."""
        while True:
            await self.armed.wait()
            await First(RisingEdge(self.requests.valid), RisingEdge(self.writes.valid))
            await Timer(self.config.period // 2, unit="ns")  # to the middle of the cycle
            while self.armed.is_set() and self.step():
                await Timer(self.config.period, unit="ns")

    def step(self) -> bool:
        """One cycle, in its middle; False when there is nothing more to do."""
        assert self.item is not None
        if self.rst.value and not self.item.late_answers:
            self.forget()
        self.cycle += 1
        writing = self.take_write()
        requesting = self.take_request()
        due = bool(self.pending) and self.pending[0][0] <= self.cycle
        self.answers.valid.value = due
        if due:
            self.answers.data.value = self.pending.popleft()[1]
        return writing or requesting or due or bool(self.pending)

    def take_request(self) -> bool:
        """Queue the request of this cycle with the cycle in which it is to be answered."""
        if not self.requests.valid.value:
            return False
        assert self.item is not None
        latency = self.item.latencies[self.count % len(self.item.latencies)]
        self.count += 1
        self.last_due = max(self.cycle + latency, self.last_due + 1)
        self.pending.append((self.last_due, self.read(int(self.requests.addr.value))))
        return True

    def read(self, addr: int) -> int:
        """Word of the external memory, 0 at or beyond its depth."""
        return int(self.memory[addr]) if addr < self.memory.size else 0

    def take_write(self) -> bool:
        """Apply the write of this cycle."""
        if not self.writes.valid.value:
            return False
        addr = int(self.writes.addr.value)
        if addr < self.memory.size:
            self.memory[addr] = int(self.writes.data.value)
        return True
