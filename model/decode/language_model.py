"""What a language model brings to be decoded, and how its cached rows become graph inputs.

A cached tensor ``k`` is the input ``kc`` (rows of the past) and the output ``k_new`` (the new row)
of a step's graph. A model with several layers or heads has several; the host keeps the keys of a
token as one row, and its values as another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from model.compiler.graph import FloatArray, Graph


class LanguageModel(Protocol):
    """A model that decodes one token a step."""

    @property
    def kind(self) -> str:
        """Name of the model."""
        ...

    @property
    def vocabulary(self) -> int:
        """Number of tokens."""
        ...

    @property
    def layers(self) -> int:
        """Number of layers."""
        ...

    @property
    def key_names(self) -> tuple[str, ...]:
        """Cached keys, in the order of a row; all have the same width."""
        ...

    @property
    def value_names(self) -> tuple[str, ...]:
        """Cached values, likewise."""
        ...

    def embed(self, tokens: Sequence[int]) -> FloatArray:
        """Input rows of tokens, (len(tokens), width)."""
        ...

    def decode_graph(self, context: int) -> Graph:
        """Graph of a step that attends ``context`` >= 1 tokens: x and cached rows in, tok out."""
        ...


def cache_inputs(lm: LanguageModel, keys: FloatArray, values: FloatArray) -> dict[str, FloatArray]:
    """Graph inputs for cached rows of the past, (..., rows, width of a row), oldest first."""
    inputs: dict[str, FloatArray] = {}
    for names, rows in ((lm.key_names, keys), (lm.value_names, values)):
        parts = np.split(rows, len(names), axis=-1)
        inputs |= {f"{name}c": part for name, part in zip(names, parts, strict=True)}
    return inputs


def new_row(names: Sequence[str], outputs: Mapping[str, FloatArray]) -> FloatArray:
    """The new row of the cached tensors with these names, from a step's outputs by name."""
    return np.concatenate([outputs[f"{name}_new"] for name in names], axis=-1)
