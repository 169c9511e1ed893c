"""How tensors lie in external memory: one int8 a word, or int4 packed eight to a word."""

from __future__ import annotations

import numpy as np

from model.chip.fixed_point import quantize
from model.chip.image import Words
from model.compiler.graph import FloatArray, Kind, Node
from model.compiler.scales import INT4_STEPS

NIBBLES = 8  # int4 values in a packed word; UNPACK always writes this many


def is_packed(node: Node) -> bool:
    """Whether a tensor comes from external memory as int4."""
    return node.bits == 4 and node.kind in (Kind.WEIGHT, Kind.INPUT)


def packed_words(size: int) -> int:
    """Words that this many int4 values take."""
    return -(-size // NIBBLES)


def stored_words(node: Node) -> int:
    """Words of a tensor in external memory."""
    return packed_words(node.size) if is_packed(node) else node.size


def quantized_words(values: FloatArray, scale: float, bits: int) -> Words:
    """Quantize to int8, a value a word, or int4 (-7..7), eight a word, the first in bits 3..0."""
    q = quantize(values, scale).ravel()
    if bits == 8:
        return q.astype(np.int32).view(np.uint32)
    padded = np.zeros(packed_words(q.size) * NIBBLES, dtype=np.int64)
    padded[: q.size] = np.clip(q, -INT4_STEPS, INT4_STEPS) & 15
    shifted = padded.reshape(packed_words(q.size), NIBBLES) << (4 * np.arange(NIBBLES))
    words: Words = shifted.sum(axis=1).astype(np.uint32)
    return words
