"""Directed programs for VADD: all operand pairs, saturation, in-place forms, lengths."""

from __future__ import annotations

import numpy as np

from model.chip.isa import SPAD_WORDS, vadd
from verif.items.program_item import ProgramItem
from verif.stimulus.builder import Builder
from verif.stimulus.data import INT8_CORNERS, junk_int8, pattern, words
from verif.stimulus.registry import directed

FAMILY = "vector_add"


@directed(FAMILY, slow=True)
def vadd_every_pair() -> list[ProgramItem]:
    """All 65,536 pairs of int8 operands, every sum stored."""
    # src1 is a ramp of 256 values, src2 the same ramp started k words later: 256 sums a VADD.
    # Four quarters of k, so that each program's results fit a small memory.
    ramp = np.arange(512, dtype=np.uint32) % np.uint32(256)
    junk = pattern(512, salt=11) & np.uint32(0xFFFFFF00)
    items = []
    for quarter in range(4):
        b = Builder(f"vadd_every_pair/{quarter}")
        b.spad(0, ramp[:256] | junk[:256]).spad(256, ramp | junk)
        for block in range(8):
            for i in range(8):
                offset = 64 * quarter + 8 * block + i
                b.add(vadd(1000 + 256 * i, 0, 256 + offset, 256))
            b.keep(1000, 2048)
        items.append(b.item())
    return items


@directed(FAMILY)
def vadd_corner_pairs() -> ProgramItem:
    """Every pair of int8 corner values: saturation both ways and the sums just inside."""
    first = [x for x in INT8_CORNERS for _ in INT8_CORNERS]
    second = [y for _ in INT8_CORNERS for y in INT8_CORNERS]
    b = Builder("vadd_corner_pairs").spad(0, junk_int8(first)).spad(500, junk_int8(second))
    return b.add(vadd(1000, 0, 500, len(first))).keep(1000, len(first)).item()


@directed(FAMILY)
def vadd_saturation_edges() -> ProgramItem:
    """Sums of 125..130 and -125..-130 made from many different operands."""
    pairs = [
        (x, sign * total - x)
        for sign in (1, -1)
        for total in range(125, 131)
        for x in range(-128, 128, 5)
        if -128 <= sign * total - x <= 127
    ]
    b = Builder("vadd_saturation_edges")
    b.spad(0, junk_int8([x for x, _ in pairs])).spad(700, junk_int8([y for _, y in pairs]))
    return b.add(vadd(1400, 0, 700, len(pairs))).keep(1400, len(pairs)).item()


@directed(FAMILY)
def vadd_in_place() -> ProgramItem:
    """The result over the first operand, over the second, and over both at once."""
    b = Builder("vadd_in_place")
    b.add(vadd(0, 0, 50, 20), vadd(150, 100, 150, 20), vadd(200, 200, 200, 20))
    b.add(vadd(250, 250, 300, 1), vadd(261, 310, 261, 1), vadd(270, 270, 270, 1))
    return b.keep(0, 70).keep(100, 70).keep(200, 110).item()


@directed(FAMILY)
def vadd_operand_placement() -> ProgramItem:
    """Disjoint, side by side, equal sources, sources that overlap each other in part."""
    b = Builder("vadd_operand_placement")
    b.add(vadd(1000, 0, 2000, 12), vadd(112, 100, 124, 12), vadd(236, 224, 212, 12))
    b.add(vadd(300, 312, 324, 12), vadd(400, 420, 420, 12), vadd(500, 520, 525, 12))
    b.add(vadd(600, 631, 620, 12))
    b.keep(1000, 12).keep(100, 36).keep(212, 36).keep(300, 36)
    return b.keep(400, 12).keep(500, 12).keep(600, 12).item()


@directed(FAMILY)
def vadd_lengths() -> ProgramItem:
    """Every length from 1 to 20, and 300, and the words behind each result untouched."""
    b = Builder("vadd_lengths")
    dst = 1000
    for length in (*range(1, 21), 300):
        b.add(vadd(dst, length, 2000 + 2 * length, length))
        dst += length + 1
    return b.keep(1000, dst - 1000).item()


@directed(FAMILY)
def vadd_maximum_length() -> ProgramItem:
    """4,095 words, result and both operands the same region, ending at the last word."""
    b = Builder("vadd_maximum_length").add(vadd(1, 1, 1, 4095))
    return b.keep(0, 64).keep(2000, 64).keep(SPAD_WORDS - 64, 64).item()


@directed(FAMILY)
def vadd_last_word() -> ProgramItem:
    """Either operand, and the result, starting at word 0 and ending at the last word."""
    b = Builder("vadd_last_word").spad(120, words(range(-5, 6)))
    b.add(vadd(200, 0, 20, 9), vadd(220, 20, 0, 9)).keep(200, 29)
    b.add(vadd(0, SPAD_WORDS - 9, 20, 9), vadd(40, 60, SPAD_WORDS - 7, 7))
    b.add(vadd(SPAD_WORDS - 1, 80, 90, 1), vadd(SPAD_WORDS - 12, 100, 120, 11))
    return b.keep(0, 9).keep(40, 7).keep(SPAD_WORDS - 12, 12).item()
