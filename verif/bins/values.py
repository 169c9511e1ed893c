"""Bins that depend on the data an instruction reads: rounding, saturation, ties, extremes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from model.chip.fixed_point import EXP_TABLE
from model.chip.isa import Op
from model.chip.operation_table import MAX_K, MAX_TILE
from verif.bins.boundaries import around, near_power, near_power_names
from verif.bins.reads import Bits, Read, Segments
from verif.bins.sheet import Index, Sheet, numbers

INT8_CLASSES = ("-128", "-127", "negative", "zero", "positive", "127")
_INT8_CLASS = np.array([0, 1] + [2] * 126 + [3] + [4] * 126 + [5])  # index value + 128


_OPERANDS = ("MM.A", "MM.B", "SM.src", "VADD.src1", "VADD.src2")
UPPER_BITS = {name: numbers("upper_bits", [f"{name}/sign", f"{name}/junk"]) for name in _OPERANDS}


def _upper_bits(sheet: Sheet, name: str, read: Segments) -> None:
    """Words whose upper bits are not the sign extension of bits 7..0."""
    junk = read.words.view(np.int32) != read.int8
    any_junk = np.logical_or.reduceat(junk, read.starts)
    sheet.mark(read.program, UPPER_BITS[name][any_junk.astype(np.int64)])


MM_OPERAND = [
    numbers("mm_operand", [f"{name}/{kind}" for kind in INT8_CLASSES]) for name in ("A", "B")
]
MM_SUM = numbers("mm_sum", ["positive", "largest", "negative", "smallest", "zero"])
LARGEST, SMALLEST = MAX_K * 128 * 128, -MAX_K * 128 * 127
_powers = near_power_names(LARGEST)
MM_POWER = numbers(
    "mm_power",
    [[name and f"{sign}/{name}" for name in _powers] for sign in ("positive", "negative")],
)


def _matrix(sheet: Sheet, program: Index, reads: Sequence[Read]) -> None:
    a = np.zeros((len(reads), MAX_TILE, MAX_K))
    b = np.zeros((len(reads), MAX_K, MAX_TILE))
    there = np.zeros((len(reads), MAX_TILE, MAX_TILE), dtype=np.bool_)
    for which, padded in enumerate((a, b)):
        read = Segments.of(program, [each.words[which] for each in reads])
        _upper_bits(sheet, ("MM.A", "MM.B")[which], read)
        sheet.mark(read.programs, MM_OPERAND[which][_INT8_CLASS[read.int8 + 128]])
        for place, each in enumerate(reads):
            rows, columns = each.words[which].shape
            padded[place, :rows, :columns] = each.words[which].astype(np.int8)
    for place, each in enumerate(reads):
        there[place, : each.instruction.f, : each.instruction.h] = True
    # Sums of products are below 2**53, where float64 is exact.
    sums = np.matmul(a, b).astype(np.int64)
    low, high = sums.min(axis=(1, 2)), sums.max(axis=(1, 2))
    sheet.mark(program, np.where(high == LARGEST, MM_SUM[1], MM_SUM[0] * (high > 0)))
    sheet.mark(program, np.where(low == SMALLEST, MM_SUM[3], MM_SUM[2] * (low < 0)))
    sheet.mark(program, MM_SUM[4] * ((sums == 0) & there).any(axis=(1, 2)))
    bins = MM_POWER[(sums < 0).astype(np.int64), near_power(abs(sums))]
    sheet.mark(program[:, None, None], bins)


_LOW, _HIGH = -(2**31), 2**31 - 1
RQ_ACCUMULATOR = numbers(
    "rq_accumulator", ["minimum", "maximum", "zero", "one", "minus_one", "positive", "negative"]
)
_PRODUCT_BITS = 31 + 24
_CLASSED = 64  # lengths from which products are not looked at one by one
RQ_PRODUCT = numbers(
    "rq_product",
    [
        [[f"{k}/{sign}", f"{k}/power"] for sign in ("positive", "negative")]
        for k in range(_PRODUCT_BITS)
    ],
)
RQ_ROUNDING = numbers(
    "rq_rounding",
    [
        [f"{kind}/{sign}" for sign in ("positive", "negative")]
        for kind in ("exact", "down", "tie", "up")
    ],
)
_HALF = np.array([1 << e >> 1 for e in range(64)])
_FRACTION = np.array([(1 << e) - 1 for e in range(64)])
_EDGE = 129  # results are looked at up to here


def _result_name(value: int, relu: bool) -> str | None:
    """Bin of a rounded result before it is clamped."""
    if value > 127:
        return "relu/clamped_high" if relu else "plain/clamped_high"
    if value < 0 and relu:
        return "relu/cut"
    if value < -127:
        return "plain/clamped_low"
    named = {127: "at_127", 0: "zero", -127: "at_-127"}
    return f"{'relu' if relu else 'plain'}/{named.get(value, 'inside')}"


def _beside_name(value: int, relu: bool) -> str | None:
    """Bin of a result that is the first one to be clamped."""
    if value == 128:
        return "relu/beside_127" if relu else "plain/beside_127"
    return "plain/beside_-127" if value == -128 and not relu else None


RQ_RESULT = numbers(
    "rq_result",
    [
        [[name(value, relu) for value in range(-_EDGE, _EDGE + 1)] for relu in (False, True)]
        for name in (_result_name, _beside_name)
    ],
)


def _requantize(sheet: Sheet, program: Index, reads: Sequence[Read]) -> None:
    read = Segments.of(program, [each.words[0] for each in reads])
    programs = read.programs
    acc = read.words.view(np.int32).astype(np.int64)
    for bin_, value in zip(RQ_ACCUMULATOR, (_LOW, _HIGH, 0, 1, -1), strict=False):
        sheet.mark(programs[acc == value], bin_)
    sheet.mark(programs, np.where(acc > 1, RQ_ACCUMULATOR[5], RQ_ACCUMULATOR[6] * (acc < -1)))

    fields = np.array(
        [(each.instruction.d, each.instruction.e, each.instruction.relu) for each in reads]
    )
    mantissa, shift, relu = np.repeat(fields, read.sizes, axis=0).T
    product = acc * mantissa
    size, negative = abs(product), (product < 0).astype(np.int64)
    looked = (product != 0) & (np.repeat(read.sizes, read.sizes) < _CLASSED)
    _products(sheet, programs[looked], size[looked], negative[looked])

    half, fraction = _HALF[shift], size & _FRACTION[shift]
    kind = (fraction > 0) * (1 + (fraction >= half) + (fraction > half))
    sheet.mark(programs, RQ_ROUNDING[kind, negative] * (product != 0))
    rounded = (size + half) >> shift
    rounded = np.where(negative, -rounded, rounded).clip(-_EDGE, _EDGE) + _EDGE
    sheet.mark(programs, RQ_RESULT[:, relu, rounded])


def _products(sheet: Sheet, programs: Index, size: Index, negative: Index) -> None:
    """Mark the leading bits of products, and which of them are powers of two."""
    upper = size >> 31  # each half is exact as a float
    bits = np.where(upper, np.frexp(upper)[1] + 31, np.frexp(size & _HIGH)[1]) - 1
    sheet.mark(programs, RQ_PRODUCT[bits, negative, 0])
    sheet.mark(programs, RQ_PRODUCT[bits, negative, 1] * (size & (size - 1) == 0))


_PLACES = ("only", "first", "last", "middle")
_TIES = ("single", "all", "several")
SM_PLACE, SM_TIES = numbers("sm_place", _PLACES), numbers("sm_ties", _TIES)
SM_MAXIMUM = numbers("sm_maximum", INT8_CLASSES)
SM_DISTANCE = numbers("sm_distance", [str(distance) for distance in range(256)])
SM_SUM = numbers("sm_sum", near_power_names(int(EXP_TABLE[0]) << 12))


def _place(first: Index, n: Index) -> Index:
    """Index into ``_PLACES`` of the first maximum."""
    return np.where(n == 1, 0, np.where(first == 0, 1, np.where(first == n - 1, 2, 3)))


def _ties(largest: Bits, read: Segments) -> Index:
    """Index into ``_TIES``; ``largest`` says which words are the maximum."""
    count = np.add.reduceat(largest.astype(np.int64), read.starts)
    return np.where(count == 1, 0, np.where(count == read.sizes, 1, 2))


def _softmax(sheet: Sheet, program: Index, reads: Sequence[Read]) -> None:
    read = Segments.of(program, [each.words[0] for each in reads])
    _upper_bits(sheet, "SM.src", read)
    largest = np.maximum.reduceat(read.int8, read.starts)
    distance = np.repeat(largest, read.sizes) - read.int8
    sheet.mark(program, SM_PLACE[_place(read.first(distance == 0), read.sizes)])
    sheet.mark(program, SM_TIES[_ties(distance == 0, read)])
    sheet.mark(program, SM_MAXIMUM[_INT8_CLASS[largest + 128]])
    sheet.mark(program, SM_SUM[near_power(np.add.reduceat(EXP_TABLE[distance], read.starts))])
    sheet.mark(read.programs, SM_DISTANCE[distance])


_SUMS = {-128: "beside_-127", -127: "at_-127", 0: "zero", 127: "at_127", 128: "beside_127"}
VADD_SUM = numbers(
    "vadd_sum",
    [
        [
            "clamped_low" if v < -127 else "clamped_high" if v > 127 else None
            for v in range(-256, 255)
        ],
        [_SUMS.get(v, "inside" if abs(v) < 127 else None) for v in range(-256, 255)],
    ],
)
VADD_OPERANDS = numbers(
    "vadd_operands", [[f"{one}/{other}" for other in INT8_CLASSES] for one in INT8_CLASSES]
)


def _add(sheet: Sheet, program: Index, reads: Sequence[Read]) -> None:
    first = Segments.of(program, [each.words[0] for each in reads])
    second = Segments.of(program, [each.words[1] for each in reads])
    _upper_bits(sheet, "VADD.src1", first)
    _upper_bits(sheet, "VADD.src2", second)
    x, y = first.int8, second.int8
    sheet.mark(first.programs, VADD_SUM[:, x + y + 256])
    sheet.mark(first.programs, VADD_OPERANDS[_INT8_CLASS[x + 128], _INT8_CLASS[y + 128]])


_INDICES = around(4094)
_INDEX = [str(index) if index in _INDICES else None for index in range(4096)]
AMAX_PLACE, AMAX_TIES = numbers("amax_place", _PLACES), numbers("amax_ties", _TIES)
AMAX_INDEX = numbers("amax_index", _INDEX)
AMAX_SIGNS = numbers("amax_signs", ["all_negative", "mixed", "none_negative"])
AMAX_MAXIMUM = numbers(
    "amax_maximum", ["other", "int32_minimum", "int32_maximum", "difference_overflows"]
)


def _argmax(sheet: Sheet, program: Index, reads: Sequence[Read]) -> None:
    read = Segments.of(program, [each.words[0] for each in reads])
    values = read.words.view(np.int32).astype(np.int64)
    largest = np.maximum.reduceat(values, read.starts)
    smallest = np.minimum.reduceat(values, read.starts)
    at_most = np.repeat(largest, read.sizes) == values
    first = read.first(at_most)
    sheet.mark(program, AMAX_PLACE[_place(first, read.sizes)])
    sheet.mark(program, AMAX_TIES[_ties(at_most, read)])
    sheet.mark(program, AMAX_INDEX[first])
    sheet.mark(program, AMAX_SIGNS[np.where(largest < 0, 0, np.where(smallest < 0, 1, 2))])
    sheet.mark(program, AMAX_MAXIMUM[(largest == _LOW) + 2 * (largest == _HIGH)])
    sheet.mark(program[largest - smallest > _HIGH], AMAX_MAXIMUM[3])


_SHIFTS = np.arange(0, 32, 4, dtype=np.uint32)
UNPACK_NIBBLE = numbers(
    "unpack_nibble", [[f"{nibble}/{place}" for nibble in range(16)] for place in range(8)]
)


def _unpack(sheet: Sheet, program: Index, reads: Sequence[Read]) -> None:
    read = Segments.of(program, [each.words[0] for each in reads])
    nibbles = read.words[:, None] >> _SHIFTS & np.uint32(15)
    sheet.mark(read.programs[:, None], UNPACK_NIBBLE[np.arange(8), nibbles])


CLASSIFIERS: dict[int, Callable[[Sheet, Index, Sequence[Read]], None]] = {
    Op.MM: _matrix,
    Op.RQ: _requantize,
    Op.SM: _softmax,
    Op.VADD: _add,
    Op.AMAX: _argmax,
    Op.UNPACK: _unpack,
}
"""Mark, each of one operation, what instructions of these programs read."""


def value_hits(sheet: Sheet, reads: Sequence[Sequence[Read]]) -> None:
    """Mark the bins of what each program read."""
    by_op: dict[int, list[tuple[int, Read]]] = {}
    for program, found in enumerate(reads):
        for read in found:
            by_op.setdefault(read.instruction.op, []).append((program, read))
    for op in by_op.keys() & CLASSIFIERS.keys():
        pairs = by_op[op]
        owners = np.array([program for program, _ in pairs])
        CLASSIFIERS[op](sheet, owners, [read for _, read in pairs])
