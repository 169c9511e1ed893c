"""Memory contents for generated programs: patterns, int8 corners, words with junk in upper bits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from model.chip.image import Words

INT8_CORNERS = (-128, -127, -126, -64, -2, -1, 0, 1, 2, 63, 64, 126, 127)
"""Values at which int8 arithmetic changes its behaviour."""

INT32_MIN = -(2**31)
INT32_MAX = 2**31 - 1

INT32_CORNERS = (INT32_MIN, INT32_MIN + 1, -(2**24), -128, -1, 0, 1, 127, 2**24, INT32_MAX)
"""Accumulator values at which a requantizer or a signed comparison changes its behaviour."""


def words(values: Iterable[int]) -> Words:
    """Signed or unsigned integers as 32-bit words (modulo 2**32), shape (n,)."""
    return np.array([value & 0xFFFFFFFF for value in values], dtype=np.uint32)


def pattern(count: int, salt: int = 0) -> Words:
    """``count`` words that all differ, so that reading or writing one address off shows."""
    index = np.arange(count, dtype=np.uint64)
    mixed = (index * 0x9E3779B1 + 0x7F4A7C15 + salt * 0x85EBCA6B) & 0xFFFFFFFF
    mixed ^= mixed >> 15
    result: Words = mixed.astype(np.uint32)
    return result


def junk_int8(values: Sequence[int]) -> Words:
    """int8 values in bits 7..0 under upper bits that contradict the sign, shape (n,).

    A unit that consumes int8 must not look at bits 31..8.
    """
    low = np.array([value & 0xFF for value in values], dtype=np.uint32)
    upper = pattern(len(low), salt=3) & np.uint32(0xFFFFFE00)
    # Bit 8 is the opposite of the sign bit: a unit that takes nine bits is caught by every word.
    against = (~(low << np.uint32(1))) & np.uint32(0x100)
    result: Words = low | upper | against
    return result
