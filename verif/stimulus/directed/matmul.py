"""Directed programs for MM: shapes, inner lengths, strides, transposition, wrap, operand values."""

from __future__ import annotations

from collections.abc import Iterable

from model.chip.isa import SPAD_WORDS, mm
from verif.items.program_item import ProgramItem
from verif.stimulus.builder import Builder
from verif.stimulus.data import INT8_CORNERS, junk_int8, words
from verif.stimulus.registry import directed

FAMILY = "matmul"

A, B, C = 0, 1000, 2000
"""Where most programs here keep their operands and their first result."""


def _series(length: int, step: int) -> list[int]:
    """Int8 values that walk through the whole range with the given odd step."""
    return [((i * step + 11) % 256) - 128 for i in range(length)]


def _operands(name: str, length: int = 600) -> Builder:
    """A builder with mixed int8 operands at A and B."""
    b = Builder(name)
    b.spad(A, junk_int8(_series(length, 77)))
    return b.spad(B, junk_int8(_series(length, 91)))


def _every_shape(name: str, tb: int, inner: Iterable[int]) -> ProgramItem:
    b = _operands(name)
    dst = C
    for k in inner:
        for m in range(1, 5):
            for n in range(1, 5):
                b.add(mm(dst, A + m, B + n, m, k, n, tb=tb, ldb=k if tb else n))
                dst += m * n
    return b.keep(C, dst - C).item()


@directed(FAMILY)
def mm_every_tile() -> ProgramItem:
    """All sixteen M x N tiles with K of 1, 2, 3, 5 and 64."""
    return _every_shape("mm_every_tile", 0, (1, 2, 3, 5, 64))


@directed(FAMILY)
def mm_every_tile_transposed() -> ProgramItem:
    """All sixteen M x N tiles with B stored transposed and K of 1, 2, 4, 7 and 64."""
    return _every_shape("mm_every_tile_transposed", 1, (1, 2, 4, 7, 64))


@directed(FAMILY)
def mm_every_inner_length() -> ProgramItem:
    """K from 1 to 64, on a 1 x 1 tile and on a 2 x 3 tile."""
    b = _operands("mm_every_inner_length")
    dst = C
    for k in range(1, 65):
        b.add(mm(dst, A + k, B, 1, k, 1, tb=1))
        b.add(mm(dst + 1, A, B + k, 2, k, 3, ldb=3))
        dst += 7
    return b.keep(C, dst - C).item()


@directed(FAMILY)
def mm_largest_tile() -> ProgramItem:
    """4 x 64 x 4, the largest tile, plain and transposed."""
    b = _operands("mm_largest_tile")
    b.add(mm(C, A, B, 4, 64, 4, ldb=4), mm(C + 16, A, B, 4, 64, 4, tb=1, ldb=64))
    return b.keep(C, 32).item()


@directed(FAMILY)
def mm_short_after_long() -> ProgramItem:
    """Small tiles right after the largest: no operand or sum of the old tile leaks in."""
    b = _operands("mm_short_after_long")
    large, small = C + 500, C
    for m, k, n in ((1, 1, 1), (4, 1, 1), (1, 1, 4), (2, 63, 2), (1, 64, 1), (3, 2, 4)):
        b.add(mm(large, A, B, 4, 64, 4, ldb=4), mm(small, A + 5, B + 9, m, k, n, ldb=n))
        large += 16
        small += m * n
    return b.keep(C, small - C).keep(C + 500, large - C - 500).item()


def _strides(name: str, field: str) -> ProgramItem:
    """One stride at zero, below, at, above its dense value, and at its largest."""
    b = Builder(name)
    b.spad(0, junk_int8(_series(SPAD_WORDS, 45)))
    b.keep(C, 40)
    for tb in (0, 1):
        dense = {"lda": 5, "ldb": 5 if tb else 3, "ldc": 3}
        for value in (0, 1, dense[field] - 1, dense[field], dense[field] + 1, 100, 2048, 4095):
            strides = dense | {field: value}
            b.add(mm(C, 100, 600, 4, 5, 3, tb=tb, **strides))
            b.keep(C, 16)
            if field == "ldc" and value > 4:
                for row in range(1, 4):
                    b.keep((C + row * value) % SPAD_WORDS, 3)
    return b.item()


@directed(FAMILY)
def mm_stride_a() -> ProgramItem:
    """Stride lda of 0, below, at and above K, 2,048 and 4,095, with and without tb."""
    return _strides("mm_stride_a", "lda")


@directed(FAMILY)
def mm_stride_b() -> ProgramItem:
    """Stride ldb of 0, below, at and above dense, 2,048 and 4,095, with and without tb."""
    return _strides("mm_stride_b", "ldb")


@directed(FAMILY)
def mm_stride_c() -> ProgramItem:
    """Stride ldc of 0 (rows overwrite each other), below, at and above N, 2,048 and 4,095."""
    return _strides("mm_stride_c", "ldc")


@directed(FAMILY)
def mm_stride_bits() -> ProgramItem:
    """Every single bit of the three strides."""
    b = Builder("mm_stride_bits").spad(0, junk_int8(_series(SPAD_WORDS, 51)))
    for bit in range(12):
        stride = 1 << bit
        b.add(mm(C, A, B, 2, 2, 2, lda=stride, ldb=2), mm(C + 4, A, B, 2, 2, 2, ldb=stride))
        b.add(mm(C + 8, A, B, 2, 2, 2, tb=1, ldb=stride), mm(C + 12, A, B, 2, 2, 2, ldc=stride))
        b.keep(C, 16)
        b.keep((C + 12 + stride) % SPAD_WORDS, 2)
    return b.item()


