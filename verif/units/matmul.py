"""Unit test of the matrix unit."""

from __future__ import annotations

import itertools
from typing import Any

import cocotb
import numpy as np

from model.chip.isa import mm
from verif.units.bench import UnitBench


@cocotb.test()
async def every_tile(dut: Any) -> None:
    """All sixteen shapes of tile, B as it is and transposed, with rows that lie apart."""
    bench = await UnitBench.after_reset(dut)
    for m, n, tb in itertools.product(range(1, 5), range(1, 5), (0, 1)):
        k = bench.rng.randint(1, 9)
        ldb = k + 3 if tb else n + 2
        await bench.check(mm(3000, 100, 1000, m, k, n, tb=tb, lda=k + 1, ldb=ldb, ldc=n + 1))


@cocotb.test()
async def inner_lengths(dut: Any) -> None:
    """Inner lengths at both ends and in between, long after short and short after long."""
    bench = await UnitBench.after_reset(dut)
    for k in (1, 64, 2, 63, 3, 33, 4, 64, 5, 1):
        await bench.check(mm(3000, 100, 1000, 4, k, 4, lda=k, ldb=4, ldc=4))


@cocotb.test()
async def corner_products(dut: Any) -> None:
    """-128 and 127 against each other: the largest sums of both signs."""
    bench = await UnitBench.after_reset(dut)
    for left, right in itertools.product((-128, 127, -1, 0), (-128, 127)):
        bench.spad[0:256] = np.uint32(left & 0xFF | 0xABCDEF00)
        bench.spad[256:512] = np.uint32(right & 0xFF)
        await bench.check(mm(1024, 0, 256, 4, 64, 4, lda=64, ldb=4, ldc=4))


@cocotb.test()
async def strides(dut: Any) -> None:
    """Strides of 0, results that fall on each other or on the operands, addresses that wrap."""
    bench = await UnitBench.after_reset(dut)
    for lda, ldb, ldc, tb in ((0, 0, 0, 0), (0, 0, 0, 1), (1, 1, 1, 0), (4095, 4095, 4095, 1)):
        await bench.check(mm(50, 51, 52, 4, 7, 4, tb=tb, lda=lda, ldb=ldb, ldc=ldc))
    await bench.check(mm(4094, 4090, 4095, 4, 8, 4, lda=8, ldb=2000, ldc=3))


@cocotb.test()
async def random_products(dut: Any) -> None:
    """Random shapes, places and strides."""
    bench = await UnitBench.after_reset(dut)
    pick = bench.rng.randrange
    for _ in range(30):
        m, k, n = pick(1, 5), pick(1, 65), pick(1, 5)
        lda, ldb, ldc = pick(4096), pick(4096), pick(4096)
        dst, a, b = pick(4096), pick(4096), pick(4096)
        await bench.check(mm(dst, a, b, m, k, n, tb=pick(2), lda=lda, ldb=ldb, ldc=ldc))


@cocotb.test()
async def reset_in_between(dut: Any) -> None:
    """A reset in any phase leaves nothing behind for the next product."""
    bench = await UnitBench.after_reset(dut)
    for cycles in range(1, 90, 4):
        await bench.start(mm(0, 100, 1000, 4, 6, 4, lda=6, ldb=4, ldc=4))
        await bench.advance(cycles)
        await bench.reset()
        await bench.check(mm(0, 100, 1000, 3, 5, 4, lda=5, ldb=4, ldc=4))
