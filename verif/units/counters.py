"""Unit test of the counters: every carry of their 32 bits, from values placed in them."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import FallingEdge

from verif.units.bench import UnitBench

NAMES = ("total", "mm", "dma", "vec", "n_inst")
CLEAR, RUNNING, WAITING, RETIRE, IS_MM, IS_DMA = (1 << bit for bit in (5, 4, 3, 2, 1, 0))
UNITS = {"mm": IS_MM, "dma": IS_DMA, "vec": 0}
MASK = (1 << 32) - 1


def _packed(values: dict[str, int]) -> int:
    return sum((values[name] & MASK) << 32 * at for at, name in enumerate(reversed(NAMES)))


async def after_cycle(dut: Any, before: dict[str, int], inputs: int) -> int:
    """Give all counters, packed, after one cycle of ``inputs`` from the values ``before``."""
    dut.ctr_value.value = _packed(before)
    dut.ctr_in.value = 0
    dut.ctr_place.value = 1
    await FallingEdge(dut.clk)
    dut.ctr_place.value = 0
    dut.ctr_in.value = inputs
    await FallingEdge(dut.clk)
    dut.ctr_in.value = 0
    return int(dut.ctr_out.value)


async def check_tick(dut: Any, before: dict[str, int], inputs: int, ticking: set[str]) -> None:
    """Place values, let a cycle pass, and compare all counters.

    Args:
        dut: the bench's handle.
        before: value of each counter.
        inputs: of the counters, for one cycle.
        ticking: the counters that count one.

    Raises:
        AssertionError: a counter has another value.
    """
    got = await after_cycle(dut, before, inputs)
    for at, name in enumerate(reversed(NAMES)):
        want = (before[name] + (name in ticking)) & MASK
        value = got >> 32 * at & MASK
        assert value == want, f"{name} is {value:#x} behind {before[name]:#x}, expected {want:#x}"


@cocotb.test()
async def carries(dut: Any) -> None:
    """Every counter, with a carry into each of its bits and out of the last."""
    await UnitBench.after_reset(dut)
    for bit in range(33):
        ones = (1 << bit) - 1
        same = dict.fromkeys(NAMES, ones)
        await check_tick(dut, same, RUNNING, {"total"})
        for unit, chosen in UNITS.items():
            await check_tick(dut, same, RUNNING | WAITING | chosen, {"total", unit})
        # At the end of an instruction the sum holds, as the design itself checks.
        ended = dict.fromkeys(NAMES, 0) | {"n_inst": ones, "total": 2 * ones + 2}
        await check_tick(dut, ended, RUNNING | WAITING | RETIRE, {"total", "vec", "n_inst"})


VALUES = {name: 0xA5A50000 + at for at, name in enumerate(NAMES)}


@cocotb.test()
async def hold(dut: Any) -> None:
    """Counters hold when nothing runs."""
    await UnitBench.after_reset(dut)
    await check_tick(dut, VALUES, 0, set())
    await check_tick(dut, VALUES, IS_MM | IS_DMA, set())


@cocotb.test()
async def clear(dut: Any) -> None:
    """A clear leaves nothing."""
    await UnitBench.after_reset(dut)
    assert await after_cycle(dut, VALUES, CLEAR) == 0, "a clear left something"
