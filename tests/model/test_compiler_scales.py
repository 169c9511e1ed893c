"""Quantization scales: what shares one, what raises it, and what is told when values saturate."""

from __future__ import annotations

import dataclasses
import math
import re

import numpy as np
import pytest

from model.chip.isa import Op
from model.compiler.codegen import compile_graph
from model.compiler.graph import Graph, Node
from model.compiler.packing import quantized_words
from model.compiler.scales import Scales, assign_scales, merge_ranges
from model.errors import CompileError


def scales_of(graph: Graph, ranges: dict[Node, float]) -> Scales:
    """Scales for the given ranges, 0 where none is given."""
    of = {node.index: value for node, value in ranges.items()}
    return assign_scales(graph, [of.get(index, 0.0) for index in range(len(graph.nodes))])


def test_ranges_are_merged_one_by_one() -> None:
    assert merge_ranges([1.0, 5.0], [2.0, 3.0]) == [2.0, 5.0]
    with pytest.raises(ValueError, match="shorter"):
        merge_ranges([1.0, 5.0], [2.0])


@pytest.mark.parametrize("count", [1, 3])
def test_every_node_has_one_range(count: int) -> None:
    g = Graph()
    g.output("y", g.input("x", 1, 1))
    with pytest.raises(ValueError, match=f"{count} ranges for 2 nodes"):
        assign_scales(g, [1.0] * count)


@pytest.mark.parametrize("value", [math.nan, -1.0, math.inf, -math.inf, 5e-324, 1e-306])
@pytest.mark.parametrize("tagged", [False, True])
def test_a_range_that_gives_no_scale_names_its_tensor(value: float, tagged: bool) -> None:
    g = Graph()
    x = g.input("x", 1, 1, tag="t")
    g.output("y", x)
    ranges, tags = ([1.0, 1.0], {"t": value}) if tagged else ([value, 1.0], {})
    with pytest.raises(CompileError, match=rf"^x: range {re.escape(repr(value))} is"):
        assign_scales(g, ranges, tags)
    with pytest.raises(CompileError, match=rf"^y: range {re.escape(repr(value))} is"):
        assign_scales(g, [1.0, value])


def test_the_smallest_range_keeps_its_scale() -> None:
    g = Graph()
    w = g.weight("w", [[3e-306]], bits=4)
    g.output("y", w)
    assert assign_scales(g, [3e-306, 0.0]).of == (3e-306 / 7, 3e-306 / 7)


def test_a_nan_is_not_lost_among_ranges() -> None:
    assert math.isnan(merge_ranges([1.0], [math.nan])[0])
    assert math.isnan(merge_ranges([math.nan], [1.0])[0])


@pytest.mark.parametrize("value", [5e-324, 1e-310])
def test_a_weight_too_small_for_a_scale_is_named(value: float) -> None:
    g = Graph()
    g.output("y", g.matmul(g.input("x", 1, 1), g.weight("tiny", [[value]])))
    with pytest.raises(CompileError, match=r"^tiny: range"):
        compile_graph(g, [1.0, value, 1.0, 1.0])


def test_a_factor_beyond_the_formats_names_its_product() -> None:
    g = Graph()
    g.output("y", g.matmul(g.input("x", 1, 1), g.weight("w", [[1e-300]]), name="xw"))
    for last in (1.0, 1e-300, 1e300):
        with pytest.raises(CompileError, match=r"^xw: scale factor"):
            compile_graph(g, [1e-300, 1e-300, last, last])


def test_an_index_has_the_scale_one() -> None:
    g = Graph()
    x = g.input("x", 2, 3)
    best = g.argmax(x)
    out = g.output("best", best)
    scales = scales_of(g, {x: 254.0, best: 2.0, out: 2.0})
    assert scales.of == (2.0, 1.0, 1.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        scales.of = ()  # type: ignore[misc]


def test_a_packed_weight_has_seven_steps_and_so_has_its_group() -> None:
    g = Graph()
    packed = g.weight("packed", np.ones((1, 3)), bits=4)
    whole = g.weight("whole", np.ones((1, 3)), bits=8)
    rows = g.concat_rows(g.input("x", 1, 3), packed)
    scales = scales_of(g, {packed: 3.5, whole: 3.5, rows: 3.5})
    assert [scales.of[node.index] for node in (packed, whole, rows)] == [0.5, 3.5 / 127, 0.5]


def test_a_sum_raised_late_raises_the_sums_before_it() -> None:
    g = Graph()
    x, big = g.input("x", 1, 3), g.input("big", 1, 3)
    early = g.add(x, x)
    late = g.add(big, big)
    g.concat_rows(x, late)  # so x has the scale of the later sum
    scales = scales_of(g, {x: 1.0, big: 127.0, early: 2.0, late: 4.0})
    assert [scales.of[node.index] for node in (x, big, early, late)] == [1.0] * 4


def test_a_sum_keeps_its_own_range_where_it_is_the_largest() -> None:
    g = Graph()
    x = g.input("x", 1, 3)
    total = g.add(x, x)
    assert scales_of(g, {x: 127.0, total: 254.0}).of == (1.0, 2.0)


def test_scores_cannot_share_with_probabilities_that_come_later() -> None:
    g = Graph()
    x = g.input("x", 1, 3)
    g.softmax(x)
    g.concat_rows(x, g.softmax(g.input("y", 1, 3)))
    with pytest.raises(CompileError, match="pinned to both"):
        scales_of(g, {})


@pytest.mark.parametrize(("reached", "notes"), [(7.9375, 0), (7.94, 1)])
def test_a_pinned_group_that_saturates_is_told_once(reached: float, notes: int) -> None:
    g = Graph()
    x = g.input("x", 1, 3)
    scores = g.relu(x)
    g.softmax(scores)
    scales = scales_of(g, {x: reached, scores: reached})
    assert scales.of[:2] == (1 / 16, 1 / 16)
    assert len(scales.notes) == notes
    assert all(note.startswith("x: pinned") for note in scales.notes)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1, -1, 2, 7, 0, 0, -7, 3], [0x390072F1]),
        ([-9, 9], [0x79]),  # beyond its range a weight saturates, symmetrically
        ([1] * 9, [0x11111111, 1]),
    ],
)
def test_eight_packed_weights_fill_a_word(values: list[int], words: list[int]) -> None:
    packed = quantized_words(np.array([values], dtype=np.float64), 1.0, bits=4)
    assert packed.tolist() == words


def test_probabilities_are_scaled_by_127_of_65536() -> None:
    g = Graph()
    g.output("p", g.softmax(g.input("x", 1, 3)))
    (scaling,) = (i for i in compile_graph(g, [1.0] * 3).instructions if i.op == Op.RQ)
    assert (scaling.d, scaling.e, scaling.relu) == (127 << 17, 33, 0)
