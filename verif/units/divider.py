"""Unit test of the divider: quotients, its forty cycles, and that the result holds."""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge

CYCLES = 40
TOP = (1 << 40) - 1


async def divide(dut: Any, dividend: int, divisor: int) -> int:
    """Divide, and check that it takes exactly forty cycles after the start cycle.

    Returns:
        The quotient, read in the cycle after ``done``.

    Raises:
        AssertionError: ``done`` comes too early, too late or stays.
    """
    dut.div_dividend.value = dividend
    dut.div_divisor.value = divisor
    dut.div_start.value = 1
    await FallingEdge(dut.clk)
    dut.div_start.value = 0
    # The dividend is taken over at the start; whatever is there later must not matter.
    dut.div_dividend.value = dividend ^ TOP
    for cycle in range(1, CYCLES + 1):
        done = int(dut.div_done.value)
        assert done == (cycle == CYCLES), f"done is {done} in cycle {cycle} of {CYCLES}"
        await FallingEdge(dut.clk)
    assert int(dut.div_done.value) == 0, "done stays"
    return int(dut.div_quotient.value)


async def check(dut: Any, dividend: int, divisor: int) -> None:
    """Compare one division with Python's, and see that the quotient holds.

    Raises:
        AssertionError: it differs.
    """
    got = await divide(dut, dividend, divisor)
    want = dividend // divisor if divisor else TOP
    assert got == want, f"{dividend} / {divisor} = {got}, expected {want}"
    dut.div_divisor.value = divisor ^ 1
    await FallingEdge(dut.clk)
    assert int(dut.div_quotient.value) == want, "the quotient does not hold"


@cocotb.test()
async def corners(dut: Any) -> None:
    """The ends of both ranges, powers of two and their neighbours, equal operands, zero."""
    await FallingEdge(dut.clk)
    edges = (0, 1, 2, (1 << 27) - 1, 1 << 27, (1 << 28) - 1, 1 << 38, TOP)
    for dividend in edges:
        for divisor in (0, 1, 2, 3, (1 << 27) - 1, 1 << 27, (1 << 28) - 1):
            await check(dut, dividend, divisor)


@cocotb.test()
async def softmax_range(dut: Any) -> None:
    """2**38 over the sums that softmax forms at its limits: one score, all equal, the most."""
    await FallingEdge(dut.clk)
    for divisor in (65535, 65536, 65535 * 2, 65535 * 4095, 65535 + 4094, 65535 * 3 + 17):
        await check(dut, 1 << 38, divisor)


@cocotb.test()
async def random_operands(dut: Any) -> None:
    """Random operands of every length in bits."""
    await FallingEdge(dut.clk)
    rng = random.Random(cocotb.RANDOM_SEED)
    for _ in range(60):
        await check(dut, rng.getrandbits(rng.randint(1, 40)), rng.getrandbits(rng.randint(1, 28)))


@cocotb.test()
async def start_in_between(dut: Any) -> None:
    """A start in any part of a division begins afresh: nothing needs a reset."""
    await FallingEdge(dut.clk)
    for cycles in (1, 2, 20, 39, 40):
        dut.div_dividend.value = TOP
        dut.div_divisor.value = 3
        dut.div_start.value = 1
        await FallingEdge(dut.clk)
        dut.div_start.value = 0
        for _ in range(cycles - 1):
            await FallingEdge(dut.clk)
        await check(dut, 1 << 38, 65535)
