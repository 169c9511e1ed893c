"""Shape of the trained model: character level, two layers of two heads, positions by distance.

x = E[character]; per layer and head: a_h = softmax(q_h K_h^T / 4 + bias_h) V_h over the cached rows
and the new one; h = x + sum of a_h Wo_h; x = h + relu(h W1) W2. After the last layer: logits = x
Wout, next character = their first argmax. No normalization, since the chip has none.
"""

from __future__ import annotations

import numpy as np

from model.compiler.graph import FloatArray

# Index in here is the token: 63 characters, the line end first.
ALPHABET = "\n !'(),-.:;?ABCDEFGHIJKLMNOPQRSTUVWYZabcdefghijklmnopqrstuvwxyz"
VOCABULARY = len(ALPHABET)
WIDTH = 32
HEADS = 2
HEAD_WIDTH = WIDTH // HEADS
HIDDEN = 64
LAYERS = 2
CONTEXT = 64  # longest that the chip's K allows

# Softmax reads its scores in sixteenths within -127..127, which is where scores and bias are kept.
SCORE_LIMIT = 127 / 16
# Loss of score for each character of distance, by head: one looks near, one far. Sixteenths are
# exact on the chip.
SLOPES = (8 / 16, 1 / 16)


def distance_bias(head: int, context: int) -> FloatArray:
    """Bias (context,) on the scores of the last of ``context`` rows, the farthest row first."""
    distance = np.arange(context - 1, -1, -1)
    bias: FloatArray = np.maximum(-SLOPES[head] * distance, -SCORE_LIMIT)
    return bias


def encode(text: str) -> list[int]:
    """Tokens of a text. Raises ValueError for a character outside the alphabet."""
    return [ALPHABET.index(character) for character in text]


def decode(tokens: list[int]) -> str:
    """Text of tokens."""
    return "".join(ALPHABET[token] for token in tokens)
