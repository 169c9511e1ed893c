"""The trained model: its network, graphs and programs, apart from what it was trained to."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model.chip.isa import EXT_WORDS, SPAD_WORDS, Op
from model.compiler.codegen import compile_graph
from model.compiler.compiled import Compiled
from model.compiler.scales import assign_scales
from model.decode.float_decode import MAX_CONTEXT, float_decode
from model.decode.models import TRAINED_DEPTH, calibration_of
from model.decode.programs import decode_programs
from model.decode.workload import DecodeParams
from model.errors import ParameterError
from model.studies import trained as study
from model.trained.corpus import Corpus
from model.trained.files import DATA
from model.trained.lm import KINDS, trained_lm
from model.trained.network import Pass, initial_weights, score_bias
from model.trained.shape import CONTEXT, SLOPES, decode, distance_bias, encode

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "trained.json").read_text())
TRAINING = json.loads((DATA / "training.json").read_text())


def text_streams(count: int, length: int) -> Any:
    return study.held_out()[:count, :length]


def small_corpus(size: int = 3000) -> Corpus:
    text = (DATA / "held_out.txt").read_text()
    tokens = np.array(encode(text), dtype=np.uint8)
    return Corpus(tokens[:size], tokens[-650:].reshape(10, 65), text[:650], text[:2048])


@pytest.mark.parametrize("window", [None, 3])
def test_gradients_are_those_of_small_differences(window: int | None) -> None:
    weights = {name: w.astype(np.float64) for name, w in initial_weights(5).items()}
    weights["wq1"] *= 6  # scores beyond the goal, so that the pull on them counts
    tokens = text_streams(3, 9)
    bias = score_bias(8, window)

    def objective() -> float:
        run = Pass(weights, tokens[:, :-1], bias)
        pull = sum(float((layer[4] ** 2).sum()) for layer in run._layers)
        return float(run.losses(tokens[:, 1:]).mean()) + 0.05 / 2 * pull / tokens[:, 1:].size

    found = Pass(weights, tokens[:, :-1], bias).gradients(tokens[:, 1:])
    assert found.keys() == weights.keys()
    for name, weight in weights.items():
        # The direction that moves it most, so that rounding does not.
        place = np.unravel_index(np.abs(found[name]).argmax(), weight.shape)
        before, step = weight[place], 1e-5
        weight[place] = before + step
        above = objective()
        weight[place] = before - step
        below = objective()
        weight[place] = before
        assert found[name][place] == pytest.approx((above - below) / (2 * step), rel=1e-5), name


@pytest.mark.parametrize("window", [None, 4])
@pytest.mark.parametrize("kind", ["trained", "trained-window16"])
def test_graphs_compute_what_the_network_does(kind: str, window: int | None) -> None:
    lm, tokens = trained_lm(kind), text_streams(5, 12)
    whole = Pass(lm.weights, tokens, score_bias(12, window)).logits.reshape(5, 12, -1)
    steps = float_decode(lm, window, 12, tokens[:, 0].tolist(), tokens.T)
    for place, step in enumerate(steps):
        assert np.abs(step.logits - whole[:, place]).max() < 1e-9


def test_a_bias_falls_with_distance_down_to_what_softmax_reads() -> None:
    near, far = (distance_bias(head, 64).tolist() for head in (0, 1))
    assert (near[-3:], near[0]) == ([-1.0, -0.5, 0.0], -127 / 16)
    assert (far[-3:], far[0]) == ([-0.125, -0.0625, 0.0], -63 / 16)
    assert distance_bias(0, 1).tolist() == [0.0]
    assert all((slope * 16).is_integer() for slope in SLOPES)
    whole = score_bias(64, None)
    assert whole[:, -1].tolist() == [near, far]
    assert np.isneginf(whole[:, 0, 1:]).all()
    narrow = score_bias(64, 3)[0, 9]
    assert np.flatnonzero(np.isfinite(narrow)).tolist() == [7, 8, 9]


def compiled_for(kind: str, context: int) -> Compiled:
    lm = trained_lm(kind)
    calibration = calibration_of(lm, None, MAX_CONTEXT)
    ranges = calibration.ranges[context]
    graph = lm.decode_graph(context)
    return compile_graph(graph, ranges, calibration.tag_ranges, ext_words=TRAINED_DEPTH)


@pytest.mark.parametrize("kind", KINDS)
def test_every_context_fits_the_chip(kind: str) -> None:
    lm = trained_lm(kind)
    assert CONTEXT == MAX_CONTEXT == 64
    for context in (1, 2, MAX_CONTEXT):
        compiled = compiled_for(kind, context)
        assert compiled.spad_peak <= SPAD_WORDS
        assert compiled.ext_used <= TRAINED_DEPTH <= EXT_WORDS
        assert list(compiled.outputs)[-2:] == ["tok", "logits"]
        cached = [region for name, region in compiled.inputs.items() if name != "x"]
        words = sum(region.words for region in cached)
        assert words == (context - 1) * 2 * 2 * 32 // (8 if lm.cache_bits == 4 else 1)
    assert len(cached) == len(lm.key_names) + len(lm.value_names) == 8
    assert lm.key_names == ("k00", "k01", "k10", "k11")
    assert lm.value_names == ("v00", "v01", "v10", "v11")


@pytest.mark.parametrize("kind", ["trained", "trained-int4"])
def test_a_step_has_the_recorded_instructions_and_words(kind: str) -> None:
    (recorded,) = (cost for cost in GOLDEN["costs"][kind] if cost["context"] == 4)
    assert asdict(study.cost(kind, 4)) == recorded


def test_a_head_costs_one_addition_for_its_bias() -> None:
    """Scores, bias and what the softmax reads have one scale, keys and values each their own."""
    lm = trained_lm("trained")
    calibration = calibration_of(lm, None, 3)
    scales = assign_scales(lm.decode_graph(3), calibration.ranges[3], calibration.tag_ranges)
    of = {node.name: scales.of[node.index] for node in lm.decode_graph(3).nodes}
    for part in ("00", "01", "10", "11"):
        assert of[f"scores{part}"] == of[f"biased{part}"] == of[f"bias{part[1]}"] == 1 / 16
        for name in (f"k{part}", f"v{part}"):
            assert of[name] == of[f"{name}c"] == of[f"{name}_new"] == of[f"{name}_rows"]
    assert len({of[name] for name in (*lm.key_names, *lm.value_names)}) == 8
    ops = [Op(instruction.op) for instruction in compiled_for("trained", 3).instructions]
    # Four biases; heads, two residuals and two heads' sum a layer.
    assert ops.count(Op.VADD) == 4 + 2 * 3


def test_embeddings_are_rows_of_their_table() -> None:
    lm = trained_lm("trained")
    assert lm is trained_lm("trained")  # loaded once
    assert repr(lm) == "TrainedLm(kind='trained', cache_bits=8)"
    with pytest.raises(FrozenInstanceError):
        lm.cache_bits = 4  # type: ignore[misc]
    assert np.array_equal(lm.embed([3, 0]), lm.weights["embedding"][[3, 0]])
    assert trained_lm("trained-int4").weights["wout"].tolist() == lm.weights["wout"].tolist()
    assert trained_lm("trained-window16").weights["wout"].tolist() != lm.weights["wout"].tolist()


def test_weights_begin_as_documented() -> None:
    weights, draw = initial_weights(5), np.random.RandomState(5)
    for name, shape, deviation in (
        ("embedding", (63, 32), 0.5),
        *(
            each
            for layer in range(2)
            for each in (
                *((f"w{part}{layer}", (32, 32), 32**-0.5) for part in "qkv"),
                (f"wo{layer}", (32, 32), 0.5 * 32**-0.5),
                (f"w1{layer}", (32, 64), 32**-0.5),
                (f"w2{layer}", (64, 32), 0.5 * 32**-0.5),
            )
        ),
        ("wout", (32, 63), 0.5 * 32**-0.5),
    ):
        want = (draw.standard_normal(shape) * deviation).astype(np.float32)
        assert np.array_equal(weights.pop(name), want), name
    assert not weights


def test_programs_depend_on_the_context_alone() -> None:
    whole, narrow = (
        decode_programs("trained", 1, window, 9, TRAINED_DEPTH) for window in (None, 3)
    )
    for context, compiled in narrow.by_context.items():
        assert compiled.program == whole.by_context[context].program
        assert np.array_equal(compiled.image, whole.by_context[context].image)
    assert sorted(narrow.by_context) == [1, 2, 3]


def test_unknown_models_and_characters_are_refused() -> None:
    with pytest.raises(ParameterError, match="trained-window16, trained-int4"):
        trained_lm("trained-9")
    with pytest.raises(ParameterError, match="start = 63"):
        DecodeParams("trained", start=63)
    with pytest.raises(ValueError, match="substring not found"):
        encode("{")
    assert decode(encode("And God said,\n")) == "And God said,\n"
