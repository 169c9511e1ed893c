"""Directed programs for RQ: shifts, rounding, saturation, extremes, in-place and lengths."""

from __future__ import annotations

from model.chip.isa import SPAD_WORDS, rq
from verif.items.program_item import ProgramItem
from verif.stimulus.builder import Builder
from verif.stimulus.data import INT32_CORNERS, INT32_MAX, INT32_MIN, words
from verif.stimulus.registry import directed

FAMILY = "requantize"

LARGEST_MANTISSA = (1 << 24) - 1


@directed(FAMILY)
def rq_every_shift() -> ProgramItem:
    """Shifts 0..63 over accumulators of all sizes; the mantissa puts results around 100."""
    b = Builder("rq_every_shift")
    magnitudes = [0, 1, 2, 3, 5, 100, 127, 128, 4095, 65535, 1 << 20, (1 << 24) + 7, INT32_MAX]
    accumulators = [sign * value for value in magnitudes for sign in (1, -1)] + [INT32_MIN]
    count = len(accumulators)
    b.spad(0, words(accumulators))
    dst = 1000
    for shift in range(64):
        # acc * m / 2**shift near 100 for the largest accumulator the mantissa can bring there.
        mantissa = min(LARGEST_MANTISSA, max(1, (100 << shift) // (1 << 24) | 1))
        b.add(rq(dst, 0, count, mantissa, shift))
        dst += count
    return b.keep(1000, dst - 1000).item()


@directed(FAMILY)
def rq_rounding_ties() -> ProgramItem:
    """Products that lie exactly between two results, and one unit beside, of both signs."""
    b = Builder("rq_rounding_ties")
    source = dst = 0
    for shift in range(1, 26):
        half = 1 << (shift - 1)
        near = [(2 * n + 1) * half + d for n in (0, 1, 2, 7) for d in (-1, 0, 1)]
        accumulators = [sign * value for value in near for sign in (1, -1)]
        b.spad(source, words(accumulators))
        b.add(rq(2000 + dst, source, len(accumulators), 1, shift))
        source += len(accumulators)
        dst += len(accumulators)
    return b.keep(2000, dst).item()


@directed(FAMILY)
def rq_ties_high_shift() -> ProgramItem:
    """Ties at shifts 26..54, where the product needs a large mantissa to reach one half."""
    b = Builder("rq_ties_high_shift")
    dst = 2000
    for shift in range(26, 55):
        # acc * m = 2**(shift-1) exactly, with a power of two for each factor.
        mantissa = 1 << min(23, shift - 1)
        acc = 1 << (shift - 1 - min(23, shift - 1))
        if acc > INT32_MAX:
            acc = INT32_MAX
        block = [acc, -acc, acc - 1, 1 - acc, acc + 1 if acc < INT32_MAX else acc, INT32_MIN]
        b.spad(6 * (shift - 26), words(block))
        b.add(rq(dst, 6 * (shift - 26), 6, mantissa, shift))
        dst += 6
    return b.keep(2000, dst - 2000).item()


@directed(FAMILY)
def rq_saturation_edges() -> ProgramItem:
    """Results around 127 and -127 on both sides, exact and rounded, with and without relu."""
    b = Builder("rq_saturation_edges")
    # With m = 1 and s = 2 these are quarters: 126.25 .. 128.25 and the same below zero.
    quarters = [sign * value for value in range(505, 514) for sign in (1, -1)]
    b.spad(0, words(quarters))
    count = len(quarters)
    b.add(rq(100, 0, count, 1, 2), rq(200, 0, count, 1, 2, relu=1))
    b.add(rq(300, 0, count, 1, 0), rq(400, 0, count, 3, 0, relu=1))
    for base in (100, 200, 300, 400):
        b.keep(base, count)
    return b.item()


@directed(FAMILY)
def rq_relu() -> ProgramItem:
    """Relu: negatives become zero, also those that would have rounded to zero or saturated."""
    b = Builder("rq_relu")
    accumulators = [-1, -2, -3, -127, -128, -(1 << 20), INT32_MIN, 0, 1, 2, 127, 128, INT32_MAX]
    b.spad(0, words(accumulators))
    dst = 100
    for mantissa, shift in ((1, 0), (1, 1), (1, 2), (1 << 23, 24), (LARGEST_MANTISSA, 40)):
        for relu in (0, 1):
            b.add(rq(dst, 0, len(accumulators), mantissa, shift, relu=relu))
            dst += len(accumulators)
    return b.keep(100, dst - 100).item()


@directed(FAMILY)
def rq_int32_limits() -> ProgramItem:
    """Accumulators at the int32 limits with every corner mantissa, where the product is widest."""
    b = Builder("rq_int32_limits")
    b.spad(0, words(INT32_CORNERS))
    count = len(INT32_CORNERS)
    dst = 100
    for mantissa in (0, 1, 2, 1 << 22, (1 << 23) - 1, 1 << 23, LARGEST_MANTISSA):
        for shift in (0, 1, 31, 47, 48, 49, 54, 55, 56, 62, 63):
            b.add(rq(dst, 0, count, mantissa, shift))
            dst += count
    return b.keep(100, dst - 100).item()


@directed(FAMILY)
def rq_mantissa_bits() -> ProgramItem:
    """Every bit of the mantissa on its own, brought back to the same result by the shift."""
    b = Builder("rq_mantissa_bits").spad(0, words([77, -77, 1, -1, 126, -126]))
    for bit in range(24):
        b.add(rq(100 + 12 * bit, 0, 6, 1 << bit, bit))
        b.add(rq(106 + 12 * bit, 0, 6, LARGEST_MANTISSA ^ (1 << bit), 24))
    return b.keep(100, 12 * 24).item()


@directed(FAMILY)
def rq_accumulator_bits() -> ProgramItem:
    """Every bit of the accumulator on its own, of both signs."""
    b = Builder("rq_accumulator_bits")
    b.spad(0, words([sign * (1 << bit) for bit in range(32) for sign in (1, -1)]))
    for bit in range(32):
        b.add(rq(100 + 2 * bit, 2 * bit, 2, 93, bit))
    return b.keep(100, 64).item()


@directed(FAMILY)
def rq_operand_placement() -> ProgramItem:
    """In place, side by side above and below, and far apart."""
    b = Builder("rq_operand_placement")
    b.add(rq(0, 0, 10, 77, 32), rq(20, 30, 10, 77, 31), rq(60, 50, 10, 77, 30))
    b.add(rq(3000, 100, 10, 77, 29), rq(200, 3100, 10, 77, 32), rq(300, 300, 1, 1 << 20, 44))
    b.add(rq(310, 311, 1, 5, 28), rq(321, 320, 1, 5, 28))
    b.keep(0, 80).keep(3000, 10).keep(200, 10).keep(300, 30)
    return b.item()


@directed(FAMILY)
def rq_lengths() -> ProgramItem:
    """Every length from 1 to 20, and 300, and the words behind each result untouched."""
    b = Builder("rq_lengths")
    dst = 1000
    for length in (*range(1, 21), 300):
        b.add(rq(dst, length, length, 1 << 22, 46))
        dst += length + 1
    return b.keep(1000, dst - 1000).item()


@directed(FAMILY)
def rq_maximum_length() -> ProgramItem:
    """4,095 words in place, ending at the last word of the scratchpad."""
    b = Builder("rq_maximum_length").add(rq(1, 1, 4095, 3 << 20, 48))
    return b.keep(0, 64).keep(2000, 64).keep(SPAD_WORDS - 64, 64).item()


@directed(FAMILY)
def rq_last_word() -> ProgramItem:
    """Source and destination that end at the last word."""
    b = Builder("rq_last_word")
    b.add(rq(0, SPAD_WORDS - 9, 9, 5, 30), rq(SPAD_WORDS - 1, 20, 1, 5, 28))
    b.add(rq(SPAD_WORDS - 12, 40, 11, 5, 30))
    return b.keep(0, 9).keep(SPAD_WORDS - 12, 12).item()
