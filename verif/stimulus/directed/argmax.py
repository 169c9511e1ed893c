"""Directed programs for AMAX: ties, negatives, int32 limits, place of the result, lengths."""

from __future__ import annotations

from model.chip.isa import SPAD_WORDS, amax
from verif.items.program_item import ProgramItem
from verif.stimulus.builder import Builder
from verif.stimulus.data import INT32_MAX, INT32_MIN, words
from verif.stimulus.registry import directed

FAMILY = "argmax"


def _rows(name: str, rows: list[list[int]]) -> ProgramItem:
    b = Builder(name)
    source = 100
    for i, row in enumerate(rows):
        b.spad(source, words(row))
        b.add(amax(i, source, len(row)))
        source += len(row)
    return b.keep(0, len(rows)).item()


@directed(FAMILY)
def amax_ties() -> ProgramItem:
    """Several equal maxima: the first one counts, wherever the others are."""
    return _rows(
        "amax_ties",
        [
            [5, 5],
            [5, 5, 5, 5],
            [1, 5, 2, 5],
            [5, 1, 5],
            [1, 2, 3, 9, 9],
            [-7, -3, -3, -9],
            [0] * 20,
            [INT32_MAX, INT32_MAX],
            [INT32_MIN, INT32_MIN, INT32_MIN],
        ],
    )


@directed(FAMILY)
def amax_index_bits() -> ProgramItem:
    """The last word is the maximum, at every power of two: each bit of the index alone."""
    row = [0] * 2049
    for bit in range(12):
        row[1 << bit] = bit + 1
    b = Builder("amax_index_bits").spad(100, words(row))
    for bit in range(12):
        b.add(amax(bit, 100, (1 << bit) + 1))
    return b.keep(0, 12).item()


@directed(FAMILY)
def amax_negatives() -> ProgramItem:
    """Rows without a value above -1, and rows that mix signs: the comparison is signed."""
    return _rows(
        "amax_negatives",
        [
            [-5, -3, -9],
            [-1, -2],
            [-2, -1],
            [INT32_MIN, -1],
            [-1, INT32_MIN],
            [INT32_MIN, INT32_MIN + 1],
            [-1, 0],
            [0, -1],
            [3, -(1 << 30), 2],
            [-(1 << 30), 7, 1 << 30],
        ],
    )


@directed(FAMILY)
def amax_int32_limits() -> ProgramItem:
    """Differences that overflow 32 bits, and the limits as the maximum."""
    return _rows(
        "amax_int32_limits",
        [
            [INT32_MIN],
            [INT32_MAX],
            [INT32_MIN, INT32_MAX],
            [INT32_MAX, INT32_MIN],
            [INT32_MAX - 1, INT32_MAX],
            [INT32_MIN, 0, INT32_MAX, 0, INT32_MIN],
            [-2, INT32_MAX, INT32_MAX - 1],
            [127, 128, 255, 256],
        ],
    )


@directed(FAMILY)
def amax_every_bit() -> ProgramItem:
    """Pairs that differ in one bit only, for every bit, the larger first and last."""
    rows = []
    for bit in range(31):
        base = 0x2AAAAAAA & ~(1 << bit)
        rows += [[base, base | 1 << bit], [base | 1 << bit, base]]
    rows += [[1, 1 - (1 << 31)], [1 - (1 << 31), 1]]
    return _rows("amax_every_bit", rows)


@directed(FAMILY)
def amax_maximum_place() -> ProgramItem:
    """The maximum at each place of a row of 12, and at both ends of rows of 1 to 9."""
    rows = [[-i - 1 if i != place else 50 for i in range(12)] for place in range(12)]
    for length in range(1, 10):
        rows += [[9, *range(length - 1)], [*range(length - 1), 9]]
    return _rows("amax_maximum_place", rows)


@directed(FAMILY)
def amax_result_in_source() -> ProgramItem:
    """The index written over the first, a middle and the last word of its own source."""
    b = Builder("amax_result_in_source")
    for base, dst in ((100, 100), (200, 205), (300, 309), (400, 410), (500, 499)):
        b.spad(base, words([3, -4, 9, 27, 1, 0, 27, 5, 2, -1]))
        b.add(amax(dst, base, 10)).keep(base - 1, 12)
    b.add(amax(600, 600, 1)).keep(600, 1)
    return b.item()


@directed(FAMILY)
def amax_maximum_length() -> ProgramItem:
    """4,095 and 300 words: the maximum last, then nowhere above the rest."""
    b = Builder("amax_maximum_length").spad(0, words([-5] * SPAD_WORDS))
    b.spad(SPAD_WORDS - 1, words([-4])).spad(2250, words([-3]))
    b.add(amax(0, 1, 4095), amax(1, 2251, 1800), amax(2, 0, 2000), amax(3, 2000, 300))
    return b.keep(0, 4).item()


@directed(FAMILY)
def amax_last_word() -> ProgramItem:
    """Source that ends at the last word, result in the last word."""
    b = Builder("amax_last_word").spad(SPAD_WORDS - 4, words([1, 2, 3, 4]))
    b.add(amax(0, SPAD_WORDS - 4, 4), amax(1, SPAD_WORDS - 1, 1))
    b.add(amax(SPAD_WORDS - 1, SPAD_WORDS - 3, 3))
    return b.keep(0, 2).keep(SPAD_WORDS - 4, 4).item()
