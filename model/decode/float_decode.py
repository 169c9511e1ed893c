"""Windowed decoding in floating point: the reference for accuracy and the source of all ranges.

It runs many token streams side by side, evaluating the same graph that the compiler turns into a
program, so the ranges it sees are those of the tensors that get a scale.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from model.chip.isa import MAX_K
from model.compiler.evaluate import evaluate
from model.compiler.graph import FloatArray, Graph
from model.compiler.scales import largest_values, merge_ranges
from model.decode.language_model import LanguageModel, cache_inputs, new_row
from model.decode.visible import Visible
from model.errors import ParameterError, check_int

MAX_CONTEXT = MAX_K  # the matrix product over a context has K = context


def context_size(step: int, window: int | None) -> int:
    """Tokens attended in a step (from 1), the new one included: min(step, window)."""
    return step if window is None else min(step, window)


def check_window(window: int | None, steps: int) -> None:
    """Raise ParameterError for a window or a number of steps that cannot be run."""
    if window is not None:
        check_int("window", window, 1)
    check_int("steps", steps, 1)
    context = context_size(steps, window)
    if context > MAX_CONTEXT:
        raise ParameterError("context", context, f"an integer in 1..{MAX_CONTEXT}")


@dataclass(frozen=True)
class FloatStep:
    """One step of S streams: every node's value, and what the step hands on."""

    step: int
    context: int
    graph: Graph
    values: list[FloatArray]
    tokens_in: NDArray[np.int64]  # (S,)
    tokens_out: NDArray[np.int64]  # (S,)
    logits: FloatArray  # (S, vocabulary)


def float_decode(
    lm: LanguageModel,
    window: int | None,
    steps: int,
    starts: Sequence[int] | None = None,
    forced: NDArray[np.int64] | None = None,
    sinks: int = 0,
) -> Iterator[FloatStep]:
    """Decode from each start token (None: every one there is), yielding one FloatStep per step.

    sinks: first rows that stay visible in the window. forced: (steps, S) tokens to feed instead of
    the model's own (teacher forcing). Raises ParameterError for a bad window, number of sinks or
    steps, or start token.
    """
    check_window(window, steps)
    if starts is None:
        starts = range(lm.vocabulary)
    for start in starts:
        check_int("start", start, 0, lm.vocabulary - 1)
    visible = Visible(window, sinks)
    tokens = np.array(starts, dtype=np.int64)
    keys: list[FloatArray] = []  # of each step, (S, 1, width of a row)
    values: list[FloatArray] = []
    for step in range(1, steps + 1):
        if forced is not None:
            tokens = forced[step - 1]
        context = context_size(step, window)
        graph = lm.decode_graph(context)
        inputs = {"x": lm.embed(tokens.tolist())[:, None, :]}
        if context > 1:
            past = visible.rows(step - 1)[:-1]
            seen = (np.concatenate([rows[i] for i in past], axis=1) for rows in (keys, values))
            inputs |= cache_inputs(lm, *seen)
        node_values = evaluate(graph, inputs)
        named = {node.name: node_values[node.index] for node in graph.nodes}
        chosen = named["tok"][:, 0, 0].astype(np.int64)
        yield FloatStep(step, context, graph, node_values, tokens, chosen, named["logits"][:, 0, :])
        keys.append(new_row(lm.key_names, named))
        values.append(new_row(lm.value_names, named))
        tokens = chosen


@dataclass(frozen=True)
class Calibration:
    """What the compiler needs to know about one model under one window.

    ranges: context -> range of every node of that context's graph; tag_ranges: range of x, k and v
    over everything seen; tokens: (steps + 1, 16) fed and finally predicted, from each start token.
    """

    window: int | None
    steps: int
    ranges: dict[int, list[float]]
    tag_ranges: dict[str, float]
    tokens: NDArray[np.int64]


def calibrate(lm: LanguageModel, window: int | None, steps: int) -> Calibration:
    """Run the float model from all 16 start tokens. Raises ParameterError like float_decode."""
    ranges: dict[int, list[float]] = {}
    tag_ranges = {"x": 0.0, "k": 0.0, "v": 0.0}
    tokens: list[NDArray[np.int64]] = []
    for run in float_decode(lm, window, steps):
        seen = largest_values(run.values)
        known = ranges.get(run.context)
        ranges[run.context] = merge_ranges(known, seen) if known else seen
        for node in run.graph.nodes:
            if node.tag is not None:
                tag_ranges[node.tag] = max(tag_ranges[node.tag], seen[node.index])
        tokens.append(run.tokens_in)
    tokens.append(run.tokens_out)
    return Calibration(window, steps, ranges, tag_ranges, np.stack(tokens))
