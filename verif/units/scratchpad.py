"""Unit test of the scratchpad: one read and one write port, answers a cycle later."""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge

WORDS = 4096


class Scratchpad:
    """The scratchpad's two ports, and what it must hold.

    Args:
        dut: the bench's handle.
    """

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.rng = random.Random(cocotb.RANDOM_SEED)
        self.words: dict[int, int] = {}
        self.answer: int | None = None  # None: of a word that was never written

    async def cycle(self, read: int | None = None, write: tuple[int, int] | None = None) -> None:
        """One cycle with a read, a write, both or neither; checks the read port's answer.

        Raises:
            AssertionError: the answer is not the word, or it does not hold without a read.
        """
        dut = self.dut
        idle = (self.rng.randrange(WORDS), self.rng.getrandbits(32))
        dut.sp_ren.value = int(read is not None)
        dut.sp_raddr.value = self.rng.randrange(WORDS) if read is None else read
        dut.sp_we.value = int(write is not None)
        dut.sp_waddr.value, dut.sp_wdata.value = write or idle
        if read is not None:
            self.answer = self.words.get(read)
        if write is not None:
            self.words[write[0]] = write[1]
        await FallingEdge(dut.clk)
        if self.answer is not None:
            got = int(dut.sp_rdata.value)
            assert got == self.answer, f"read {got:#x}, expected {self.answer:#x}"


@cocotb.test()
async def every_word(dut: Any) -> None:
    """Writes every word, reads every word: no two addresses share one."""
    await FallingEdge(dut.clk)
    spad = Scratchpad(dut)
    for address in range(WORDS):
        await spad.cycle(write=(address, spad.rng.getrandbits(32)))
    for address in range(WORDS):
        await spad.cycle(read=address)


@cocotb.test()
async def read_while_written(dut: Any) -> None:
    """A read of the word that is written in the same cycle gives the old value."""
    await FallingEdge(dut.clk)
    spad = Scratchpad(dut)
    for address in (0, 1, 2047, 4095):
        await spad.cycle(write=(address, 0x55555555))
        await spad.cycle(read=address, write=(address, 0xAAAAAAAA))
        await spad.cycle(read=address)


@cocotb.test()
async def random_traffic(dut: Any) -> None:
    """Random reads and writes, often of the same few words, with idle cycles between."""
    await FallingEdge(dut.clk)
    spad = Scratchpad(dut)
    for _ in range(4000):
        near = spad.rng.randrange(0, WORDS, 1000)
        read = near + spad.rng.randrange(3) if spad.rng.random() < 0.6 else None
        write = None
        if spad.rng.random() < 0.6:
            write = (near + spad.rng.randrange(3), spad.rng.getrandbits(32))
        await spad.cycle(read, write)
