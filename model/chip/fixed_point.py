"""Fixed-point arithmetic of GA-2, vectorized and bit exact (docs/isa.md, "Arithmetic").

All functions take integers or integer arrays and work element by element in int64, which is wide
enough for every intermediate value: the widest is ``|acc * m| + 2**62 < 2**63``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]

INT8_LIMIT = 127  # results are symmetric: -128 is never produced
MANTISSA_BITS = 24
MAX_SHIFT = 63
PROBABILITY_BITS = 16  # softmax results are unsigned Q0.16, 0..65536

# exp(-d/16) in units of 1/65535, d = 0..255; math.exp because numpy's may differ by an ulp.
EXP_TABLE: IntArray = np.array(
    [round(65535 * math.exp(-d / 16)) for d in range(256)], dtype=np.int64
)
EXP_TABLE.setflags(write=False)


class ShiftRangeError(ValueError):
    """A scale factor needs a shift that the 6-bit field cannot hold."""


def round_half_away(p: npt.ArrayLike, s: int) -> IntArray:
    """Return ``p / 2**s`` rounded to the nearest integer, ties away from zero.

    Args:
        p: signed integers of any shape, ``|p| <= 2**62``.
        s: shift, 0..63.

    Raises:
        ValueError: ``s`` outside 0..63.
    """
    if not 0 <= s <= MAX_SHIFT:
        raise ValueError(f"shift {s} outside 0..{MAX_SHIFT}")
    value = np.asarray(p, dtype=np.int64)
    if s == 0:
        return value
    # The shift rounds down: with half a step added ties go up, with 1 less than that, down.
    return np.asarray((value + (1 << (s - 1)) + (value >> 63)) >> s)


def requantize(acc: npt.ArrayLike, m: int, s: int, relu: bool | int = False) -> IntArray:
    """Scale int32 accumulators to int8: ``clamp(rnd(acc * m, s), lo, 127)``.

    Args:
        acc: signed 32-bit accumulators, any shape.
        m: unsigned mantissa, 24 bits.
        s: shift, 0..63.
        relu: when true ``lo`` is 0, else -127.

    Raises:
        ValueError: ``m`` or ``s`` does not fit its field.
    """
    if not 0 <= m < 1 << MANTISSA_BITS:
        raise ValueError(f"mantissa {m} outside 0..2**{MANTISSA_BITS} - 1")
    rounded = round_half_away(np.asarray(acc, dtype=np.int64) * m, s)
    low = 0 if relu else -INT8_LIMIT
    return np.asarray(np.minimum(np.maximum(rounded, low), INT8_LIMIT))


def softmax_q16(x: npt.ArrayLike) -> IntArray:
    """Softmax of int8 scores that stand for ``x / 16``, as unsigned Q0.16.

    Args:
        x: scores -128..127, shape (n,), n >= 1.

    Returns:
        Probabilities 0..65536, shape (n,).

    Raises:
        ValueError: no scores, or scores outside int8.
    """
    scores = np.asarray(x, dtype=np.int64)
    if scores.size == 0:
        raise ValueError("softmax of no scores")
    largest = int(scores.max())
    distance = largest - scores
    if largest > 127 or int(distance.max()) - largest > 128:
        raise ValueError("softmax scores outside int8 (-128..127)")
    exponentials = EXP_TABLE[distance]
    reciprocal = (1 << 38) // int(exponentials.sum())
    return np.asarray((exponentials * reciprocal + (1 << 21)) >> 22)


def saturating_add(a: npt.ArrayLike, b: npt.ArrayLike) -> IntArray:
    """Return ``clamp(a + b, -127, 127)`` of int8 values, broadcast over both shapes."""
    total = np.asarray(a, dtype=np.int64) + np.asarray(b, dtype=np.int64)
    return np.asarray(np.minimum(np.maximum(total, -INT8_LIMIT), INT8_LIMIT))


def quantize(x: npt.ArrayLike, scale: float) -> IntArray:
    """Host-side quantization: ``clamp(round_half_away(x / scale), -127, 127)``.

    Args:
        x: real values, any shape.
        scale: size of one step, ``range / 127``.

    Raises:
        ValueError: a scale that is not positive and finite, or a value that is not a number.
    """
    if not (scale > 0 and math.isfinite(scale)):
        raise ValueError(f"scale {scale} is not a positive finite number")
    with np.errstate(over="ignore"):  # a quotient beyond float64 is infinite and saturates
        ratio: npt.NDArray[Any] = np.asarray(x, dtype=np.float64) / scale
    if np.isnan(ratio).any():
        raise ValueError("cannot quantize a NaN")
    magnitude = np.minimum(np.abs(ratio), INT8_LIMIT)
    whole = np.floor(magnitude)
    # The fraction is exact, unlike magnitude + 0.5, which can round up just below a tie.
    rounded = whole + (magnitude - whole >= 0.5)
    return np.asarray(np.where(ratio < 0, -rounded, rounded).astype(np.int64))


def mantissa_shift(factor: float) -> tuple[int, int]:
    """Return ``(m, s)`` with ``factor ~ m / 2**s`` and ``2**23 <= m < 2**24``.

    Raises:
        ValueError: ``factor`` is not positive and finite.
        ShiftRangeError: the shift falls outside 0..63.
    """
    if not (factor > 0 and math.isfinite(factor)):
        raise ValueError(f"scale factor {factor} is not a positive finite number")
    fraction, exponent = math.frexp(factor)  # 0.5 <= fraction < 1, so log2 floors to exponent - 1
    shift = MANTISSA_BITS - exponent
    mantissa = math.floor(math.ldexp(fraction, MANTISSA_BITS) + 0.5)
    if mantissa == 1 << MANTISSA_BITS:
        mantissa >>= 1
        shift -= 1
    if not 0 <= shift <= MAX_SHIFT:
        raise ShiftRangeError(f"scale factor {factor} needs shift {shift}, outside 0..{MAX_SHIFT}")
    return mantissa, shift