@directed(FAMILY)
def mm_address_wrap() -> ProgramItem:
    """Rows, columns and results that run over the end of the scratchpad go on at word 0."""
    last = SPAD_WORDS - 1
    b = Builder("mm_address_wrap").spad(0, junk_int8(_series(SPAD_WORDS, 33)))
    b.add(mm(C, last - 5, B, 4, 8, 2, ldb=2), mm(C + 8, last, B, 1, 2, 1))
    b.add(mm(C + 10, A, last - 3, 2, 6, 4, ldb=4), mm(C + 20, A, last - 3, 2, 6, 4, tb=1, ldb=6))
    b.add(mm(C + 30, last, last, 4, 64, 4, tb=1, ldb=64))
    b.keep(C, 50)
    b.add(mm(last - 2, A + 64, B, 3, 4, 4, ldb=4))
    b.keep(last - 2, 3).keep(0, 12)
    b.add(mm(last, A + 64, B, 2, 4, 1, ldb=1, ldc=4095))
    b.keep(last - 1, 2)
    return b.item()


@directed(FAMILY)
def mm_result_over_operands() -> ProgramItem:
    """The result written over A, over B, over both: every read comes before the first write."""
    b = Builder("mm_result_over_operands")
    b.spad(0, junk_int8(_series(400, 29)))
    b.add(mm(0, 0, 50, 4, 4, 4, ldb=4)).keep(0, 20)
    b.add(mm(110, 100, 110, 4, 5, 3, tb=1, ldb=5)).keep(100, 30)
    b.add(mm(200, 200, 200, 4, 4, 4, ldb=4)).keep(200, 20)
    b.add(mm(352, 330, 350, 2, 5, 2, tb=1, ldb=5)).keep(350, 10)
    b.add(mm(303, 300, 300, 2, 8, 4, tb=1, ldb=8)).keep(300, 20)
    return b.item()


@directed(FAMILY)
def mm_extreme_sums() -> ProgramItem:
    """-128 times -128 and times 127, 64 deep: the largest and smallest sums there are."""
    b = Builder("mm_extreme_sums")
    b.spad(A, junk_int8([-128] * 256)).spad(B, junk_int8([-128] * 256))
    b.spad(1500, junk_int8([127] * 256))
    b.add(mm(C, A, B, 4, 64, 4, ldb=4), mm(C + 16, A, 1500, 4, 64, 4, ldb=4))
    b.add(mm(C + 32, 1500, 1500, 4, 64, 4, tb=1, ldb=64))
    return b.keep(C, 48).item()


@directed(FAMILY)
def mm_corner_products() -> ProgramItem:
    """Every pair of int8 corner values as a single product and as a running sum of three."""
    corners = list(INT8_CORNERS)
    padded = [*corners, *([0] * (-len(corners) % 4))]
    b = Builder("mm_corner_products")
    b.spad(A, junk_int8(padded)).spad(B, junk_int8(padded))
    dst = C
    for row in range(0, len(corners), 4):
        for column in range(0, len(corners), 4):
            b.add(mm(dst, A + row, B + column, 4, 1, 4, lda=1, ldb=0))
            b.add(mm(dst + 16, A + row, B + column, 4, 3, 4, lda=1, tb=1, ldb=1))
            dst += 32
    return b.keep(C, dst - C).item()


@directed(FAMILY)
def mm_unit_vectors() -> ProgramItem:
    """A and B with a single one each, in every place: each product lands in its own sum only."""
    b = Builder("mm_unit_vectors")
    b.spad(A, words([0] * 64)).spad(B, words([0] * 64))
    one = 32
    b.spad(A + one, words([1])).spad(B + one, words([1]))
    dst = C
    for place in range(16):
        b.add(mm(dst, A + one - place, B + one - place, 4, 4, 4, ldb=4))
        b.add(mm(dst + 16, A + one - place, B + one - (place * 5) % 16, 4, 4, 4, tb=1, ldb=4))
        dst += 32
    return b.keep(C, dst - C).item()


@directed(FAMILY)
def mm_last_words() -> ProgramItem:
    """Operands and results that start at word 0 or end at the last word of the scratchpad."""
    b = Builder("mm_last_words").spad(0, junk_int8(_series(SPAD_WORDS, 87)))
    b.add(mm(C, SPAD_WORDS - 16, SPAD_WORDS - 16, 4, 4, 4, ldb=4)).keep(C, 16)
    b.add(mm(SPAD_WORDS - 16, A, B, 4, 4, 4, ldb=4)).keep(SPAD_WORDS - 16, 16)
    b.add(mm(C, 64, 0, 4, 4, 4, ldb=4), mm(C + 16, 0, 64, 4, 4, 4, ldb=4)).keep(C, 32)
    b.add(mm(0, SPAD_WORDS - 1, SPAD_WORDS - 1, 1, 1, 1)).keep(0, 1)
    b.add(mm(SPAD_WORDS - 1, A, B, 1, 1, 1)).keep(SPAD_WORDS - 1, 1)
    return b.item()
