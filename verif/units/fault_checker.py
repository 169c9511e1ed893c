"""Unit test of the fault checker: legality of instruction words, rule by rule and at random."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import cocotb
from cocotb.triggers import Timer

from model.chip.isa import FaultCode, Instruction, Op, check_fault, encode
from model.chip.operation_table import OPERATIONS, VECTORS

LENGTHS = (0, 1, 2, 8, 511, 512, 513, 4094, 4095, 4096, 4097, 8191, 8192, 0xFFFF)
BASES = (0, 1, 7, 8, 9, 100, 3584, 4088, 4094, 4095, 4096, 4097, 0x8000, 0xF001, 0xFFFE, 0xFFFF)


async def check(dut: Any, instr: Instruction) -> FaultCode:
    """Compare the checker's verdict with the model's, which is returned.

    Raises:
        AssertionError: they differ.
    """
    dut.instr.value = encode(instr)
    await Timer(1, "ns")
    want = check_fault(instr)
    got = int(dut.check_code.value)
    assert got == want, f"{instr}: code {got}, expected {int(want)} ({want.name})"
    return want


def with_length(op: int, a: int, b: int, c: int, length: int) -> Instruction:
    """An instruction of ``op`` whose length is in the field that ``op`` reads."""
    operand = OPERATIONS[op].length
    assert operand is not None
    fields = {"a": a, "b": b, "c": c} | {operand.field: length}
    return Instruction(op, **fields)


@cocotb.test()
async def lengths_and_bases(dut: Any) -> None:
    """Lengths and bases at every limit, for every operation that has them."""
    rng = random.Random(cocotb.RANDOM_SEED)
    for op in (row.op for row in VECTORS):
        for length in LENGTHS:
            for base in BASES:
                other, third = rng.choice(BASES), rng.choice(BASES)
                await check(dut, with_length(op, base, other, third, length))
                await check(dut, with_length(op, other, base, third, length))
                await check(dut, with_length(op, other, third, base, length))


@cocotb.test()
async def last_legal_and_first_illegal(dut: Any) -> None:
    """Regions that end exactly at, one below and one beyond the end of their memory."""
    for op in (row.op for row in VECTORS):
        for length in (1, 2, 100, 511):
            a_region, b_region, *_ = OPERATIONS[op].regions
            written, end = a_region.size(length), b_region.limit
            for off in (-1, 0, 1):
                first, second = 4096 - written + off, min(end - length + off, 0xFFFF)
                await check(dut, with_length(op, first, 0, 0, length))
                await check(dut, with_length(op, 0, second, 0, length))
                await check(dut, with_length(op, 0, 0, second, length))


@cocotb.test()
async def overlaps(dut: Any) -> None:
    """Regions that are the same, touch, share one word, or share all but one."""
    for op in (row.op for row in VECTORS if row.unit == "vec"):
        for length in (1, 2, 5, 60):
            for distance in (0, 1, length - 1, length, 8 * length - 1, 8 * length):
                for other in (1000 + distance, 1000 - distance):
                    for third in (1000, other, 3000):
                        await check(dut, with_length(op, 1000, other, third, length))
                        await check(dut, with_length(op, 1000, third, other, length))


@cocotb.test()
async def shapes(dut: Any) -> None:
    """MM: M, N and K at and beyond their limits, bases around theirs."""
    for m in (0, 1, 2, 3, 4, 5, 6, 8, 12, 128, 255):
        for n in (0, 1, 2, 3, 4, 5, 7, 8, 68, 255):
            for k in (0, 1, 63, 64, 65, 66, 128, 192, 255):
                await check(dut, Instruction(Op.MM, a=4095, b=0, c=1, f=m, g=k, h=n))
    for base in BASES:
        await check(dut, Instruction(Op.MM, a=base, b=0, c=1, f=4, g=64, h=4))
        await check(dut, Instruction(Op.MM, a=0, b=base, c=1, f=4, g=64, h=4))
        await check(dut, Instruction(Op.MM, a=0, b=0, c=base, f=4, g=64, h=4))
        await check(dut, Instruction(Op.MM, a=base, b=0, c=1, f=4, g=65, h=4))


@cocotb.test()
async def random_words(dut: Any) -> None:
    """Random fields, most of them near a limit; every code must come up."""
    rng = random.Random(cocotb.RANDOM_SEED)
    seen: Counter[FaultCode] = Counter()

    def base(near: int) -> int:
        return rng.choice((near + rng.randrange(9), rng.getrandbits(12), rng.getrandbits(16)))

    for _ in range(6000):
        near = rng.randrange(4100)
        length = rng.choice((1 + rng.randrange(9), rng.choice(LENGTHS)))
        instr = Instruction(
            rng.randrange(len(OPERATIONS)) if rng.random() < 0.95 else rng.randrange(16),
            a=base(near),
            b=base(near),
            c=rng.choice((base(near), length)),
            d=length | rng.getrandbits(8) << 16,
            e=rng.getrandbits(6),
            f=rng.randrange(6),
            g=rng.randrange(67),
            h=rng.randrange(6),
            fl=rng.getrandbits(4),
            x=rng.getrandbits(18),
        )
        seen[await check(dut, instr)] += 1
    missing = set(FaultCode) - set(seen)
    assert not missing, f"never came up: {missing}"
