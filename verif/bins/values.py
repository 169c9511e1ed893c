"""Bins that depend on the data an instruction reads: rounding, saturation, ties, extremes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from model.chip.fixed_point import EXP_TABLE
from model.chip.isa import Instruction, Op
from model.chip.operations import matrix_addresses
from verif.bins.boundaries import around, near_power
from verif.bins.fields import Hit

Spad = npt.NDArray[np.uint32]

INT8_CLASSES = ("-128", "-127", "negative", "zero", "positive", "127")
_INT8_CLASS = np.array([0, 1] + [2] * 126 + [3] + [4] * 126 + [5])  # index value + 128


def value_hits(i: Instruction, spad: Spad) -> Iterator[Hit]:
    """Bins of the legal instruction ``i`` about to run on scratchpad ``spad`` (4096,)."""
    classify = CLASSIFIERS.get(i.op)
    return classify(i, spad) if classify else iter(())


def _present(classes: npt.NDArray[np.int64]) -> list[int]:
    found: list[int] = np.bincount(classes).nonzero()[0].tolist()
    return found


def _junk(words: Spad, name: str) -> Iterator[Hit]:
    """Words whose upper bits are not the sign extension of bits 7..0."""
    if (words.view(np.int32) != words.astype(np.int8)).any():
        yield "upper_bits", f"{name}/junk"
    else:
        yield "upper_bits", f"{name}/sign"


def _matrix(i: Instruction, spad: Spad) -> Iterator[Hit]:
    where = matrix_addresses(i)
    words_a, words_b = spad.take(where.a), spad.take(where.b)
    yield from _junk(words_a, "MM.A")
    yield from _junk(words_b, "MM.B")
    a, b = words_a.astype(np.int8), words_b.astype(np.int8)
    for name, operand in (("A", a), ("B", b)):
        for index in _present(_INT8_CLASS.take(operand.astype(np.int64).ravel() + 128)):
            yield "mm_operand", f"{name}/{INT8_CLASSES[index]}"
    sums = np.matmul(a.astype(np.int32), b.astype(np.int32))
    low, high = int(sums.min()), int(sums.max())
    if high > 0:
        yield "mm_sum", "largest" if high == 64 * 128 * 128 else "positive"
    if low < 0:
        yield "mm_sum", "smallest" if low == -64 * 128 * 127 else "negative"
    if not sums.all():
        yield "mm_sum", "zero"
    for value in sums.ravel().tolist():
        place = near_power(abs(value))
        if place:
            yield "mm_power", f"{'negative' if value < 0 else 'positive'}/{place}"


_ROUNDING = ("exact", "down", "tie", "up")


def _requantize(i: Instruction, spad: Spad) -> Iterator[Hit]:
    acc = spad[i.b : i.b + i.c].view(np.int32).astype(np.int64)
    yield from (("rq_accumulator", name) for name in _accumulator_classes(acc))
    product = acc * i.d
    magnitude = np.abs(product)
    for value in set(product.tolist()) if len(product) < 64 else ():
        size = abs(value)
        if size:
            sign = "negative" if value < 0 else "positive"
            yield "rq_product", f"{size.bit_length() - 1}/{sign}"
            if not size & (size - 1):
                yield "rq_product", f"{size.bit_length() - 1}/power"
    half = (1 << i.e) >> 1
    fraction = magnitude & ((1 << i.e) - 1)
    kind = (fraction > 0).astype(np.int64) + (fraction >= half) + (fraction > half)
    if i.e == 0:
        kind[:] = 0  # no fraction at all
    else:
        kind[fraction == 0] = 0
    signed = (2 * kind + (product < 0))[product != 0]
    for index in _present(signed):
        sign = "negative" if index & 1 else "positive"
        yield "rq_rounding", f"{_ROUNDING[index >> 1]}/{sign}"
    rounded = (magnitude + half) >> i.e
    rounded[product < 0] *= -1
    yield from _requantized(rounded, bool(i.relu))


def _requantized(rounded: npt.NDArray[np.int64], relu: bool) -> Iterator[Hit]:
    form = "relu" if relu else "plain"
    low, high = int(rounded.min()), int(rounded.max())
    if high > 127:
        yield "rq_result", f"{form}/clamped_high"
    if low < 0 and relu:
        yield "rq_result", "relu/cut"
    if low < -127 and not relu:
        yield "rq_result", "plain/clamped_low"
    values = set(np.minimum(np.maximum(rounded, -129), 128).tolist())
    named = {127: "at_127", 0: "zero", 128: "beside_127"}
    if not relu:
        named |= {-127: "at_-127", -128: "beside_-127"}
    for value, name in named.items():
        if value in values and (value != 128 or (rounded == 128).any()):
            yield "rq_result", f"{form}/{name}"
    if any(0 < value < 127 or (not relu and -127 < value < 0) for value in values):
        yield "rq_result", f"{form}/inside"


def _accumulator_classes(acc: npt.NDArray[np.int64]) -> Iterator[str]:
    values = set(acc.tolist()) if len(acc) < 64 else set(np.unique(acc).tolist())
    exact = {-(2**31): "minimum", 2**31 - 1: "maximum", 0: "zero", 1: "one", -1: "minus_one"}
    for value, name in exact.items():
        if value in values:
            yield name
    if max(values) > 1:
        yield "positive"
    if min(values) < -1:
        yield "negative"


def _place(first: int, n: int) -> str:
    return "only" if n == 1 else "first" if first == 0 else "last" if first == n - 1 else "middle"


def _ties(count: int, n: int) -> str:
    return "single" if count == 1 else "all" if count == n else "several"


def _softmax(i: Instruction, spad: Spad) -> Iterator[Hit]:
    words = spad[i.b : i.b + i.c]
    yield from _junk(words, "SM.src")
    scores = words.astype(np.int8).astype(np.int64)
    largest = int(scores.max())
    yield "sm_place", _place(int(scores.argmax()), len(scores))
    yield "sm_ties", _ties(int((scores == largest).sum()), len(scores))
    yield "sm_maximum", INT8_CLASSES[_INT8_CLASS[largest + 128]]
    total = int(EXP_TABLE.take(largest - scores).sum())
    place = near_power(total)
    if place:
        yield "sm_sum", place
    for distance in _present(largest - scores):
        yield "sm_distance", str(distance)


_SUMS = {-128: "beside_-127", -127: "at_-127", 0: "zero", 127: "at_127", 128: "beside_127"}


def _add(i: Instruction, spad: Spad) -> Iterator[Hit]:
    n = i.length
    first, second = spad[i.b : i.b + n], spad[i.c : i.c + n]
    yield from _junk(first, "VADD.src1")
    yield from _junk(second, "VADD.src2")
    x, y = first.astype(np.int8).astype(np.int64), second.astype(np.int8).astype(np.int64)
    total = x + y
    low, high = int(total.min()), int(total.max())
    if low < -127:
        yield "vadd_sum", "clamped_low"
    if high > 127:
        yield "vadd_sum", "clamped_high"
    values = set(total.tolist())
    for value, name in _SUMS.items():
        if value in values:
            yield "vadd_sum", name
    if any(0 < abs(value) < 127 for value in values):
        yield "vadd_sum", "inside"
    for index in _present(6 * _INT8_CLASS.take(x + 128) + _INT8_CLASS.take(y + 128)):
        yield "vadd_operands", f"{INT8_CLASSES[index // 6]}/{INT8_CLASSES[index % 6]}"


def _argmax(i: Instruction, spad: Spad) -> Iterator[Hit]:
    values = spad[i.b : i.b + i.c].view(np.int32)
    largest, smallest = int(values.max()), int(values.min())
    yield "amax_place", _place(int(values.argmax()), len(values))
    yield "amax_ties", _ties(int((values == largest).sum()), len(values))
    if int(values.argmax()) in _INDICES:
        yield "amax_index", str(int(values.argmax()))
    signs = "all_negative" if largest < 0 else "mixed" if smallest < 0 else "none_negative"
    yield "amax_signs", signs
    exact = {-(2**31): "int32_minimum", 2**31 - 1: "int32_maximum"}
    yield "amax_maximum", exact.get(largest, "other")
    if largest - smallest >= 2**31:
        yield "amax_maximum", "difference_overflows"


_INDICES = frozenset(around(4094))
_SHIFTS = np.arange(0, 32, 4, dtype=np.uint32)


def _unpack(i: Instruction, spad: Spad) -> Iterator[Hit]:
    nibbles = spad[i.b : i.b + i.c, None] >> _SHIFTS & np.uint32(15)
    places = np.arange(0, 128, 16)
    for index in _present((nibbles.astype(np.int64) + places).ravel()):
        yield "unpack_nibble", f"{index % 16}/{index // 16}"


CLASSIFIERS: dict[int, Callable[[Instruction, Spad], Iterator[Hit]]] = {
    Op.MM: _matrix,
    Op.RQ: _requantize,
    Op.SM: _softmax,
    Op.VADD: _add,
    Op.AMAX: _argmax,
    Op.UNPACK: _unpack,
}
