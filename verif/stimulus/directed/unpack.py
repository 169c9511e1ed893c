"""Directed programs for UNPACK: every nibble in every place, placement, lengths."""

from __future__ import annotations

from model.chip.isa import SPAD_WORDS, unpack
from verif.items.program_item import ProgramItem
from verif.stimulus.builder import Builder
from verif.stimulus.data import words
from verif.stimulus.registry import directed

FAMILY = "unpack"

LONGEST = 455
"""Packed words of the longest UNPACK that does not fault: 9 * 455 words fill the scratchpad."""


def packed(nibbles: list[int]) -> int:
    """One word from eight nibbles, the first in bits 3..0."""
    return sum((nibble & 15) << (4 * j) for j, nibble in enumerate(nibbles))


@directed(FAMILY)
def unpack_every_nibble() -> ProgramItem:
    """All sixteen nibbles in all eight places of a word."""
    b = Builder("unpack_every_nibble")
    b.spad(0, words(packed([i + 3 * j for j in range(8)]) for i in range(16)))
    return b.add(unpack(100, 0, 16)).keep(100, 128).item()


@directed(FAMILY)
def unpack_one_nibble_set() -> ProgramItem:
    """A single nibble different from its neighbours, in each place: no place is mixed up."""
    b = Builder("unpack_one_nibble_set")
    b.spad(
        0,
        words(
            packed([value if j == place else other for j in range(8)])
            for place in range(8)
            for value, other in ((7, 0), (8, 0), (0, 15))
        ),
    )
    return b.add(unpack(100, 0, 24)).keep(100, 192).item()


@directed(FAMILY)
def unpack_lengths() -> ProgramItem:
    """Every length from 1 to 12, and the words behind each result untouched."""
    b = Builder("unpack_lengths")
    dst = 1000
    for length in range(1, 13):
        b.add(unpack(dst, 3 * length, length))
        dst += 8 * length + 1
    return b.keep(1000, dst - 1000).item()


@directed(FAMILY)
def unpack_operand_placement() -> ProgramItem:
    """The result right behind its source, right before it, and far apart."""
    b = Builder("unpack_operand_placement")
    b.add(unpack(104, 100, 4), unpack(200, 232, 4), unpack(300, 2000, 4), unpack(3000, 400, 4))
    b.add(unpack(501, 500, 1), unpack(600, 608, 1))
    b.keep(100, 36).keep(200, 36).keep(300, 32).keep(3000, 32).keep(500, 9).keep(600, 9)
    return b.item()


@directed(FAMILY)
def unpack_maximum_length() -> ProgramItem:
    """260 packed words, then 455, the most that fit beside their 3,640 results."""
    b = Builder("unpack_maximum_length").add(unpack(2, 3000, 260)).keep(1, 40).keep(2060, 30)
    b.add(unpack(1, 8 * LONGEST + 1, LONGEST))
    return b.keep(0, 80).keep(8 * LONGEST - 40, 60).item()


@directed(FAMILY)
def unpack_last_word() -> ProgramItem:
    """Result and source that end at the last word."""
    b = Builder("unpack_last_word")
    b.add(unpack(SPAD_WORDS - 8, 10, 1)).keep(SPAD_WORDS - 9, 9)
    b.add(unpack(0, SPAD_WORDS - 2, 2)).keep(0, 17)
    return b.add(unpack(SPAD_WORDS - 24, 20, 3)).keep(SPAD_WORDS - 25, 25).item()
