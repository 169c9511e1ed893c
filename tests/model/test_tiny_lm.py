"""The tiny model's weights and its floating-point decode, against plain Python formulas."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

from model.checks.number_checks import float_logits
from model.compiler.evaluate import ordered_matmul, ordered_softmax
from model.compiler.graph import Kind
from model.decode.float_decode import calibrate, context_size, float_decode
from model.decode.tiny_lm import TinyLm, inverse_rule, rule, tiny_lm
from model.errors import ParameterError


def test_rule_is_a_permutation_and_inverse_inverts_it() -> None:
    assert [rule(token) for token in (0, 3, 2, 13)] == [3, 2, 13, 4]
    assert sorted(rule(token) for token in range(16)) == list(range(16))
    assert all(inverse_rule(rule(token)) == token for token in range(16))


def test_structured_weights_are_hadamard_then_draws() -> None:
    lm = tiny_lm()
    signs = [[(-1) ** bin(i & j).count("1") / 4 for j in range(16)] for i in range(16)]
    assert lm.embedding.tolist() == signs
    for token in range(16):
        assert lm.w_out[:, rule(token)].tolist() == (8 * lm.embedding[token]).tolist()
    draws = random.Random(1)
    expected = [draws.gauss(0, 0.45 / 4) for _ in range(256)]
    assert lm.w_q.ravel().tolist() == expected


def test_random_weights_come_in_the_documented_order() -> None:
    lm, draws = tiny_lm("random", 7), random.Random(7)
    order: list[tuple[Any, float, float]] = [
        (lm.embedding, 1, 4),
        (lm.w_out, 1 / 4, 1),
        *((w, 1 / 4, 1) for w in (lm.w_q, lm.w_k, lm.w_v, lm.w_o, lm.w_1)),
        (lm.w_2, 1 / math.sqrt(32), 1),
    ]
    for weights, deviation, divisor in order:
        drawn = [draws.gauss(0, deviation) / divisor for _ in range(weights.size)]
        assert weights.ravel().tolist() == drawn


@pytest.mark.parametrize(("kind", "seed"), [("tiny", 1), ("random", -1), ("random", 1.5)])
def test_unknown_models_are_refused(kind: str, seed: int) -> None:
    with pytest.raises(ParameterError):
        tiny_lm(kind, seed)


def test_ordered_sums_are_left_to_right() -> None:
    draw = random.Random(3)
    a = [[draw.gauss(0, 1e8) if k % 2 else draw.gauss(0, 1) for k in range(33)] for _ in range(3)]
    b = [[draw.gauss(0, 1) for _ in range(5)] for _ in range(33)]
    expected = [[0.0] * 5 for _ in range(3)]
    for i in range(3):
        for j in range(5):
            total = 0.0
            for k in range(33):
                total += a[i][k] * b[k][j]
            expected[i][j] = total
    assert ordered_matmul(np.array(a), np.array(b)).tolist() == expected

    row = [draw.gauss(0, 3) for _ in range(9)]
    exps = [math.exp(value - max(row)) for value in row]
    total = 0.0
    for value in exps:
        total += value
    assert ordered_softmax(np.array([row])).tolist() == [[value / total for value in exps]]


def scalar_logits(lm: TinyLm, tokens: list[int]) -> list[float]:
    """The model in plain Python loops."""

    def times(vector: list[float], matrix: Any) -> list[float]:
        rows = matrix.tolist()
        return [
            math.fsum(x * rows[i][j] for i, x in enumerate(vector)) for j in range(len(rows[0]))
        ]

    x = lm.embedding[tokens[-1]].tolist()
    q = times(x, lm.w_q)
    cached = [lm.embedding[token].tolist() for token in tokens]
    scores = [math.fsum(a * b for a, b in zip(q, times(e, lm.w_k), strict=True)) for e in cached]
    exps = [math.exp(score / math.sqrt(16)) for score in scores]
    share = [value / math.fsum(exps) for value in exps]
    values = [times(e, lm.w_v) for e in cached]
    attended = [math.fsum(p * v[d] for p, v in zip(share, values, strict=True)) for d in range(16)]
    h = [a + b for a, b in zip(x, times(attended, lm.w_o), strict=True)]
    up = [max(0.0, value) for value in times(h, lm.w_1)]
    y = [a + b for a, b in zip(h, times(up, lm.w_2), strict=True)]
    return times(y, lm.w_out)


@pytest.mark.parametrize("kind", ["structured", "random"])
@pytest.mark.parametrize("window", [None, 5, 1])
def test_float_decode_equals_plain_python(kind: str, window: int | None) -> None:
    lm = tiny_lm(kind, 4)
    fed: list[int] = []
    for step in float_decode(lm, window, 9, (6,)):
        fed.append(int(step.tokens_in[0]))
        seen = fed if window is None else fed[-window:]
        want = scalar_logits(lm, seen)
        assert step.logits[0] == pytest.approx(want, abs=1e-9)
        assert float_logits(lm, seen) == pytest.approx(want, abs=1e-9)
        assert step.tokens_out[0] == int(np.argmax(step.logits[0]))
        assert step.context == len(seen) == context_size(len(fed), window)


def test_streams_side_by_side_equal_one_after_the_other() -> None:
    lm = tiny_lm("random", 2)
    together = list(float_decode(lm, 4, 7))
    for start in (0, 9, 15):
        for one, all_ in zip(float_decode(lm, 4, 7, (start,)), together, strict=True):
            assert one.logits[0].tolist() == all_.logits[start].tolist()


def test_float_model_follows_the_rule() -> None:
    for step in float_decode(tiny_lm(), 3, 20):
        assert step.tokens_out.tolist() == [rule(int(token)) for token in step.tokens_in]


def test_calibration_covers_every_context_and_everything_seen() -> None:
    lm = tiny_lm("random", 2)
    calibration = calibrate(lm, 5, 12)
    assert sorted(calibration.ranges) == [1, 2, 3, 4, 5]
    assert calibration.tokens.shape == (13, 16)
    seen = {"x": 0.0, "k": 0.0, "v": 0.0}
    weights = {"x": np.eye(16), "k": lm.w_k, "v": lm.w_v}
    for token in calibration.tokens[:-1].ravel():
        for tag, weight in weights.items():
            seen[tag] = max(seen[tag], float(np.abs(lm.embedding[token] @ weight).max()))
    assert calibration.tag_ranges == pytest.approx(seen)
    later = [step for step in float_decode(lm, 5, 12) if step.context == 5]
    assert len(later) == 8
    for node in later[0].graph.nodes:
        largest = max(float(np.abs(step.values[node.index]).max()) for step in later)
        assert calibration.ranges[5][node.index] == largest


def test_graph_of_a_step() -> None:
    graph = tiny_lm().decode_graph(3)
    shapes = {node.name: (node.rows, node.cols) for node in graph.of_kind(Kind.INPUT)}
    assert shapes == {"x": (1, 16), "kc": (2, 16), "vc": (2, 16)}
    assert [node.name for node in graph.of_kind(Kind.OUTPUT)] == ["tok", "logits", "k_new", "v_new"]
    first = tiny_lm().decode_graph(1)
    assert [node.name for node in first.of_kind(Kind.INPUT)] == ["x"]
