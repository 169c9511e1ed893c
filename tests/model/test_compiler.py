"""Compiled programs, run on the reference machine, against integers that know no addresses."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from graph_samples import integer_values, random_graph
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from model.chip.fixed_point import softmax_q16
from model.chip.isa import FaultCode, Op
from model.chip.machine import Machine
from model.compiler.codegen import compile_graph
from model.compiler.compiled import Compiled
from model.compiler.evaluate import evaluate
from model.compiler.graph import Graph, GraphError, Kind
from model.compiler.integers import IntegerGraph, softmax_rows
from model.compiler.scales import assign_scales, largest_values
from model.errors import CompileError


def compiled_with(graph: Graph, samples: dict[str, Any], **options: Any) -> Compiled:
    return compile_graph(graph, largest_values(evaluate(graph, samples)), **options)


def outputs_of(compiled: Compiled, inputs: dict[str, Any]) -> dict[str, Any]:
    """Run on a machine whose scratchpad holds noise, so that a read too early shows."""
    machine = Machine()
    machine.spad[:] = np.random.default_rng(1).integers(0, 2**32, machine.spad.size, np.uint32)
    result = machine.run(compiled.program, compiled.fill(inputs))
    assert result.fault is FaultCode.NONE
    return {name: compiled.read(result.ext, name) for name in compiled.outputs}


def ops_of(compiled: Compiled) -> list[str]:
    return [Op(instruction.op).name for instruction in compiled.instructions]


def check_graph(graph: Graph, samples: dict[str, Any]) -> None:
    """Compile with and without reuse, run, and compare every output with the integers."""
    ranges = largest_values(evaluate(graph, samples))
    first = {name: sample[0] for name, sample in samples.items()}
    want = integer_values(graph, assign_scales(graph, ranges), first)
    batch = IntegerGraph(graph, assign_scales(graph, ranges)).evaluate(samples)
    for node in graph.of_kind(Kind.OUTPUT):
        # A value that depends on no input has no sample's axis.
        mine = batch[node.index] if batch[node.index].ndim == 2 else batch[node.index][0]
        assert mine.tolist() == want[node.index].tolist(), f"{node.name}, without a program"
    for reuse in (True, False):
        got = outputs_of(compile_graph(graph, ranges, reuse=reuse), first)
        for node in graph.of_kind(Kind.OUTPUT):
            assert got[node.name].tolist() == want[node.index].tolist(), f"{node.name}, {reuse}"


@settings(max_examples=150, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32 - 1), size=st.integers(1, 9))
def test_random_graphs(seed: int, size: int) -> None:
    graph, samples = random_graph(random.Random(seed), size)
    try:
        compiled_with(graph, samples, reuse=False)
    except CompileError:  # long chains can leave the formats' range or the scratchpad
        reject()
    check_graph(graph, samples)


def sample(rows: int, cols: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(0, 1, (4, rows, cols))


@pytest.mark.parametrize("shape", [(1, 1, 1), (4, 64, 4), (5, 3, 9), (13, 17, 6)])
@pytest.mark.parametrize("transpose", [False, True])
def test_matmul_in_tiles(shape: tuple[int, int, int], transpose: bool) -> None:
    m, k, n = shape
    g = Graph()
    a = g.input("a", m, k)
    b = g.input("b", n, k) if transpose else g.input("b", k, n)
    g.output("c", g.matmul(a, b, transpose_b=transpose))
    samples = {"a": sample(m, k), "b": sample(b.rows, b.cols, 1)}
    check_graph(g, samples)
    compiled = compiled_with(g, samples)
    tiles = -(-m // 4) * -(-n // 4)
    assert ops_of(compiled) == ["LD", "LD", *["MM"] * tiles, "RQ", "ST", "HALT"]
    got = outputs_of(compiled, {name: s[0] for name, s in samples.items()})["c"]
    second = samples["b"][0].T if transpose else samples["b"][0]
    want = samples["a"][0] @ second
    scale = compiled.outputs["c"].scale
    assert np.linalg.norm(got * scale - want) < 0.05 * np.linalg.norm(want)


def test_int4_weights_are_packed_eight_to_a_word_and_unpacked() -> None:
    g = Graph()
    w = g.weight("w", np.linspace(-2, 2, 27).reshape(3, 9), bits=4)
    g.output("c", g.matmul(g.input("a", 2, 3), w))
    samples = {"a": sample(2, 3)}
    check_graph(g, samples)
    compiled = compiled_with(g, samples)
    assert ops_of(compiled)[:3] == ["LD", "LD", "UNPACK"]
    assert compiled.instructions[1].c == 4  # words for 27 values
    nibbles = [int(word) >> 4 * j & 15 for word in compiled.image[:4] for j in range(8)]
    signed = [n - 16 if n > 7 else n for n in nibbles]
    assert (signed[0], signed[13], signed[26], signed[27:]) == (-7, 0, 7, [0] * 5)


def test_int4_inputs_are_packed_by_the_host_and_unpacked_by_the_program() -> None:
    g = Graph()
    cached = g.input("cached", 3, 8, bits=4)
    rows = g.concat_rows(cached, g.matmul(g.input("x", 1, 3), g.weight("w", np.ones((3, 8)))))
    g.output("rows", rows)
    samples = {"cached": sample(3, 8), "x": sample(1, 3)}
    check_graph(g, samples)
    compiled = compiled_with(g, samples)
    far = {name: 100 * values for name, values in samples.items()}
    ranges = assign_scales(g, largest_values(evaluate(g, samples)))
    beyond = IntegerGraph(g, ranges).evaluate(far)[cached.index]
    assert (beyond.min(), beyond.max()) == (-7, 7)
    unpack = next(i for i in compiled.instructions if Op(i.op) is Op.UNPACK)
    assert (compiled.inputs["cached"].words, unpack.c) == (3, 3)
    assert (
        np.abs(outputs_of(compiled, {k: 100 * v[0] for k, v in samples.items()})["rows"][:3]).max()
        == 7
    )
    with pytest.raises(GraphError, match="input 'odd': 5 bits; only 4 and 8 exist"):
        g.input("odd", 1, 1, bits=5)


def test_a_bias_on_the_scores_costs_one_add_where_scales_are_fixed() -> None:
    g = Graph()
    scores = g.matmul(g.input("x", 1, 3), g.weight("w", np.ones((3, 5))), tag="score")
    bias = g.input("bias", 1, 5, tag="score")
    g.output("p", g.softmax(g.add(scores, bias)))
    samples = {"x": sample(1, 3), "bias": sample(1, 5)}
    compiled = compiled_with(g, samples, tag_ranges={"score": 127 / 16})
    assert ops_of(compiled)[2:8] == ["MM", "MM", "RQ", "LD", "VADD", "SM"]


def test_softmax_of_many_rows_is_that_of_each() -> None:
    rows = np.random.default_rng(4).integers(-127, 128, (3, 5, 7))
    want = [[softmax_q16(row).tolist() for row in each] for each in rows]
    assert softmax_rows(rows).tolist() == want


def test_relu_is_fused_only_when_nobody_else_reads_the_product() -> None:
    def ops(shared: bool) -> list[str]:
        g = Graph()
        product = g.matmul(g.input("a", 2, 3), g.weight("w", np.ones((3, 2))))
        g.output("r", g.relu(product))
        if shared:
            g.output("p", product)
        check_graph(g, {"a": sample(2, 3)})
        return ops_of(compiled_with(g, {"a": sample(2, 3)}))

    assert ops(False) == ["LD", "LD", "MM", "RQ", "ST", "HALT"]
    assert ops(True) == ["LD", "LD", "MM", "RQ", "RQ", "ST", "ST", "HALT"]


def test_concat_and_slice_cost_nothing_where_they_can() -> None:
    g = Graph()
    top, bottom = g.input("top", 2, 3), g.input("bottom", 3, 3)
    both = g.concat_rows(top, bottom)
    g.output("middle", g.slice_rows(both, 1, 4))
    samples = {"top": sample(2, 3), "bottom": sample(3, 3, 1)}
    check_graph(g, samples)
    compiled = compiled_with(g, samples)
    assert ops_of(compiled) == ["LD", "LD", "ST", "HALT"]
    assert compiled.instructions[1].a == compiled.instructions[0].a + 6
    assert compiled.inputs["top"].scale == compiled.outputs["middle"].scale


def test_concat_copies_what_lives_elsewhere() -> None:
    g = Graph()
    x = g.input("x", 2, 3)
    twice = g.concat_rows(x, x)
    g.output("a", g.concat_rows(twice, g.slice_rows(x, 1, 2)))
    g.output("b", g.concat_rows(x, g.weight("w", np.ones((1, 3)), bits=4)))
    check_graph(g, {"x": sample(2, 3)})


def test_unpacking_in_a_concat_spills_over_no_neighbour() -> None:
    g = Graph()
    x = g.input("x", 1, 3)
    product = g.matmul(x, g.weight("w", np.eye(3)))  # in place before the weight above it is loaded
    both = g.concat_rows(g.weight("w4", np.ones((1, 3)), bits=4), product)
    after = g.add(product, x)
    last = g.concat_rows(after, g.weight("v4", np.ones((1, 3)), bits=4))
    g.output("both", both)
    g.output("last", last)
    g.output("x again", x)
    check_graph(g, {"x": sample(1, 3)})


def test_rows_side_by_side_cost_one_transfer_a_row_and_the_matrix_unit_nothing() -> None:
    g = Graph()
    x = g.input("x", 2, 3)
    k = g.matmul(x, g.weight("wk", np.eye(3)))
    both = g.concat_cols(k, g.input("v", 2, 4))
    g.output("both", both)
    keys, values = g.slice_cols(both, 0, 3), g.slice_cols(both, 3, 7)
    g.output("keys", keys)
    g.output("product", g.matmul(g.matmul(x, keys, transpose_b=True), values))
    samples = {"x": sample(2, 3), "v": sample(2, 4, 1)}
    check_graph(g, samples)
    assert ops_of(compiled_with(g, samples)) == [
        *["LD", "LD", "MM", "RQ", "RQ", "LD", "LD", "ST", "ST", "ST"],
        *["MM", "RQ", "MM", "RQ", "ST", "HALT"],
    ]


def test_rows_move_down_by_one_in_place() -> None:
    g = Graph()
    x = g.input("x", 5, 3)
    g.output("before", x)
    moved = g.shift_rows(x, 1, 3)
    g.output("after", g.slice_cols(moved, 1, 3))
    samples = {"x": sample(5, 3)}
    check_graph(g, samples)
    assert ops_of(compiled_with(g, samples)) == ["LD", "ST", "RQ", "RQ", *["ST"] * 5, "HALT"]
    last = evaluate(g, samples)[-1]
    assert last[:, :, 0].tolist() == samples["x"][:, [0, 1, 1, 2, 4], 1].tolist()


def test_nothing_reads_rows_that_have_moved() -> None:
    g = Graph()
    x = g.input("x", 3, 2)
    view = g.slice_rows(x, 0, 1, name="view")
    g.shift_rows(x, 0, 1)
    g.output("late", view)
    with pytest.raises(CompileError, match="late: reads view, whose rows have moved"):
        compiled_with(g, {"x": sample(3, 2)})


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda g, x: g.concat_cols(x, g.input("y", 2, 1)), "concat_cols: 3 rows beside 2"),
        (lambda g, x: g.slice_cols(x, 1, 1), r"slice_cols: 1\.\.1 of 2 columns"),
        (lambda g, x: g.slice_cols(x, 0, 3), r"slice_cols: 0\.\.3 of 2 columns"),
        (lambda g, x: g.shift_rows(x, 0, 3), r"shift_rows: 0\.\.3 by one in 3 rows"),
        (lambda g, x: g.shift_rows(x, 2, 2), r"shift_rows: 2\.\.2 by one in 3 rows"),
        (lambda g, x: g.output("y", x, pieces=(1, 1)), r"'y': pieces of \[1, 1\] rows do not make"),
        (lambda g, x: g.input("y", 2, 1, pieces=(2, 0)), r"'y': pieces of \[2, 0\] rows do not"),
        (lambda g, x: g.input("y", 2, 1, bits=4, pieces=(2,)), "'y': 4 bits cannot come in pieces"),
    ],
)
def test_shapes_that_do_not_fit_side_by_side(build: Any, message: str) -> None:
    g = Graph()
    x = g.input("x", 3, 2)
    with pytest.raises(GraphError, match=message):
        build(g, x)


def test_a_weight_is_loaded_once_for_all_its_users() -> None:
    g = Graph()
    x, w = g.input("x", 1, 3), g.weight("w", np.eye(3))
    g.output("y", g.matmul(g.matmul(x, w), w))
    assert ops_of(compiled_with(g, {"x": sample(1, 3)})).count("LD") == 2


def test_add_rescales_only_operands_of_another_scale() -> None:
    g = Graph()
    x, y = g.input("x", 1, 4), g.input("y", 1, 4)
    g.output("s", g.add(x, y))
    big, small = np.full((1, 1, 4), 8.0), np.full((1, 1, 4), -1.0)
    compiled = compiled_with(g, {"x": big, "y": small})
    # The sum reaches 7, is raised to 8, and so shares x's scale: only y is rescaled.
    assert ops_of(compiled) == ["LD", "LD", "RQ", "VADD", "ST", "HALT"]
    assert compiled.outputs["s"].scale == 8 / 127 == compiled.inputs["x"].scale
    check_graph(g, {"x": big, "y": small})


def test_softmax_pins_its_scales_and_says_when_scores_saturate() -> None:
    g = Graph()
    scores = g.matmul(g.input("a", 2, 3), g.weight("w", np.eye(3)), name="scores")
    g.output("p", g.softmax(scores))
    compiled = compiled_with(g, {"a": np.full((1, 2, 3), 7.9)})
    assert compiled.notes == ()
    assert compiled.outputs["p"].scale == 1 / 127
    assert ops_of(compiled).count("SM") == 2
    loud = compiled_with(g, {"a": np.full((1, 2, 3), 8.1)})
    assert len(loud.notes) == 1
    assert "scores: pinned scale 0.0625 saturates at 7.938, but values reach 8.1" in loud.notes[0]


def test_a_tag_fixes_the_range_from_outside() -> None:
    g = Graph()
    x = g.input("x", 1, 2, tag="x")
    g.output("y", g.matmul(x, g.weight("w", np.eye(2)), tag="y"))
    ranges = largest_values(evaluate(g, {"x": np.ones((1, 1, 2))}))
    compiled = compile_graph(g, ranges, {"x": 5.0, "y": 2.0})
    assert compiled.inputs["x"].scale == 5 / 127
    assert compiled.outputs["y"].scale == 2 / 127


def test_a_range_of_zero_has_the_scale_1_127() -> None:
    g = Graph()
    g.output("y", g.input("x", 1, 2))
    assert compiled_with(g, {"x": np.zeros((1, 1, 2))}).inputs["x"].scale == 1 / 127


def test_external_memory_holds_weights_and_inputs_then_outputs() -> None:
    g = Graph()
    a = g.input("a", 2, 3)
    product = g.matmul(a, g.weight("w", np.ones((3, 5)), bits=8))
    g.output("first", product)
    b = g.input("b", 2, 5)
    g.output("second", g.add(product, b))
    compiled = compiled_with(g, {"a": sample(2, 3), "b": sample(2, 5)})
    assert [compiled.inputs[name].address for name in ("a", "b")] == [0, 21]
    assert [compiled.outputs[name].address for name in ("first", "second")] == [31, 41]
    assert compiled.ext_used == 51


def test_inner_length_limit() -> None:
    g = Graph()
    g.output("c", g.matmul(g.input("a", 1, 65), g.weight("w", np.ones((65, 1))), name="wide"))
    with pytest.raises(CompileError, match="wide: inner length K = 65 exceeds 64"):
        compiled_with(g, {"a": sample(1, 65)})


def test_out_of_scratchpad_says_asked_and_free() -> None:
    g = Graph()
    g.output("c", g.add(g.input("a", 40, 40), g.input("b", 40, 40)))
    samples = {"a": sample(40, 40), "b": sample(40, 40)}
    with pytest.raises(CompileError, match=r"scratchpad: asked for 1600 words, 896 words are free"):
        compiled_with(g, samples)
    with pytest.raises(CompileError, match=r"scratchpad: asked for 1600 words, 400 words are free"):
        compiled_with(g, samples, spad_words=2000)


def test_out_of_external_memory_says_asked_and_free() -> None:
    g = Graph()
    g.output("c", g.input("a", 10, 10))
    with pytest.raises(
        CompileError, match="external memory: asked for 100 words, 50 words are free"
    ):
        compiled_with(g, {"a": sample(10, 10)}, ext_words=150)


@pytest.mark.parametrize(("out_range", "shift"), [(1e15, 80), (1e-10, -3)])
def test_shift_outside_its_field(out_range: float, shift: int) -> None:
    g = Graph()
    x = g.input("x", 1, 1)
    far = g.matmul(x, g.weight("w", np.ones((1, 1))), name="far", tag="t")
    g.output("c", g.matmul(far, x))  # an untagged output would join the group with its own range
    ranges = largest_values(evaluate(g, {"x": np.ones((1, 1, 1))}))
    with pytest.raises(CompileError, match=rf"far: .*shift {shift}, outside 0\.\.63"):
        compile_graph(g, ranges, {"t": out_range})


def test_a_tensor_longer_than_an_instruction() -> None:
    g = Graph()
    g.output("c", g.input("a", 64, 64))
    with pytest.raises(CompileError, match="4096 words, an instruction takes 4095"):
        compiled_with(g, {"a": sample(64, 64)})


def test_a_group_cannot_be_pinned_twice() -> None:
    g = Graph()
    x = g.input("x", 1, 3)
    g.output("p", g.softmax(g.softmax(x)))
    with pytest.raises(CompileError, match="pinned to both"):
        compiled_with(g, {"x": sample(1, 3)})


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda g, x: g.matmul(x, x), "2x3 times"),
        (lambda g, x: g.matmul(x, x, transpose_b=True, factor=0), "factor 0"),
        (lambda g, x: g.add(x, g.input("y", 3, 2)), "2x3 plus 3x2"),
        (lambda g, x: g.concat_rows(x, g.input("y", 2, 4)), "3 columns above 4"),
        (lambda g, x: g.slice_rows(x, 1, 3), "1..3 of 2 rows"),
        (lambda g, x: g.slice_rows(x, 1, 1), "1..1"),
        (lambda g, x: g.relu(g.argmax(x)), "indices"),
        (lambda g, x: g.relu(g.output("o", x)), "cannot be read"),
        (lambda g, x: g.input("x", 1, 1), "'x' is used twice"),
        (lambda g, x: g.input("e", 0, 1), "0x1"),
        (lambda g, x: g.weight("w", [1.0]), "not a filled matrix"),
        (lambda g, x: g.input("e", 1, 2.0), "1x2.0 is not two counts"),
        (lambda g, x: g.input("e", True, 1), "Truex1 is not two counts"),
        (lambda g, x: g.matmul(x, x, transpose_b=True, factor=math.inf), "factor inf"),
        (lambda g, x: g.matmul(x, x, transpose_b=True, factor=math.nan), "factor nan"),
        (lambda g, x: g.weight("w", np.zeros((0, 3))), "'w': shape (0, 3)"),
        (lambda g, x: g.weight("w", [[1.0, 2.0], [3.0]]), "'w': not a matrix"),
        (lambda g, x: g.weight("w", [["one"]]), "'w': not a matrix"),
        (lambda g, x: g.weight("w", [[1.0, math.nan]]), r"'w': nan at \[0, 1\]"),
        (lambda g, x: g.weight("w", [[1.0], [-math.inf]]), r"'w': -inf at \[1, 0\]"),
        (lambda g, x: g.weight("w", [[1.0]], bits=2), "2 bits"),
        (lambda g, x: Graph().relu(x), "another graph"),
    ],
)
def test_bad_graphs(build: Any, message: str) -> None:
    g = Graph()
    x = g.input("x", 2, 3)
    with pytest.raises(GraphError, match=message.replace("(", r"\(").replace(")", r"\)")):
        build(g, x)


def test_bad_inputs_of_a_compiled_program() -> None:
    g = Graph()
    g.output("y", g.input("x", 1, 2))
    compiled = compiled_with(g, {"x": sample(1, 2)})
    with pytest.raises(GraphError, match=r"\['z'\] given, \['x'\] expected"):
        compiled.fill({"z": np.zeros((1, 2))})
    with pytest.raises(GraphError, match=r"\(2, 1\) for 1x2"):
        compiled.fill({"x": np.zeros((2, 1))})
    with pytest.raises(GraphError, match="no value for input 'x'"):
        evaluate(g, {})
    with pytest.raises(GraphError, match="input 'x': NaN"):
        compiled.fill({"x": np.array([[1.0, math.nan]])})
    with pytest.raises(GraphError, match=r"no output is named 'z': \['y'\]"):
        compiled.read(np.zeros(9, dtype=np.uint32), "z")


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"x": np.zeros((0, 1, 2))}, "'x': no samples"),
        ({"x": np.full((1, 1, 2), math.inf)}, "'x': values that are not finite"),
        ({"x": np.full((1, 1, 2), math.nan)}, "'x': values that are not finite"),
        ({"x": np.zeros((1, 2, 1))}, r"'x': \(1, 2, 1\) for 1x2"),
        ({"x": np.zeros((1, 1, 2)), "z": np.zeros(1)}, "no input is named 'z'"),
    ],
)
def test_bad_inputs_of_an_evaluation(inputs: dict[str, Any], message: str) -> None:
    g = Graph()
    g.output("y", g.input("x", 1, 2))
    with pytest.raises(GraphError, match=message):
        evaluate(g, inputs)


def test_every_node_has_one_range() -> None:
    g = Graph()
    g.output("y", g.input("x", 1, 2))
    with pytest.raises(ValueError, match="1 ranges for 2 nodes"):
        assign_scales(g, [1.0])
