"""Bins of powers of two: addresses, lengths, counts, counters and sums at, beside and across them.

A carry that is lost, or a register that is a bit too narrow, shows there and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from model.chip.isa import SPAD_WORDS, FaultCode, Instruction, Op
from model.chip.machine import RunResult
from model.chip.operation_table import EXECUTED, MAX_K, OPERATIONS, VECTORS, Operand
from model.chip.operations import matrix_addresses

Hit = tuple[str, str]

PLACES = ("across", "ends", "begins", "beside")
COUNTERS = {"total": 7, "mm": 31, "dma": 3, "vec": 3}
"""Counters of cycles, with the least value at which a program may end beside a power of two."""
COUNTED = 2049
"""Up to here a program ends at each power of two and beside it; further up it passes them."""
PASSED = (12, 13, 14)
ENDS = 513
"""Largest program counter at which programs end."""
LONGEST_SUM = 27  # bits of the largest sum of exponentials


def around(most: int, least: int = 1) -> list[int]:
    """Powers of two and their neighbours, in ``least..most``."""
    values = {(1 << k) + off for k in range(most.bit_length() + 1) for off in (-1, 0, 1)}
    return sorted(value for value in values if least <= value <= most)


def places(operand: Operand, matrix: bool) -> Iterator[str]:
    """Bins of one region operand: each power of two below the width of its address."""
    single = not operand.per_length and not matrix
    for k in range(operand.limit.bit_length() - 1):
        for place in PLACES:
            fits = place != "ends" or 1 << k >= operand.size(1)
            if fits and not (single and place == "across"):
                yield f"{1 << k}/{place}"


def region_bins() -> list[str]:
    """Bins of all region operands."""
    return [
        f"{row.name}.{operand.name}/{place}"
        for row in EXECUTED
        for operand in row.regions
        for place in places(operand, row.op == Op.MM)
    ]


def length_bins() -> list[str]:
    """Bins of all lengths, and of K and the strides of MM."""
    lengths = [f"{row.name}/{n}" for row in VECTORS for n in around(row.longest_that_fits)]
    strides = [f"{name}/{n}" for name in ("lda", "ldb", "ldc") for n in around(SPAD_WORDS - 1)]
    return [*lengths, *(f"K/{n}" for n in around(MAX_K)), *strides]


_POWERS = {1 << k for k in range(17)}
_NEAR = frozenset(around(SPAD_WORDS))


def boundary_hits(i: Instruction) -> Iterator[Hit]:
    """Bins of the fields of an instruction that completes."""
    row = OPERATIONS[i.op]
    if i.op == Op.MM:
        where = matrix_addresses(i)
        for name, addresses in (("dst", where.c), ("A", where.a), ("B", where.b)):
            low, high = int(addresses.min()), int(addresses.max()) + 1
            yield from _region_hits(f"MM.{name}", low, high)
        for name, value in (("K", i.g), ("lda", i.lda), ("ldb", i.ldb), ("ldc", i.ldc)):
            if value in _NEAR:
                yield "boundary_length", f"{name}/{value}"
        return
    n = i.length
    if n in _NEAR:
        yield "boundary_length", f"{row.name}/{n}"
    for operand in row.regions:
        base = getattr(i, operand.field)
        yield from _region_hits(f"{row.name}.{operand.name}", base, base + operand.size(n))


def _region_hits(name: str, base: int, end: int) -> Iterator[Hit]:
    yield from _crossed(name, base.bit_length(), (end - 1).bit_length())
    for power, place in (
        (end, "ends"),
        (base, "begins"),
        (base - 1, "beside"),
        (end + 1, "beside"),
    ):
        if power in _POWERS and power <= _limit(name):
            yield "boundary_region", f"{name}/{power}/{place}"


def _limit(name: str) -> int:
    return 1 << 15 if name in ("LD.src", "ST.dst") else SPAD_WORDS >> 1


@cache
def _crossed(name: str, base_bits: int, last_bits: int) -> tuple[Hit, ...]:
    """Bins of a region whose first and last address have so many bits."""
    powers = [1 << k for k in range(base_bits, last_bits)]
    return tuple(
        ("boundary_region", f"{name}/{power}/across") for power in powers if power <= _limit(name)
    )


_ENDS = frozenset(around(ENDS))
_COUNTS = frozenset(around(COUNTED))


def run_hits(result: RunResult) -> Iterator[Hit]:
    """Bins of where a program ends: its counters and its last address."""
    for name, least in COUNTERS.items():
        value = getattr(result.counters, name)
        if value >= least and value in _COUNTS:
            yield "boundary_counter", f"{name}/{value}"
        for k in PASSED:
            if value >> k:
                yield "boundary_counter", f"{name}/above_{1 << k}"
    faulted = result.fault != FaultCode.NONE
    last = result.fault_pc if faulted else result.counters.n_inst
    if last in _ENDS:
        yield "boundary_pc", f"{'fault' if faulted else 'halt'}/{last}"


def counter_bins() -> list[str]:
    """Bins of the counters of cycles."""
    return [
        f"{name}/{value}"
        for name, least in COUNTERS.items()
        for value in (*around(COUNTED, least), *(f"above_{1 << k}" for k in PASSED))
    ]


def near_power(value: int) -> str | None:
    """The power of two, 8 at least, that ``value`` is or is beside: ``<power>/<exact, ...>``."""
    for power, name in ((value, "exact"), (value + 1, "below"), (value - 1, "above")):
        if power >= 8 and not power & (power - 1):
            return f"{power}/{name}"
    return None
