"""Bit-exact arithmetic against plain Python integers and fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import scalar_ga2
from hypothesis import example, given
from hypothesis import strategies as st

from model.chip import fixed_point as fp

INT32 = st.integers(-(1 << 31), (1 << 31) - 1)
MANTISSA = st.integers(0, (1 << 24) - 1)
SHIFT = st.integers(0, 63)
INT8 = st.integers(-128, 127)


def nearest_half_away(value: Fraction) -> int:
    rounded = math.floor(abs(value) + Fraction(1, 2))
    return -rounded if value < 0 else rounded


@given(st.integers(-(1 << 56), 1 << 56), SHIFT)
@example(0, 0)
@example(-(1 << 56), 63)
def test_rounding_is_to_nearest_with_ties_away(p: int, s: int) -> None:
    assert int(fp.round_half_away(p, s)) == nearest_half_away(Fraction(p, 1 << s))


@pytest.mark.parametrize("s", range(1, 57))
def test_ties_go_away_from_zero(s: int) -> None:
    for n in (0, 1, 2, 7):
        tie = (2 * n + 1) << (s - 1)
        if tie <= 1 << 60:
            got = fp.round_half_away([tie, tie - 1, -tie, -tie + 1], s)
            below = nearest_half_away(Fraction(tie - 1, 1 << s))
            assert got.tolist() == [n + 1, below, -n - 1, -below]


def test_a_shift_of_zero_changes_nothing() -> None:
    assert fp.round_half_away([-5, 0, 5], 0).tolist() == [-5, 0, 5]


@pytest.mark.parametrize("s", [-1, 64])
def test_rounding_refuses_shifts_outside_the_field(s: int) -> None:
    with pytest.raises(ValueError, match=f"shift {s} "):
        fp.round_half_away(1, s)


@given(st.lists(INT32, min_size=1, max_size=20), MANTISSA, SHIFT, st.booleans())
def test_requantize_matches_plain_integers(acc: list[int], m: int, s: int, relu: bool) -> None:
    expected = [scalar_ga2.requantize(a, m, s, relu) for a in acc]
    assert fp.requantize(np.array(acc, dtype=np.int32), m, s, relu).tolist() == expected


@pytest.mark.parametrize("s", range(64))
def test_requantize_at_the_limits_of_accumulator_and_mantissa(s: int) -> None:
    limits = [-(1 << 31), -(1 << 31) + 1, -1, 0, 1, (1 << 31) - 2, (1 << 31) - 1]
    for m in (0, 1, 1 << 23, (1 << 24) - 1):
        for relu in (0, 1):
            expected = [scalar_ga2.requantize(a, m, s, relu) for a in limits]
            assert fp.requantize(limits, m, s, relu).tolist() == expected


def test_requantize_is_symmetric_and_never_gives_minus_128() -> None:
    acc = np.arange(-40000, 40001)
    got = fp.requantize(acc, 1 << 23, 31)
    assert got.tolist() == (-got[::-1]).tolist()
    assert (got.min(), got.max()) == (-127, 127)
    assert fp.requantize(acc, 1 << 23, 31, relu=True).min() == 0


@pytest.mark.parametrize(("m", "s"), [(-1, 0), (1 << 24, 0), ((1 << 24) + 1, 0), (1, -1), (1, 64)])
def test_requantize_refuses_operands_that_no_instruction_holds(m: int, s: int) -> None:
    with pytest.raises(ValueError, match="outside 0"):
        fp.requantize([1], m, s)


@given(st.lists(INT8, min_size=1, max_size=300))
@example([127, -128])
@example([-128] * 4095)
@example([127])
def test_softmax_matches_plain_integers(scores: list[int]) -> None:
    assert fp.softmax_q16(scores).tolist() == scalar_ga2.softmax(scores)


@given(st.lists(INT8, min_size=1, max_size=64))
def test_softmax_is_near_the_real_one(scores: list[int]) -> None:
    weights = [math.exp((x - max(scores)) / 16) for x in scores]
    real = [w / math.fsum(weights) * 65536 for w in weights]
    # Half a unit a table entry ends up in the sum; two more for the entry itself and the result.
    bound = 2 + len(scores) / 2
    assert np.abs(fp.softmax_q16(scores) - real).max() <= bound


def test_softmax_of_one_score_is_exactly_one() -> None:
    assert fp.softmax_q16([-128]).tolist() == [65536]


@pytest.mark.parametrize("scores", [[], [128], [-129], [127, -129], [300, 300]])
def test_softmax_refuses_what_is_not_int8(scores: list[int]) -> None:
    with pytest.raises(ValueError, match="softmax"):
        fp.softmax_q16(scores)


def test_exponential_table() -> None:
    exact = [65535 * math.exp(-d / 16) for d in range(256)]
    # No entry is so close to a tie that a differently rounded exp could change it.
    assert min(abs(v % 1 - 0.5) for v in exact) > 1e-6
    assert fp.EXP_TABLE.tolist() == [math.floor(v + 0.5) for v in exact]
    assert (fp.EXP_TABLE[0], fp.EXP_TABLE[255]) == (65535, 0)


def test_exponential_table_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        fp.EXP_TABLE[0] = 1


def test_probability_bits_are_those_of_softmax() -> None:
    assert fp.softmax_q16([5]).tolist() == [1 << fp.PROBABILITY_BITS]


@pytest.mark.parametrize("p", [1 << 62, -(1 << 62)])
def test_rounding_at_the_limits_of_its_operand(p: int) -> None:
    assert fp.round_half_away(p, 0) == p
    assert fp.round_half_away(p, 62) == p >> 62


@pytest.mark.parametrize("x", [-0.5, -0.7, -0.99])
def test_quantize_keeps_the_sign_of_small_values(x: float) -> None:
    assert fp.quantize([x, -x], 1.0).tolist() == [-1, 1]


def test_every_pair_of_int8_adds_with_saturation() -> None:
    values = np.arange(-128, 128)
    got = fp.saturating_add(values[:, None], values)
    expected = [[max(-127, min(127, a + b)) for b in range(-128, 128)] for a in range(-128, 128)]
    assert got.tolist() == expected


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
@example(0.5, 1.0)
@example(-2.5, 1.0)
@example(126.5, 1.0)
@example(0.49999999999999994, 1.0)
def test_quantize_rounds_the_quotient_half_away(x: float, scale: float) -> None:
    expected = nearest_half_away(Fraction(x / scale))
    assert int(fp.quantize(x, scale)) == max(-127, min(127, expected))


def test_quantize_saturates_infinities() -> None:
    assert fp.quantize([math.inf, -math.inf, 1e300], 1e-300).tolist() == [127, -127, 127]


@pytest.mark.parametrize("scale", [0.0, -1.0, math.inf, math.nan])
def test_quantize_refuses_useless_scales(scale: float) -> None:
    with pytest.raises(ValueError, match="scale"):
        fp.quantize([1.0], scale)


def test_quantize_refuses_nan() -> None:
    with pytest.raises(ValueError, match="NaN"):
        fp.quantize([1.0, math.nan], 1.0)


@given(st.floats(2.0**-39, 2.0**23, exclude_max=True))
@example(1.0)
@example(math.nextafter(1.0, 0.0))
@example(math.nextafter(2.0, 0.0))
@example(1 - 2.0**-25)
def test_mantissa_and_shift_are_normalized_and_close(factor: float) -> None:
    m, s = fp.mantissa_shift(factor)
    assert 1 << 23 <= m < 1 << 24
    assert 0 <= s <= 63
    assert abs(Fraction(m, 1 << s) / Fraction(factor) - 1) <= Fraction(1, 1 << 24)


@pytest.mark.parametrize(
    ("factor", "expected"),
    [
        (1.0, (1 << 23, 23)),
        (0.5, (1 << 23, 24)),
        (127 / 65536, (127 << 17, 33)),
        (math.nextafter(1.0, 0.0), (1 << 23, 23)),  # rounds up to 2**24, hence halved
        (2.0**23, (1 << 23, 0)),
        (2.0**-40, (1 << 23, 63)),
    ],
)
def test_known_mantissas(factor: float, expected: tuple[int, int]) -> None:
    assert fp.mantissa_shift(factor) == expected


@pytest.mark.parametrize("factor", [2.0**24, 2.0**-41, 1e-300, 1e300])
def test_shift_out_of_range_is_an_error(factor: float) -> None:
    with pytest.raises(fp.ShiftRangeError, match="outside 0"):
        fp.mantissa_shift(factor)


@pytest.mark.parametrize("factor", [0.0, -1.0, math.inf, math.nan])
def test_only_positive_finite_factors_have_a_mantissa(factor: float) -> None:
    with pytest.raises(ValueError, match="positive finite"):
        fp.mantissa_shift(factor)
