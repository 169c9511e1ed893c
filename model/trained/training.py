"""Training: Adam on random pieces of the text, a learning rate that falls, early stop.

Everything is drawn from one seed and computed in float32. Matrix products come from whatever BLAS
there is, so that the last bits of the weights differ from machine to machine, and the loss in its
fourth digit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from model.trained.corpus import STREAM, Corpus
from model.trained.network import Floats, Pass, Weights, initial_weights, score_bias
from model.trained.shape import CONTEXT


@dataclass(frozen=True)
class Settings:
    """How to train; steps, batch and warm-up count steps or pieces of text."""

    seed: int = 1
    steps: int = 8000
    batch: int = 32
    rate: float = 0.006  # of Adam, at its highest
    last_rate: float = 0.01  # part of it that is left at the end
    warm_up: int = 100
    decay: float = 0.01  # of weights, by step and rate
    largest_gradient: float = 1.0  # Euclidean norm
    every: int = 250  # steps between looks at the validation text
    patience: int = 6  # looks without a better loss after which training ends


@dataclass(frozen=True)
class Look:
    """Bits per character so far: of the steps since the last look, and of the validation text."""

    step: int
    training: float
    validation: float


class Training:
    """Trains one set of weights; ``best`` holds those with the least loss on validation."""

    def __init__(self, corpus: Corpus, window: int | None, settings: Settings) -> None:
        self.corpus = corpus
        self.settings = settings
        self.bias = score_bias(CONTEXT, window).astype(np.float32)
        self.weights = initial_weights(settings.seed)
        self.best: dict[str, Floats] = {}
        self.looks: list[Look] = []
        self.stopped_early = False
        self._draw = np.random.RandomState(settings.seed + 1)
        self._mean = {name: np.zeros_like(w) for name, w in self.weights.items()}
        self._square = {name: np.zeros_like(w) for name, w in self.weights.items()}

    def run(self) -> Iterator[tuple[int, Look | None]]:
        """Train; yield the number of every step, with a look where there is one."""
        settings, losses = self.settings, []
        for step in range(1, settings.steps + 1):
            losses.append(self._step(step))
            if step % settings.every and step < settings.steps:
                yield step, None
                continue
            look = Look(step, float(np.mean(losses)), self.validate(self.weights))
            losses = []
            if not self.looks or look.validation < min(old.validation for old in self.looks):
                self.best = {name: w.copy() for name, w in self.weights.items()}
            self.looks.append(look)
            yield step, look
            if self._since_best() >= settings.patience:
                self.stopped_early = step < settings.steps
                return

    def validate(self, weights: Weights) -> float:
        """Bits per character of the validation text."""
        return mean_bits(weights, self.corpus.validation, self.bias)

    def _since_best(self) -> int:
        validations = [look.validation for look in self.looks]
        return len(validations) - 1 - validations.index(min(validations))

    def _step(self, step: int) -> float:
        """Change the weights once; return the loss before it in bits."""
        settings, training = self.settings, self.corpus.training
        at = self._draw.randint(0, training.size - STREAM, settings.batch)
        piece = training[at[:, None] + np.arange(STREAM)]
        run = Pass(self.weights, piece[:, :-1], self.bias)
        loss = float(run.losses(piece[:, 1:]).mean()) / math.log(2)
        gradients = run.gradients(piece[:, 1:])
        norm = math.sqrt(sum(float((g * g).sum()) for g in gradients.values()))
        clip = np.float32(min(1.0, settings.largest_gradient / norm))
        rate = self._rate(step)
        for name, weight in self.weights.items():
            self._adam(weight, gradients[name] * clip, name, step, rate)
        return loss

    def _rate(self, step: int) -> float:
        settings = self.settings
        cosine = 0.5 + 0.5 * math.cos(math.pi * step / settings.steps)
        part = settings.last_rate + (1 - settings.last_rate) * cosine
        return settings.rate * min(1.0, step / settings.warm_up) * part

    def _adam(self, weight: Floats, gradient: Floats, name: str, step: int, rate: float) -> None:
        mean, square, real = self._mean[name], self._square[name], np.float32
        mean += real(0.1) * (gradient - mean)
        square += real(0.01) * (gradient * gradient - square)
        change = (mean / real(1 - 0.9**step)) / (
            np.sqrt(square / real(1 - 0.99**step)) + real(1e-8)
        )
        weight -= real(rate) * (change + real(self.settings.decay) * weight)


def mean_bits(weights: Weights, streams: NDArray[np.uint8], bias: Floats) -> float:
    """Bits per character of streams (S, T): every character after the first is predicted."""
    run = Pass(weights, streams[:, :-1], bias)
    return float(run.losses(streams[:, 1:]).mean(dtype=np.float64)) / math.log(2)
