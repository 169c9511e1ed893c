"""Unit test of softmax: its table of exponentials by itself, and SM as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cocotb
import numpy as np
from cocotb.triggers import Timer

from model.chip.fixed_point import EXP_TABLE
from model.chip.isa import sm
from verif.units.bench import UnitBench


async def score(bench: UnitBench, scores: Sequence[int], dst: int = 2000, src: int = 100) -> int:
    """Place int8 ``scores`` below random upper bits, run and check SM.

    Returns:
        The first probability, Q0.16.

    Raises:
        AssertionError: the unit and the model differ.
    """
    words = [bench.rng.getrandbits(24) << 8 | value & 0xFF for value in scores]
    bench.spad[src : src + len(words)] = np.array(words, dtype=np.uint32)
    await bench.check(sm(dst, src, len(words)))
    return int(bench.spad[dst])


@cocotb.test()
async def exponentials(dut: Any) -> None:
    """Every entry of the table."""
    for d, want in enumerate(EXP_TABLE):
        dut.exp_d.value = d
        await Timer(1, "ns")
        got = int(dut.exp_e.value)
        assert got == want, f"T[{d}] = {got}, expected {want}"


@cocotb.test()
async def corners(dut: Any) -> None:
    """One score, all equal, both ends of int8, the maximum first, last and repeated."""
    bench = await UnitBench.after_reset(dut)
    assert await score(bench, [-128]) == 65536, "one score must get all the probability"
    for scores in (
        [127],
        [0, 0],
        [127, -128],
        [-128, 127],
        [-128] * 7,
        [127] * 9,
        [5, -3, 5, 4, 5],
        [-1, -2, -3],
        range(-128, 128, 17),
        # e * r lies exactly halfway between two probabilities.
        [100, 100, -63],
        [100, -70, 100],
        # 170 equal scores are the fewest whose probability tells T[0] from T[1].
        [-128] * 170,
    ):
        await score(bench, scores)


@cocotb.test()
async def every_distance(dut: Any) -> None:
    """All 256 scores in one vector: every distance from the maximum occurs."""
    bench = await UnitBench.after_reset(dut)
    scores = list(range(-128, 128))
    bench.rng.shuffle(scores)
    await score(bench, scores)


@cocotb.test()
async def random_scores(dut: Any) -> None:
    """Random vectors, wide and narrow, in place and not."""
    bench = await UnitBench.after_reset(dut)
    for _ in range(25):
        spread = bench.rng.choice((3, 20, 127))
        scores = [bench.rng.randint(-spread, spread) for _ in range(bench.rng.randint(1, 40))]
        await score(bench, scores, dst=bench.rng.choice((100, 3000)))


@cocotb.test()
async def largest_sum(dut: Any) -> None:
    """4,095 equal scores in place: the largest sum of exponentials there is."""
    bench = await UnitBench.after_reset(dut)
    await score(bench, [7] * 4095, dst=1, src=1)


@cocotb.test()
async def reset_in_between(dut: Any) -> None:
    """A reset in any pass leaves nothing behind for the next softmax."""
    bench = await UnitBench.after_reset(dut)
    for cycles in (1, 5, 6, 7, 12, 13, 14, 30, 54, 55, 60, 65):
        await bench.start(sm(2000, 100, 6))
        await bench.advance(cycles)
        await bench.reset()
        await score(bench, [3, -4, 2])
