"""The tiny language model: vocabulary and width 16, feed-forward 32, one layer, one head.

x = E[token]; q, k, v = x Wq, x Wk, x Wv; a = softmax(q K^T / sqrt(D)) V over the cached rows and
the new one; h = x + a Wo; y = h + relu(h W1) W2; logits = y Wout; the next token is their first
argmax.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from model.compiler.graph import FloatArray, Graph
from model.errors import ParameterError, check_int

VOCABULARY = 16
WIDTH = 16
HIDDEN = 32
KINDS = ("structured", "random")


def rule(token: int) -> int:
    """Next token that the structured model has been built to predict."""
    return (5 * token + 3) % VOCABULARY


def inverse_rule(token: int) -> int:
    """The token that ``rule`` maps to this one."""
    return next(t for t in range(VOCABULARY) if rule(t) == token)


@dataclass(frozen=True, eq=False)
class TinyLm:
    """Weights as float64 matrices: embedding (16, 16) and output (16, 16), the rest as named."""

    kind: str
    seed: int
    embedding: FloatArray
    w_out: FloatArray
    w_q: FloatArray
    w_k: FloatArray
    w_v: FloatArray
    w_o: FloatArray
    w_1: FloatArray
    w_2: FloatArray

    vocabulary = VOCABULARY
    layers = 1
    key_names = ("k",)
    value_names = ("v",)

    def embed(self, tokens: Sequence[int]) -> FloatArray:
        """Rows of the embedding, (len(tokens), 16)."""
        return self.embedding[np.asarray(tokens, dtype=np.int64)]

    def decode_graph(self, context: int) -> Graph:
        """Graph of one decode step that attends ``context`` >= 1 tokens, the new one included.

        Inputs x (1, 16) and, for a context above 1, kc and vc (context - 1, 16); outputs tok
        (1, 1), logits (1, 16), k_new (1, 16), v_new (1, 16). The tags x, k and v mark what must
        keep one scale over all contexts, because the host carries it from step to step.
        """
        if context not in self._graphs:
            self._graphs[context] = _decode_graph(self, context)
        return self._graphs[context]

    @cached_property
    def _graphs(self) -> dict[int, Graph]:
        return {}


def tiny_lm(kind: str = "structured", seed: int = 1) -> TinyLm:
    """Build a model: "structured" follows rule() from any start token, "random" follows nothing.

    Weights are drawn by random.Random(seed).gauss, row-major. Raises ParameterError.
    """
    if kind not in KINDS:
        raise ParameterError("model", kind, "one of " + ", ".join(KINDS))
    draws = random.Random(check_int("seed", seed, 0))

    def matrix(rows: int, cols: int, deviation: float) -> FloatArray:
        return np.array([[draws.gauss(0, deviation) for _ in range(cols)] for _ in range(rows)])

    if kind == "structured":
        embedding = _hadamard(VOCABULARY) / 4
        w_out = np.array(
            [
                [8 * embedding[inverse_rule(token), d] for token in range(VOCABULARY)]
                for d in range(WIDTH)
            ]
        )
        spread = 0.45
    else:
        embedding = matrix(VOCABULARY, WIDTH, 1) / 4
        w_out = matrix(WIDTH, VOCABULARY, 1 / math.sqrt(WIDTH))
        spread = 1.0
    wide, tall = spread / math.sqrt(WIDTH), spread / math.sqrt(HIDDEN)
    q, k, v, o = (matrix(WIDTH, WIDTH, wide) for _ in range(4))
    w_1 = matrix(WIDTH, HIDDEN, wide)
    w_2 = matrix(HIDDEN, WIDTH, tall)
    return TinyLm(kind, seed, embedding, w_out, q, k, v, o, w_1, w_2)


def _hadamard(order: int) -> FloatArray:
    """Sylvester's Hadamard matrix of +1 and -1."""
    matrix: FloatArray = np.ones((1, 1))
    while len(matrix) < order:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    return matrix


def _decode_graph(lm: TinyLm, context: int) -> Graph:
    g = Graph()
    x = g.input("x", 1, WIDTH, tag="x")
    q = g.matmul(x, g.weight("wq", lm.w_q), name="q")
    k = g.matmul(x, g.weight("wk", lm.w_k), name="k", tag="k")
    v = g.matmul(x, g.weight("wv", lm.w_v), name="v", tag="v")
    keys, values = k, v
    if context > 1:
        kc = g.input("kc", context - 1, WIDTH, tag="k")
        vc = g.input("vc", context - 1, WIDTH, tag="v")
        keys = g.concat_rows(kc, k, name="keys", tag="k")
        values = g.concat_rows(vc, v, name="values", tag="v")
    scores = g.matmul(q, keys, transpose_b=True, factor=1 / math.sqrt(WIDTH), name="scores")
    attended = g.matmul(g.softmax(scores, name="attention"), values, name="attended")
    h = g.add(x, g.matmul(attended, g.weight("wo", lm.w_o), name="projected"), name="h")
    hidden = g.relu(g.matmul(h, g.weight("w1", lm.w_1), name="up"), name="hidden")
    y = g.add(h, g.matmul(hidden, g.weight("w2", lm.w_2), name="down"), name="y")
    logits = g.matmul(y, g.weight("wout", lm.w_out), name="scores_out")
    g.output("tok", g.argmax(logits))
    g.output("logits", logits)
    g.output("k_new", k)
    g.output("v_new", v)
    return g
