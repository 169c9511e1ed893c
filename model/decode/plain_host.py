"""The same decode with a plain Python list for a cache: what paging must not change.

It shares neither the page table nor the paged host's arithmetic on steps, contexts and rows.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from model.compiler.graph import FloatArray
from model.decode.backend import Backend, HostStep, read_step
from model.decode.language_model import cache_inputs
from model.decode.programs import DecodePrograms


class PlainHost:
    """Decodes one request and never forgets a row."""

    def __init__(self, programs: DecodePrograms, backend: Backend) -> None:
        self.programs = programs
        self.backend = backend
        self.rows: list[tuple[FloatArray, FloatArray]] = []  # key and value of every token

    def step(self, token: int) -> HostStep:
        """Feed one token; the window is the tail of the list."""
        window = self.programs.window
        kept = len(self.rows) if window is None else min(len(self.rows), window - 1)
        compiled = self.programs.by_context[kept + 1]
        inputs = {"x": self.programs.lm.embed([token])}
        if kept:
            keys = np.array([key for key, _ in self.rows[-kept:]])
            values = np.array([value for _, value in self.rows[-kept:]])
            inputs |= cache_inputs(self.programs.lm, keys, values)
        image = compiled.fill(inputs)
        result = read_step(
            self.programs.lm,
            compiled,
            image,
            self.backend.run(compiled, image),
            step=len(self.rows) + 1,
            context=kept + 1,
            token=token,
        )
        self.rows.append((result.key, result.value))
        return result


def recomputed_step(programs: DecodePrograms, backend: Backend, tokens: list[int]) -> HostStep:
    """The step that feeds the last of ``tokens``, computed from the token ids alone.

    No cache is involved. In a model of one layer, keys and values depend on their own token only,
    so each one in the window comes from a run of the one-token program. In others they depend on
    all that the layers below have seen, so that every step from the first on is run again.
    """
    if len(programs.lm.key_names) == 1:
        window = programs.window
        first = 0 if window is None else max(0, len(tokens) - window)
        rows = {i: _attend(programs, backend, tokens, i, {}) for i in range(first, len(tokens) - 1)}
        return _attend(programs, backend, tokens, len(tokens) - 1, rows)
    rows = {}
    for index in range(len(tokens)):
        rows[index] = _attend(programs, backend, tokens, index, rows)
    return rows[len(tokens) - 1]


def _attend(
    programs: DecodePrograms,
    backend: Backend,
    tokens: list[int],
    index: int,
    rows: Mapping[int, HostStep],
) -> HostStep:
    """Run the step of token ``index`` on those of the rows before it that its window holds."""
    window = programs.window
    seen = [i for i in rows if window is None or i > index - window]
    compiled = programs.by_context[len(seen) + 1]
    inputs = {"x": programs.lm.embed([tokens[index]])}
    if seen:
        keys = np.array([rows[i].key for i in seen])
        values = np.array([rows[i].value for i in seen])
        inputs |= cache_inputs(programs.lm, keys, values)
    image = compiled.fill(inputs)
    return read_step(
        programs.lm,
        compiled,
        image,
        backend.run(compiled, image),
        step=index + 1,
        context=len(seen) + 1,
        token=tokens[index],
    )
