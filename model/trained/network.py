"""The network of the trained model over whole texts: forward, loss, and gradients by hand.

It is written apart from the graphs that the compiler gets, in the precision of its weights: float32
to train, float64 as a second opinion on the graphs' floating-point values. Weights by name, for
each layer l: wq<l>, wk<l>, wv<l>, wo<l> (32, 32), w1<l> (32, 64), w2<l> (64, 32); embedding (63,
32); wout (32, 63).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from model.trained.shape import (
    HEAD_WIDTH,
    HEADS,
    HIDDEN,
    LAYERS,
    SCORE_LIMIT,
    SLOPES,
    VOCABULARY,
    WIDTH,
)

Floats = NDArray[Any]
Weights = Mapping[str, Floats]

# The chip's softmax reads scores up to 7.94: what is beyond is trained away, gently.
SCORE_GOAL = 7.0
SCORE_PULL = 0.05


def initial_weights(seed: int) -> dict[str, Floats]:
    """Draw float32 weights; what is added to the residual begins at half its usual size."""
    draw = np.random.RandomState(seed)  # whose stream is the same in every numpy

    def matrix(rows: int, cols: int, deviation: float) -> Floats:
        return np.asarray(draw.standard_normal((rows, cols)) * deviation, dtype=np.float32)

    weights = {"embedding": matrix(VOCABULARY, WIDTH, 0.5)}
    usual = WIDTH**-0.5
    for layer in range(LAYERS):
        for name in ("wq", "wk", "wv"):
            weights[f"{name}{layer}"] = matrix(WIDTH, WIDTH, usual)
        weights[f"wo{layer}"] = matrix(WIDTH, WIDTH, 0.5 * usual)
        weights[f"w1{layer}"] = matrix(WIDTH, HIDDEN, usual)
        weights[f"w2{layer}"] = matrix(HIDDEN, WIDTH, 0.5 * usual)
    weights["wout"] = matrix(WIDTH, VOCABULARY, 0.5 * usual)
    return weights


def score_bias(length: int, window: int | None) -> Floats:
    """Bias on all scores of a text, (heads, query, key): by distance, -inf where none is seen."""
    distance = np.arange(length)[:, None] - np.arange(length)[None, :]
    bias = np.stack([np.maximum(-slope * distance, -SCORE_LIMIT) for slope in SLOPES])
    bias[:, (distance < 0) | (distance >= (length if window is None else window))] = -np.inf
    return bias


class Pass:
    """One forward pass over N texts of T tokens; it keeps what the gradients need."""

    def __init__(self, weights: Weights, tokens: NDArray[Any], bias: Floats) -> None:
        """tokens: (N, T); bias: (heads, T, T), in the weights' precision."""
        self.weights = weights
        self.shape = tokens.shape
        self.tokens = tokens.ravel()
        self._seen = np.isfinite(bias)
        self._layers: list[tuple[Floats, ...]] = []
        x = weights["embedding"][self.tokens]
        for layer in range(LAYERS):
            x = self._layer(x, layer, bias)
        self.last = x
        self.logits: Floats = x @ weights["wout"]  # (N * T, 63)

    def _layer(self, x: Floats, layer: int, bias: Floats) -> Floats:
        w = self.weights
        q, k, v = (self._split(x @ w[f"{name}{layer}"]) for name in ("wq", "wk", "wv"))
        scores = q @ k.transpose(0, 1, 3, 2) * x.dtype.type(HEAD_WIDTH**-0.5)
        excess = (scores - np.clip(scores, -SCORE_GOAL, SCORE_GOAL)) * self._seen
        scores = scores + bias
        scores -= scores.max(axis=-1, keepdims=True)
        attention = np.exp(scores, out=scores)
        attention /= attention.sum(axis=-1, keepdims=True)
        attended = self._join(attention @ v)
        h = x + attended @ w[f"wo{layer}"]
        hidden = np.maximum(h @ w[f"w1{layer}"], 0)
        self._layers.append((x, q, k, v, excess, attention, attended, h, hidden))
        after: Floats = h + hidden @ w[f"w2{layer}"]
        return after

    def _split(self, x: Floats) -> Floats:
        """Rows (N * T, 32) by text and head, (N, heads, T, 16)."""
        return np.ascontiguousarray(x.reshape(*self.shape, HEADS, HEAD_WIDTH).transpose(0, 2, 1, 3))

    def _join(self, x: Floats) -> Floats:
        return np.ascontiguousarray(x.transpose(0, 2, 1, 3)).reshape(-1, WIDTH)

    def losses(self, targets: NDArray[Any]) -> Floats:
        """Loss of every prediction in nats, (N * T,); targets: the tokens that follow, (N, T)."""
        shifted = self.logits - self.logits.max(axis=1, keepdims=True)
        right = shifted[np.arange(len(shifted)), targets.ravel()]
        losses: Floats = np.log(np.exp(shifted).sum(axis=1)) - right
        return losses

    def gradients(self, targets: NDArray[Any]) -> dict[str, Floats]:
        """Gradient of the mean loss, and of the pull on the scores, for every weight."""
        count = len(self.tokens)
        d = np.exp(self.logits - self.logits.max(axis=1, keepdims=True))
        d /= d.sum(axis=1, keepdims=True)
        d[np.arange(count), targets.ravel()] -= 1
        d *= d.dtype.type(1 / count)
        found = {"wout": self.last.T @ d}
        dx = d @ self.weights["wout"].T
        for layer in reversed(range(LAYERS)):
            dx = self._layer_gradients(dx, layer, found)
        embedding = np.zeros_like(self.weights["embedding"])
        np.add.at(embedding, self.tokens, dx)
        return found | {"embedding": embedding}

    def _layer_gradients(self, dx: Floats, layer: int, found: dict[str, Floats]) -> Floats:
        w = self.weights
        x, q, k, v, excess, attention, attended, h, hidden = self._layers[layer]
        real = x.dtype.type
        found[f"w2{layer}"] = hidden.T @ dx
        d_up = (dx @ w[f"w2{layer}"].T) * (hidden > 0)
        found[f"w1{layer}"] = h.T @ d_up
        dh = dx + d_up @ w[f"w1{layer}"].T
        found[f"wo{layer}"] = attended.T @ dh
        d_attended = self._split(dh @ w[f"wo{layer}"].T)
        dv = attention.transpose(0, 1, 3, 2) @ d_attended
        ds = d_attended @ v.transpose(0, 1, 3, 2)
        ds -= (ds * attention).sum(axis=-1, keepdims=True)
        ds *= attention
        ds += excess * real(SCORE_PULL / len(self.tokens))
        ds *= real(HEAD_WIDTH**-0.5)
        dq, dk = ds @ k, ds.transpose(0, 1, 3, 2) @ q
        result: Floats = dh
        for name, part in (("wq", dq), ("wk", dk), ("wv", dv)):
            joined = self._join(part)
            found[f"{name}{layer}"] = x.T @ joined
            result = result + joined @ w[f"{name}{layer}"].T
        return result
