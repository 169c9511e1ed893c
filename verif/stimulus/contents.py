"""Random memory contents: blocks of 64 words, each of a kind that some operation cares about."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from model.chip.image import Words
from verif.stimulus.data import INT8_CORNERS, INT32_CORNERS, words
from verif.stimulus.source import Source

BLOCK = 64

KINDS = ("word", "int8", "corner", "small", "accumulator", "int32", "equal", "junk", "least")
"""Kinds of block: any word; sign-extended int8; int8 corner values; values -4..3 (ties, narrow
softmax rows); sums as MM makes them; int32 corner values; one value throughout; int8 corner
values under upper bits that do not match; the least int8 throughout (largest sums)."""

_INT8_TABLE = words([INT8_CORNERS[i % len(INT8_CORNERS)] for i in range(256)])
_INT32_TABLE = words([INT32_CORNERS[i % len(INT32_CORNERS)] for i in range(256)])


def random_words(source: Source, count: int, ladder: Sequence[int]) -> Words:
    """``count`` random words (a multiple of 64) in blocks of kinds picked from ``ladder``.

    Args:
        source: where the randomness comes from.
        count: number of words.
        ladder: indices into KINDS.
    """
    raw = np.frombuffer(source.octets(4 * count), dtype="<u4").astype(np.uint32)
    blocks = raw.reshape(-1, BLOCK)
    choice = np.frombuffer(source.octets(len(blocks)), dtype=np.uint8).astype(np.int64)
    kinds = np.array(ladder)[choice * len(ladder) >> 8]
    for kind in set(ladder) - {0}:
        rows = (kinds == kind).nonzero()[0]
        if len(rows):
            blocks[rows] = _shaped(kind, blocks[rows])
    return raw


def _shaped(kind: int, block: Words) -> Words:
    """Random words (rows, 64) turned into the given kind."""
    low = block & np.uint32(0xFF)
    if kind == 1:
        result = low.astype(np.int8).astype(np.int32)
    elif kind == 2:
        return _INT8_TABLE.take(low)
    elif kind == 3:
        result = (low & np.uint32(7)).astype(np.int32) - 4
    elif kind == 4:
        # Arithmetic shift by 8..23: magnitudes from 2**8 to 2**23, as sums of products have.
        result = block.astype(np.int32) >> (8 + (low & np.uint32(15)).astype(np.int32))
    elif kind == 5:
        return _INT32_TABLE.take(low)
    elif kind == 6:
        return np.repeat(_INT8_TABLE.take(low[:, :1]), BLOCK, axis=1)
    elif kind == 8:
        return np.full_like(block, np.uint32(0xFFFFFF80))
    else:
        corners = _INT8_TABLE.take(block >> 24) & np.uint32(0xFF)
        junk: Words = block & np.uint32(0xFFFFFF00) | corners
        return junk
    return result.view(np.uint32)
