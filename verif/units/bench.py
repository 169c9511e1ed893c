"""Drives one execution unit in the bench's socket and plays scratchpad and external memory for it.

The clock runs in the HDL; everything here happens on its falling edge, in the middle of a cycle:
outputs have settled, and what is driven is there at the rising edge that ends the cycle.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import cocotb
import numpy as np
from cocotb.triggers import FallingEdge

from model.chip.image import Words
from model.chip.isa import EXT_WORDS, SPAD_WORDS, FaultCode, Instruction, Op, check_fault, encode
from model.chip.machine import Machine
from model.chip.signature import keys_of, signatures
from model.chip.timing import DEFAULT_LATENCY, busy_cycles
from verif.agents.control.complaints import ComplaintReader

QUIET_CYCLES = 2  # FETCH and ISSUE separate two instructions on the chip
SLACK = 8  # cycles beyond the predicted end before a unit counts as hung
USES_RDATA = frozenset(Op) - {Op.HALT, Op.LD}


@dataclass
class Trace:
    """What a unit did from its first busy cycle to its last.

    Attributes:
        busy: busy cycles.
        writes: (address, data) of the scratchpad writes, in order.
        requests: addresses of the external read requests, in order.
        stores: (address, data) of the external writes, in order.
    """

    busy: int = 0
    writes: list[tuple[int, int]] = field(default_factory=list)
    requests: list[int] = field(default_factory=list)
    stores: list[tuple[int, int]] = field(default_factory=list)


class UnitBench:
    """The socket of ``unit_bench``.

    Args:
        dut: the bench's handle.

    Attributes:
        rng: source of contents, of garbage on idle inputs, and of the tests' choices.
        spad: the scratchpad, uint32 (4096,).
        ext: the external memory, uint32 (65536,).
    """

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.complaints: ComplaintReader | None = None  # before the first reset all may be said
        self.rng = random.Random(cocotb.RANDOM_SEED)
        contents = np.random.default_rng(self.rng.getrandbits(64))
        self.spad: Words = contents.integers(0, 1 << 32, SPAD_WORDS, dtype=np.uint32)
        self.ext: Words = contents.integers(0, 1 << 32, EXT_WORDS, dtype=np.uint32)

    @classmethod
    async def after_reset(cls, dut: Any) -> UnitBench:
        """A bench with random memories whose units have been reset."""
        bench = cls(dut)
        await FallingEdge(dut.clk)
        await bench.reset()
        bench.complaints = ComplaintReader()
        return bench

    async def reset(self) -> None:
        """Reset all units for a cycle; they must be quiet afterwards."""
        self.dut.rst.value = 1
        self.dut.start.value = 0
        self.dut.resp_valid.value = 0
        await FallingEdge(self.dut.clk)
        self.dut.rst.value = 0
        await self.quiet(1)

    async def quiet(self, cycles: int = QUIET_CYCLES) -> None:
        """Let ``cycles`` pass in which no unit may ask for anything.

        Raises:
            AssertionError: one did, or the design complained of something before.
        """
        said = self.complaints.new() if self.complaints else []
        assert not said, f"the design complained: {said[0]}"
        for _ in range(cycles):
            await FallingEdge(self.dut.clk)
            assert int(self.dut.any_request.value) == 0, "an idle unit asked for something"

    async def advance(self, cycles: int) -> None:
        """Let ``cycles`` pass and answer nothing."""
        for _ in range(cycles):
            await FallingEdge(self.dut.clk)

    async def start(self, instr: Instruction) -> None:
        """Start the unit; returns in the middle of its first busy cycle."""
        self.dut.instr.value = encode(instr)
        self.dut.start.value = 1
        await FallingEdge(self.dut.clk)
        self.dut.start.value = 0

    async def run(self, instr: Instruction, latency: Sequence[int], cycles: int) -> Trace:
        """Run the unit until it is done, at most for ``cycles``.

        Args:
            instr: selects the unit and gives its operands.
            latency: of each external read request, in cycles.
            cycles: the limit.

        Raises:
            AssertionError: it is not done by then.
        """
        dut = self.dut
        trace = Trace()
        answers: deque[tuple[int, int]] = deque()  # (cycle, data)
        last_answer = 0
        read: int | None = None
        await self.start(instr)
        for cycle in range(cycles):
            if instr.op in USES_RDATA:
                # Only the answer to a read is worth anything; a unit must not lean on the rest.
                dut.rdata.value = self.rng.getrandbits(32) if read is None else read
                read = int(self.spad[int(dut.raddr.value)]) if int(dut.ren.value) else None
            if instr.op == Op.LD:
                due = bool(answers) and answers[0][0] == cycle
                dut.resp_valid.value = int(due)
                dut.resp_data.value = answers.popleft()[1] if due else self.rng.getrandbits(32)
                if int(dut.req_valid.value):
                    address = int(dut.req_addr.value)
                    # One too many has no latency of its own; it is found in the comparison.
                    delay = latency[min(len(trace.requests), len(latency) - 1)]
                    last_answer = max(last_answer + 1, cycle + delay)
                    answers.append((last_answer, int(self.ext[address])))
                    trace.requests.append(address)
            elif instr.op == Op.ST and int(dut.wr_valid.value):
                trace.stores.append((int(dut.wr_addr.value), int(dut.wr_data.value)))
            if int(dut.we.value):
                trace.writes.append((int(dut.waddr.value), int(dut.wdata.value)))
                self.spad[trace.writes[-1][0]] = trace.writes[-1][1]
            if int(dut.done.value):
                trace.busy = cycle + 1
                dut.resp_valid.value = 0
                await self.quiet()
                return trace
            await FallingEdge(dut.clk)
        raise AssertionError(f"{describe(instr)} is not done after {cycles} cycles")

    async def check(self, instr: Instruction, latency: Sequence[int] | None = None) -> None:
        """Run a legal instruction and compare its unit with the model.

        Compared are busy cycles, the scratchpad writes in their order (by signature), both
        memories, and the external traffic.

        Args:
            instr: what to run.
            latency: of each external read request; None: 8 cycles for all.

        Raises:
            AssertionError: the unit and the model differ, or the instruction is not legal.
        """
        what = describe(instr)
        assert check_fault(instr) == FaultCode.NONE, f"{what} is not legal"
        latencies = latency or [DEFAULT_LATENCY] * max(instr.length, 1)
        machine = Machine(depth=EXT_WORDS)
        machine.spad[:] = self.spad
        expected = machine.run([encode(instr)], self.ext, latencies)
        busy = busy_cycles(instr, latencies)

        trace = await self.run(instr, latencies, busy + SLACK)
        assert trace.busy == busy, f"{what} took {trace.busy} cycles, expected {busy}"
        wrong = np.flatnonzero(self.spad != machine.spad)
        if wrong.size:
            at = int(wrong[0])
            raise AssertionError(
                f"{what}: {wrong.size} words differ, first spad[{at}] = {self.spad[at]:#x}, "
                f"expected {machine.spad[at]:#x}"
            )
        retire = expected.retires[0]
        assert len(trace.writes) == retire.spad_writes, (
            f"{what} wrote {len(trace.writes)} words, expected {retire.spad_writes}"
        )
        assert signature(trace.writes) == retire.signature, f"{what} wrote in another order"
        assert len(trace.stores) == retire.ext_writes, (
            f"{what} stored {len(trace.stores)} words, expected {retire.ext_writes}"
        )
        for address, data in trace.stores:
            self.ext[address] = data
        assert (self.ext == expected.ext).all(), f"{what} stored other words"
        if instr.op == Op.LD:
            wanted = list(range(instr.b, instr.b + instr.c))
            assert trace.requests == wanted, f"{what} asked for other addresses"


def signature(writes: Sequence[tuple[int, int]]) -> int:
    """Signature of scratchpad writes (address, data)."""
    if not writes:
        return 0
    addresses, data = np.array(writes, dtype=np.int64).T
    return signatures([keys_of(addresses, data.astype(np.uint32))])[0]


def describe(instr: Instruction) -> str:
    """Name an instruction with its fields other than zero, for messages."""
    fields = {name: value for name, value in instr._asdict().items() if value and name != "op"}
    return " ".join([Op(instr.op).name, *(f"{name}={value}" for name, value in fields.items())])
