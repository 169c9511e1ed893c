"""The same decode with a plain Python list for a cache: what paging must not change.

It shares neither the page table nor the paged host's arithmetic on steps, contexts and rows.
"""

from __future__ import annotations

import numpy as np

from model.compiler.graph import FloatArray
from model.decode.backend import Backend, HostStep, read_step
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
            inputs["kc"] = np.array([key for key, _ in self.rows[-kept:]])
            inputs["vc"] = np.array([value for _, value in self.rows[-kept:]])
        image = compiled.fill(inputs)
        result = read_step(
            compiled,
            image,
            self.backend.run(compiled, image),
            step=len(self.rows) + 1,
            context=kept + 1,
            token=token,
        )
        key = np.array(result.k_new) * compiled.outputs["k_new"].scale
        value = np.array(result.v_new) * compiled.outputs["v_new"].scale
        self.rows.append((key, value))
        return result


def recomputed_step(programs: DecodePrograms, backend: Backend, tokens: list[int]) -> HostStep:
    """The step that feeds the last of ``tokens``, computed from the token ids alone.

    No cache is involved: this model's keys and values depend on their own token only, so each one
    in the window comes from a run of the one-token program.
    """
    window = programs.window
    seen = tokens if window is None else tokens[max(0, len(tokens) - window) :]
    single = programs.by_context[1]
    keys: list[FloatArray] = []
    values: list[FloatArray] = []
    for token in seen[:-1]:
        run = backend.run(single, single.fill({"x": programs.lm.embed([token])}))
        keys.append(single.read(run.ext, "k_new")[0] * single.outputs["k_new"].scale)
        values.append(single.read(run.ext, "v_new")[0] * single.outputs["v_new"].scale)
    compiled = programs.by_context[len(seen)]
    inputs = {"x": programs.lm.embed(seen[-1:])}
    if keys:
        inputs |= {"kc": np.array(keys), "vc": np.array(values)}
    image = compiled.fill(inputs)
    run = backend.run(compiled, image)
    return read_step(compiled, image, run, step=len(tokens), context=len(seen), token=tokens[-1])
