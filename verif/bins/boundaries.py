"""Bins of powers of two: addresses, lengths, counts, counters and sums at, beside and across them.

A carry that is lost, or a register that is a bit too narrow, shows there and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from model.chip.isa import SPAD_WORDS, FaultCode, Op
from model.chip.machine import RunResult
from model.chip.operation_table import EXECUTED, MAX_K, OPERATIONS, VECTORS, Operand
from verif.bins.rows import EXTERNAL, OPERANDS, Rows
from verif.bins.sheet import Hit, Index, Sheet, numbers

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


_BITS = 17  # powers of two up to the size of the larger memory
_LOG = np.full((1 << _BITS - 1) + 3, _BITS)
_LOG[[1 << k for k in range(_BITS)]] = np.arange(_BITS)
"""Logarithms of powers of two; ``_BITS`` for other numbers."""
_LIMITS = [1 << 15 if external else SPAD_WORDS >> 1 for external in EXTERNAL]
REGION = numbers(
    "boundary_region",
    [
        [
            [f"{name}/{1 << k}/{place}" if name and 1 << k <= limit else None for place in PLACES]
            for k in range(_BITS + 1)
        ]
        for name, limit in zip([*OPERANDS, None], [*_LIMITS, 0], strict=True)
    ],
)
_POWERS = np.array([1 << k for k in range(_BITS + 1)])

_NEAR = around(SPAD_WORDS)
_PLACE = np.full(SPAD_WORDS + 2, len(_NEAR))
_PLACE[_NEAR] = np.arange(len(_NEAR))
"""Place of a number among those beside powers of two; ``len(_NEAR)`` for other numbers."""
_MEASURED = [row.name if row.length else None for row in OPERATIONS.values()]
LENGTH = numbers(
    "boundary_length",
    [
        [name and f"{name}/{n}" for n in _NEAR] + [None]
        for name in [*_MEASURED, "K", "lda", "ldb", "ldc"]
    ],
)


def boundary_hits(sheet: Sheet, i: Rows) -> None:
    """Mark the bins of the fields of instructions that complete."""
    low, high = i.touched
    across = (low[..., None] < _POWERS) & (high[..., None] > _POWERS)
    sheet.mark(i.program[:, None], REGION[i.operand, :, 0] * across)
    for place, power in ((1, high), (2, low), (3, np.maximum(low - 1, 0)), (3, high + 1)):
        sheet.mark(i.program, REGION[i.operand, _LOG[power], place])
    sheet.mark(i.program, LENGTH[i.op, _PLACE[i.length]])
    i = i.take(i.matrices)
    for row, value in enumerate((i.g, i.d & 0xFFF, i.d >> 12, i.x & 0xFFF), len(OPERATIONS)):
        sheet.mark(i.program, LENGTH[row, _PLACE[value]])


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


_BESIDE = ("exact", "below", "above")


def near_power_names(most: int) -> list[str | None]:
    """What the indices of ``near_power`` say of numbers up to ``most``."""
    return [
        f"{1 << k}/{name}" if k >= 3 else None
        for k in range(most.bit_length() + 1)
        for name in _BESIDE
    ]


def near_power(values: Index) -> Index:
    """Which power of two, 8 at least, each of ``values``, 0 at least, is or is beside.

    Returns:
        Index into ``near_power_names``; 0 for the values that are none of these.
    """
    found = np.zeros_like(values)
    for which, powers in enumerate((values, values + 1, values - 1)):
        hit = (powers >= 8) & (powers & (powers - 1) == 0)
        found[hit] = 3 * (np.frexp(powers[hit])[1] - 1) + which
    return found
