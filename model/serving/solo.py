"""One request decoded alone from a plain list: what serving must not change.

It runs the decode graph of the main job, compiled for each context size with the calibration of the
served model, and knows neither batches, pages, chunks nor kernels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from model.chip.fixed_point import IntArray
from model.compiler.codegen import compile_graph
from model.compiler.compiled import Compiled
from model.compiler.graph import FloatArray
from model.decode.backend import HostStep, MachineBackend, read_step
from model.decode.language_model import cache_inputs
from model.decode.models import default_depth
from model.serving.calibration import served_model
from model.serving.request import Options, Request


@dataclass(frozen=True, eq=False)
class Solo:
    """What a request generates: tokens, and the integers that chose each.

    logits: (generate, vocabulary).
    """

    tokens: list[int]
    logits: IntArray


@lru_cache(maxsize=1024)
def solo_program(model: str, seed: int, context: int) -> Compiled:
    """The decode program of one context size under the one calibration."""
    served = served_model(model, seed)
    graph = served.lm.decode_graph(context)
    return compile_graph(graph, served.graph_ranges(graph), served.tag_ranges)


class SoloHost:
    """Feeds tokens one by one and never forgets a row."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.rows: list[tuple[FloatArray, FloatArray]] = []  # key and value of every token
        self._backend = MachineBackend(default_depth(options.model), options.latency)

    def step(self, token: int) -> HostStep:
        """Feed one token; it sees the tail of the list, and the sinks at its head."""
        window, sinks = self.options.window, self.options.sinks
        seen = list(self.rows)
        if window is not None and len(seen) >= window:
            recent = window - sinks - 1
            seen = seen[:sinks] + (seen[-recent:] if recent else [])
        context = len(seen) + 1
        compiled = solo_program(self.options.model, self.options.seed, context)
        lm = served_model(self.options.model, self.options.seed).lm
        inputs = {"x": lm.embed([token])}
        if seen:
            keys, values = (np.array(rows) for rows in zip(*seen, strict=True))
            inputs |= cache_inputs(lm, keys, values)
        image = compiled.fill(inputs)
        run = self._backend.run(compiled, image)
        step = len(self.rows) + 1
        result = read_step(lm, compiled, image, run, step=step, context=context, token=token)
        self.rows.append((result.key, result.value))
        return result


@lru_cache(maxsize=1024)
def _solo(
    model: str, seed: int, window: int | None, sinks: int, prompt: tuple[int, ...], generate: int
) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
    host = SoloHost(Options(model=model, seed=seed, window=window, sinks=sinks))
    for token in prompt[:-1]:
        host.step(token)
    tokens, logits = [prompt[-1]], []
    for _ in range(generate):
        done = host.step(tokens[-1])
        tokens.append(done.token_out)
        logits.append(done.logits)
    return tuple(tokens[1:]), tuple(logits)


def solo(request: Request, options: Options) -> Solo:
    """Decode one request alone, up to its stop token."""
    tokens, logits = _solo(
        options.model,
        options.seed,
        options.window,
        options.sinks,
        tuple(request.prompt),
        request.generate,
    )
    count = len(tokens)
    if request.stop is not None and request.stop in tokens:
        count = tokens.index(request.stop) + 1
    return Solo(list(tokens[:count]), np.array(logits[:count], dtype=np.int64))
