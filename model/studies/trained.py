"""What a window costs a trained model, on text that it has never seen: data, no printing.

The held-out excerpt is cut into streams of one context; each begins with an empty cache and is fed
the text. A stream's every character after its first is predicted. In float the graphs are
evaluated; in integers, too, by the rules that compiled programs follow (tests hold both together).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from model.chip.isa import Op
from model.chip.timing import Counters
from model.compiler.evaluate import evaluate, ordered_softmax
from model.compiler.graph import FloatArray, Kind
from model.compiler.integers import IntegerGraph
from model.compiler.scales import assign_scales
from model.decode.backend import MachineBackend
from model.decode.language_model import cache_inputs, new_row
from model.decode.models import TRAINED_DEPTH
from model.decode.programs import decode_programs
from model.decode.text_calibration import calibrate_on_text
from model.decode.visible import EVERYTHING, Visible
from model.trained.files import DATA
from model.trained.lm import TrainedLm, trained_lm
from model.trained.shape import CONTEXT, encode

WINDOWS: tuple[int | None, ...] = (None, 32, 16, 8, 4)
SINKS = (0, 1, 2, 4)
Step = Callable[[int, Mapping[str, FloatArray]], Mapping[str, FloatArray]]


def settings() -> list[tuple[int | None, int]]:
    """Every window with every number of sinks that leaves it a row to look back with."""
    return [(w, s) for w in WINDOWS for s in SINKS if s == 0 or (w is not None and s < w)]


@lru_cache(maxsize=1)
def held_out() -> NDArray[np.int64]:
    """The excerpt as streams, (S, 65): 64 characters fed, the last 64 predicted."""
    text = encode((DATA / "held_out.txt").read_text(encoding="ascii"))
    return np.array(text, dtype=np.int64).reshape(-1, CONTEXT + 1)


def float_step(lm: TrainedLm) -> Step:
    """A decode step in floating point: from inputs to outputs by name."""

    def step(context: int, inputs: Mapping[str, FloatArray]) -> Mapping[str, FloatArray]:
        graph = lm.decode_graph(context)
        values = evaluate(graph, inputs)
        return {node.name: values[node.index] for node in graph.nodes}

    return step


def integer_step(lm: TrainedLm) -> Step:
    """A decode step in the chip's integers, handed on as the real numbers that they stand for."""
    calibration = calibrate_on_text(lm, None, CONTEXT)

    @lru_cache(maxsize=CONTEXT)
    def graph_of(context: int) -> IntegerGraph:
        graph = lm.decode_graph(context)
        ranges = calibration.ranges[context]
        return IntegerGraph(graph, assign_scales(graph, ranges, calibration.tag_ranges))

    def step(context: int, inputs: Mapping[str, FloatArray]) -> Mapping[str, FloatArray]:
        whole = graph_of(context)
        integers = whole.evaluate(inputs)
        real: dict[str, FloatArray] = {}
        for node in whole.graph.of_kind(Kind.OUTPUT):
            real[node.name] = np.multiply(integers[node.index], whole.scales.of[node.index])
        return real

    return step


def machine_step(kind: str, window: int | None) -> Step:
    """A decode step of one stream as a program on the reference machine."""
    programs = decode_programs(kind, 1, window, CONTEXT, TRAINED_DEPTH)
    machine = MachineBackend(TRAINED_DEPTH)

    def step(context: int, inputs: Mapping[str, FloatArray]) -> Mapping[str, FloatArray]:
        compiled = programs.by_context[context]
        image = compiled.fill({name: value[0] for name, value in inputs.items()})
        ext = machine.run(compiled, image).ext
        return {
            name: np.multiply(compiled.read(ext, name), region.scale)[None]
            for name, region in compiled.outputs.items()
        }

    return step


def stream_logits(
    lm: TrainedLm, step: Step, tokens: NDArray[np.int64], visible: Visible = EVERYTHING
) -> Iterator[FloatArray]:
    """Feed streams (S, T) character by character; yield the logits (S, 63) after each."""
    keys: list[FloatArray] = []
    values: list[FloatArray] = []
    for query in range(tokens.shape[1]):
        rows = visible.rows(query)
        inputs = {"x": lm.embed(tokens[:, query].tolist())[:, None, :]}
        if len(rows) > 1:
            past = (np.concatenate([of[row] for row in rows[:-1]], axis=1) for of in (keys, values))
            inputs |= cache_inputs(lm, *past)
        outputs = step(len(rows), inputs)
        keys.append(new_row(lm.key_names, outputs))
        values.append(new_row(lm.value_names, outputs))
        yield outputs["logits"][:, 0, :]


