"""The trained model as graphs of decode steps, from the weights that the project ships."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np

from model.compiler.graph import FloatArray, Graph, Node
from model.errors import ParameterError
from model.trained.files import DATA
from model.trained.shape import (
    HEAD_WIDTH,
    HEADS,
    LAYERS,
    VOCABULARY,
    WIDTH,
    distance_bias,
)

# Name of a model: its weights, and the bits of a cached key or value.
VARIANTS = {
    "trained": ("full", 8),
    "trained-window16": ("window16", 8),
    "trained-int4": ("full", 4),
}
KINDS = tuple(VARIANTS)


def cached_names(kind: str) -> tuple[str, ...]:
    """Names of the cached tensors of all layers and heads; kind: "k" or "v"."""
    return tuple(f"{kind}{layer}{head}" for layer in range(LAYERS) for head in range(HEADS))


@dataclass(frozen=True, eq=False)
class TrainedLm:
    """Weights as float64 matrices by name, see network.py, and the bits of the cache."""

    kind: str
    weights: dict[str, FloatArray] = field(repr=False)
    cache_bits: int

    vocabulary = VOCABULARY
    layers = LAYERS
    key_names = cached_names("k")
    value_names = cached_names("v")

    def embed(self, tokens: Sequence[int]) -> FloatArray:
        """Rows of the embedding, (len(tokens), 32)."""
        return self.weights["embedding"][np.asarray(tokens, dtype=np.int64)]

    def decode_graph(self, context: int) -> Graph:
        """Graph of one decode step that attends ``context`` >= 1 characters, the new one included.

        Inputs x (1, 32) and, for a context above 1, k00c, v00c, ... (context - 1, 16) by layer and
        head. Outputs k00_new, v00_new, ... (1, 16) as soon as they are known, so that their
        buffers are free again; then tok (1, 1) and logits (1, 63).
        """
        if context not in self._graphs:
            self._graphs[context] = _decode_graph(self, context)
        return self._graphs[context]

    @cached_property
    def _graphs(self) -> dict[int, Graph]:
        return {}


@lru_cache(maxsize=len(VARIANTS))
def trained_lm(kind: str = "trained") -> TrainedLm:
    """Load a model by its name. Raises ParameterError."""
    if kind not in VARIANTS:
        raise ParameterError("model", kind, "one of " + ", ".join(VARIANTS))
    name, bits = VARIANTS[kind]
    with np.load(DATA / f"{name}.npz") as stored:
        weights = {key: stored[key].astype(np.float64) for key in stored.files}
    return TrainedLm(kind, weights, bits)


def _decode_graph(lm: TrainedLm, context: int) -> Graph:
    g = Graph()
    x = g.input("x", 1, WIDTH)
    biases = [
        g.weight(f"bias{head}", distance_bias(head, context)[None, :], tag="score")
        for head in range(HEADS)
    ]
    for layer in range(LAYERS):
        near, far = (_head(g, lm, x, biases[head], layer, head) for head in range(HEADS))
        mixed = g.add(near, far, name=f"mixed{layer}")
        h = g.add(x, mixed, name=f"h{layer}")
        up = g.matmul(h, g.weight(f"w1{layer}", lm.weights[f"w1{layer}"]), name=f"up{layer}")
        down = g.matmul(
            g.relu(up, name=f"hidden{layer}"),
            g.weight(f"w2{layer}", lm.weights[f"w2{layer}"]),
            name=f"down{layer}",
        )
        x = g.add(h, down, name=f"y{layer}")
    logits = g.matmul(x, g.weight("wout", lm.weights["wout"]), name="scores_out")
    g.output("tok", g.argmax(logits, name="best"))
    g.output("logits", logits)
    return g


def _head(g: Graph, lm: TrainedLm, x: Node, bias: Node, layer: int, head: int) -> Node:
    """One head's part of what is added to x, (1, 32)."""
    mine = slice(head * HEAD_WIDTH, (head + 1) * HEAD_WIDTH)
    context = bias.cols

    def project(name: str) -> Node:
        weight = g.weight(f"w{name}", lm.weights[f"w{name[0]}{layer}"][:, mine])
        return g.matmul(x, weight, name=name, tag=name)

    def cached(name: str) -> Node:
        """The new row below the cached ones; the host gets it at once."""
        new = project(name)
        rows = new
        if context > 1:
            old = g.input(f"{name}c", context - 1, HEAD_WIDTH, tag=name, bits=lm.cache_bits)
            rows = g.concat_rows(old, new, name=f"{name}_rows", tag=name)
        g.output(f"{name}_new", new)
        return rows

    part = f"{layer}{head}"
    scores = g.matmul(
        project(f"q{part}"),
        cached(f"k{part}"),
        transpose_b=True,
        factor=1 / math.sqrt(HEAD_WIDTH),
        name=f"scores{part}",
        tag="score",
    )
    attention = g.softmax(g.add(scores, bias, name=f"biased{part}"), name=f"attention{part}")
    attended = g.matmul(attention, cached(f"v{part}"), name=f"attended{part}")
    return g.matmul(
        attended, g.weight(f"wo{part}", lm.weights[f"wo{layer}"][mine]), name=f"projected{part}"
    )
