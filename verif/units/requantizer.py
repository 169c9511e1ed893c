"""Unit test of the requantizer: its arithmetic by itself, and RQ as a stream."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import cocotb
from cocotb.triggers import Timer

from model.chip.fixed_point import requantize
from model.chip.isa import Instruction, Op, encode, rq
from verif.units.bench import UnitBench

MANTISSAS = (0, 1, 3, 1 << 23, (1 << 24) - 1)
ACCUMULATORS = (0, 1, -1, 2, -2, 127, -127, 128, -128, 0x7FFFFFFF, -0x7FFFFFFF, -0x80000000)


async def check_arithmetic(dut: Any, accs: Sequence[int], m: int, s: int, relu: int) -> None:
    """Compare the combinational requantizer with the model for each of ``accs``.

    Raises:
        AssertionError: a result differs.
    """
    expected = requantize(accs, m, s, relu)
    dut.instr.value = encode(Instruction(Op.HALT, d=m, e=s, fl=relu))
    for acc, want in zip(accs, expected, strict=True):
        dut.rqz_acc.value = acc & 0xFFFFFFFF
        await Timer(1, "ns")
        got = dut.rqz_q.value.to_signed()
        assert got == want, f"requantize({acc}, m={m}, s={s}, relu={relu}) = {got}, expected {want}"


@cocotb.test()
async def corners(dut: Any) -> None:
    """Extreme accumulators and mantissas at every shift, with and without relu."""
    for s in range(64):
        for m in MANTISSAS:
            await check_arithmetic(dut, ACCUMULATORS, m, s, relu=0)
        await check_arithmetic(dut, ACCUMULATORS, MANTISSAS[-1], s, relu=1)


@cocotb.test()
async def ties(dut: Any) -> None:
    """Products that lie halfway between two integers and just beside, both signs."""
    for s in range(1, 32):
        half = 1 << (s - 1)
        halfway = [2 * half * q + half + off for q in (0, 1, 126, 127) for off in (-1, 0, 1)]
        accs = [acc for acc in halfway if acc < 1 << 31]
        accs += [-acc for acc in accs]
        await check_arithmetic(dut, accs, 1, s, relu=0)
        # The same halfway points, reached through a mantissa.
        await check_arithmetic(dut, accs, 1 << 23, s + 23, relu=0)


@cocotb.test()
async def random_values(dut: Any) -> None:
    """Random accumulators of every magnitude, scaled into and around the int8 range."""
    rng = random.Random(cocotb.RANDOM_SEED)
    for _ in range(150):
        bits = rng.randint(1, 31)
        m = rng.getrandbits(24)
        s = min(63, max(0, bits + m.bit_length() - rng.randint(4, 10)))
        accs = [rng.choice((1, -1)) * rng.getrandbits(bits) for _ in range(12)]
        await check_arithmetic(dut, accs, m, s, rng.randint(0, 1))


@cocotb.test()
async def stream(dut: Any) -> None:
    """RQ over vectors: lengths, both ends of the scratchpad, in place, regions that touch."""
    bench = await UnitBench.after_reset(dut)
    for dst, src, length in (
        (0, 100, 1),
        (100, 0, 2),
        (5, 5, 3),
        (4095, 4095, 1),
        (4000, 0, 96),
        (50, 40, 10),
        (40, 50, 10),
        (1000, 1000, 64),
    ):
        await bench.check(rq(dst, src, length, m=0xABCDEF, s=44, relu=length % 2))
    for _ in range(20):
        length = bench.rng.randint(1, 60)
        dst, src = bench.rng.randint(0, 1000), bench.rng.randint(2000, 4096 - length)
        m, s = bench.rng.getrandbits(24), bench.rng.randint(40, 52)
        await bench.check(rq(dst, src, length, m, s, bench.rng.randint(0, 1)))


@cocotb.test()
async def longest(dut: Any) -> None:
    """RQ of 4,095 words, in place."""
    bench = await UnitBench.after_reset(dut)
    await bench.check(rq(1, 1, 4095, m=0xFFFFFF, s=47))