@dataclass(frozen=True)
class Measured:
    """Of one way to run a model: bits per character, and how it compares with full attention.

    bits: mean of -log2 of what the right character was given; agreeing: predictions whose first
    choice is that of the same weights with full attention in float; error: mean relative error of
    the logits, Euclidean norms, likewise.
    """

    bits: float
    agreeing: int
    predictions: int
    error: float


def full_logits(kind: str) -> list[FloatArray]:
    """Logits with full attention in float, the reference of everything else."""
    return _logits(kind, "float", None, 0)


@lru_cache(maxsize=128)
def _logits(kind: str, numbers: str, window: int | None, sinks: int) -> list[FloatArray]:
    lm = trained_lm(kind)
    step = {"float": float_step, "integer": integer_step}[numbers](lm)
    return list(stream_logits(lm, step, held_out()[:, :-1], Visible(window, sinks)))


def measure(kind: str, numbers: str, window: int | None = None, sinks: int = 0) -> Measured:
    """Run one model over the held-out text; numbers: "float" or "integer"."""
    got = np.stack(_logits(kind, numbers, window, sinks), axis=1)
    want = np.stack(full_logits(kind), axis=1)
    agreeing = int((got.argmax(axis=-1) == want.argmax(axis=-1)).sum())
    errors = _norms(got - want) / _norms(want)
    return Measured(
        bits_per_character(got, held_out()[:, 1:]), agreeing, errors.size, _mean(errors)
    )


def equals_machine(kind: str, window: int | None = None, sinks: int = 0) -> bool:
    """Whether compiled programs give the integers of ``measure`` for the excerpt's first stream."""
    fed = held_out()[:1, :-1]
    run = stream_logits(trained_lm(kind), machine_step(kind, window), fed, Visible(window, sinks))
    want = _logits(kind, "integer", window, sinks)
    return all(np.array_equal(got[0], here[0]) for got, here in zip(run, want, strict=True))


def bits_per_character(logits: FloatArray, targets: NDArray[np.int64]) -> float:
    """Mean of -log2 of the right character's probability; logits (..., 63), targets (...)."""
    chosen = np.take_along_axis(ordered_softmax(logits), targets[..., None], axis=-1)
    return _mean(np.array([-math.log2(p) for p in chosen.ravel().tolist()]))


def _norms(rows: FloatArray) -> FloatArray:
    total = rows[..., 0] ** 2
    for column in range(1, rows.shape[-1]):
        total = total + rows[..., column] ** 2
    norms: FloatArray = np.sqrt(total)
    return norms


def _mean(values: FloatArray) -> float:
    total = 0.0
    for value in values.ravel().tolist():  # not sum(): its last bits changed in Python 3.12
        total += value
    return total / values.size


@dataclass(frozen=True)
class Cost:
    """Of one decode step at a full window: cycles, words loaded, words of memory for the cache."""

    context: int
    counters: Counters
    instructions: int
    loaded: int
    unpacked: int
    cache_words: int


def cost(kind: str, context: int) -> Cost:
    """Run the program of a context on the reference machine and count."""
    compiled = decode_programs(kind, 1, None, context, TRAINED_DEPTH).by_context[context]
    inputs = {name: np.zeros((r.rows, r.cols)) for name, r in compiled.inputs.items()}
    run = MachineBackend(TRAINED_DEPTH).run(compiled, compiled.fill(inputs))
    by_op = {op: [i for i in compiled.instructions if i.op == op] for op in (Op.LD, Op.UNPACK)}
    return Cost(
        context,
        run.counters,
        run.counters.n_inst,
        sum(i.c for i in by_op[Op.LD]),
        sum(8 * i.c for i in by_op[Op.UNPACK]),
        sum(region.words for name, region in compiled.inputs.items() if name != "x"),
    )


def costs(kind: str, contexts: Sequence[int]) -> list[Cost]:
    """Cost of several contexts."""
    return [cost(kind, context) for context in contexts]
