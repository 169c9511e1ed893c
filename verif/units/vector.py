"""Unit test of VADD, AMAX and UNPACK."""

from __future__ import annotations

from typing import Any

import cocotb
import numpy as np

from model.chip.isa import amax, instruction, unpack, vadd
from model.chip.operation_table import VECTORS
from verif.units.bench import UnitBench


@cocotb.test()
async def vadd_corner_pairs(dut: Any) -> None:
    """Every pair of values around zero and around both limits."""
    bench = await UnitBench.after_reset(dut)
    values = [*range(-128, -124), *range(-66, -61), *range(-2, 3), *range(61, 67), *range(125, 128)]
    pairs = np.array([(left, right) for left in values for right in values], dtype=np.int64) & 0xFF
    count = len(pairs)
    bench.spad[0:count] = pairs[:, 0].astype(np.uint32) | np.uint32(0x12345600)
    bench.spad[1000 : 1000 + count] = pairs[:, 1].astype(np.uint32)
    await bench.check(vadd(2000, 0, 1000, count))


@cocotb.test()
async def vadd_regions(dut: Any) -> None:
    """Lengths, in place of either source, both sources the same, sources that overlap."""
    bench = await UnitBench.after_reset(dut)
    for dst, src1, src2, length in (
        (0, 100, 200, 1),
        (100, 100, 200, 9),
        (200, 100, 200, 9),
        (300, 300, 300, 9),
        (400, 100, 103, 9),
        (4086, 0, 4086, 10),
        (10, 0, 20, 10),
    ):
        await bench.check(vadd(dst, src1, src2, length))
    for _ in range(15):
        length = bench.rng.randint(1, 60)
        src1, src2 = bench.rng.randint(0, 1900), bench.rng.randint(0, 1900)
        await bench.check(vadd(bench.rng.choice((2000, 4096 - length)), src1, src2, length))


@cocotb.test()
async def amax_corners(dut: Any) -> None:
    """The first of equal maxima, both ends of int32, one word, the maximum at either end."""
    bench = await UnitBench.after_reset(dut)
    low, high = 0x80000000, 0x7FFFFFFF
    for words in (
        [low],
        [low, low],
        [low, low + 1],
        [high, high],
        [0, 0xFFFFFFFF],
        [0xFFFFFFFF, 0],
        [1, 5, 5, 2],
        [9, 8, 7],
        [7, 8, 9],
        [low, high, low, high],
    ):
        bench.spad[50 : 50 + len(words)] = np.array(words, dtype=np.uint32)
        await bench.check(amax(20, 50, len(words)))
    # The result may fall on its own source.
    await bench.check(amax(52, 50, 4))


@cocotb.test()
async def amax_random(dut: Any) -> None:
    """Random words, with few and with many equal ones; the longest vector."""
    bench = await UnitBench.after_reset(dut)
    for _ in range(20):
        length = bench.rng.randint(1, 80)
        spread = bench.rng.choice((2, 5, 1 << 31))
        words = [bench.rng.randrange(-spread, spread) & 0xFFFFFFFF for _ in range(length)]
        bench.spad[500 : 500 + length] = np.array(words, dtype=np.uint32)
        await bench.check(amax(bench.rng.randint(0, 4095), 500, length))
    await bench.check(amax(4095, 0, 4095))


@cocotb.test()
async def unpack_words(dut: Any) -> None:
    """Every nibble in every place, lengths, both ends of the scratchpad, regions that touch."""
    bench = await UnitBench.after_reset(dut)
    rotated = [0xFEDCBA9876543210_FEDCBA98 >> (4 * i) & 0xFFFFFFFF for i in range(16)]
    bench.spad[0:16] = np.array(rotated, dtype=np.uint32)
    await bench.check(unpack(1000, 0, 16))
    for dst, src, length in ((0, 8, 1), (8, 7, 1), (4088, 0, 1), (0, 4095, 1), (100, 50, 3)):
        await bench.check(unpack(dst, src, length))
    await bench.check(unpack(8, 4085, 11))
    for _ in range(10):
        await bench.check(unpack(bench.rng.randint(0, 1000), bench.rng.randint(2000, 4000), 5))


@cocotb.test()
async def unpack_longest(dut: Any) -> None:
    """As many words as fit beside their own expansion."""
    bench = await UnitBench.after_reset(dut)
    await bench.check(unpack(0, 3640, 455))
    await bench.check(unpack(456, 0, 455))


@cocotb.test()
async def every_vector_operation(dut: Any) -> None:
    """Every operation of the table that a vector unit executes, on random data and operands."""
    bench = await UnitBench.after_reset(dut)
    for row in (row for row in VECTORS if row.unit == "vec"):
        for _ in range(4):
            given = {"dst": 3000, "len": bench.rng.randint(1, 30)}
            for operand in row.operands:
                if operand.memory:
                    given.setdefault(operand.name, 500 * len(given) + bench.rng.randint(0, 99))
                else:
                    given.setdefault(operand.name, bench.rng.getrandbits(operand.width))
            await bench.check(instruction(row.op, **given))
