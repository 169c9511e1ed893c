"""Unit test of LD and ST."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import FallingEdge

from model.chip.isa import ld, st
from verif.units.bench import UnitBench


@cocotb.test()
async def load_latencies(dut: Any) -> None:
    """LD of several lengths at fixed latencies from 1 to 64 cycles."""
    bench = await UnitBench.after_reset(dut)
    for latency in (1, 2, 3, 8, 17, 64):
        for length in (1, 2, 3, 40):
            await bench.check(ld(10 * length, 500, length), [latency] * length)


@cocotb.test()
async def load_varying_latency(dut: Any) -> None:
    """LD whose requests are answered in order, each after a latency of its own."""
    bench = await UnitBench.after_reset(dut)
    for _ in range(25):
        length = bench.rng.randint(1, 50)
        latency = [bench.rng.choice((1, 2, 5, 30)) for _ in range(length)]
        dst, src = bench.rng.randint(0, 4000), bench.rng.randint(0, 60000)
        await bench.check(ld(dst, src, length), latency)


@cocotb.test()
async def load_ends(dut: Any) -> None:
    """LD at both ends of both memories, and the longest one."""
    bench = await UnitBench.after_reset(dut)
    await bench.check(ld(0, 0, 1))
    await bench.check(ld(4095, 65535, 1))
    await bench.check(ld(4000, 65440, 96))
    await bench.check(ld(1, 0, 4095))


@cocotb.test()
async def store_ends(dut: Any) -> None:
    """ST of several lengths, at both ends of both memories, and the longest one."""
    bench = await UnitBench.after_reset(dut)
    for length in (1, 2, 3, 40):
        await bench.check(st(10 * length, 700, length))
    await bench.check(st(0, 0, 1))
    await bench.check(st(4095, 65535, 1))
    await bench.check(st(4000, 65440, 96))
    await bench.check(st(1, 0, 4095))


@cocotb.test()
async def stray_answers(dut: Any) -> None:
    """Answers that nobody asked for: while idle, and up to the cycle of the first request."""
    bench = await UnitBench.after_reset(dut)
    dut.resp_valid.value = 1
    for _ in range(6):
        dut.resp_data.value = bench.rng.getrandbits(32)
        await bench.quiet(1)
    await bench.start(ld(20, 30, 2))
    assert int(dut.req_valid.value) == 1, "no request in the first busy cycle"
    await FallingEdge(dut.clk)
    assert int(dut.we.value) == 0, "took an answer before it could belong to a request"
    await bench.reset()
    await bench.check(ld(20, 30, 2))


@cocotb.test()
async def reset_with_answers_in_flight(dut: Any) -> None:
    """After a reset in the middle of a burst, late answers must not be taken for anything."""
    bench = await UnitBench.after_reset(dut)
    for cycles in (1, 2, 3, 9, 12):
        await bench.start(ld(100, 200, 10))
        await bench.advance(cycles)
        await bench.reset()
        dut.resp_valid.value = 1
        dut.resp_data.value = bench.rng.getrandbits(32)
        await bench.quiet(3)
        dut.resp_valid.value = 0
        await bench.quiet(1)
        await bench.check(ld(300, 400, 5), [3] * 5)


@cocotb.test()
async def reset_in_store(dut: Any) -> None:
    """A reset in the middle of ST ends it at once."""
    bench = await UnitBench.after_reset(dut)
    for cycles in (1, 2, 3, 9, 11):
        await bench.start(st(100, 200, 10))
        await bench.advance(cycles)
        await bench.reset()
        await bench.quiet(4)
        await bench.check(st(300, 400, 5))
