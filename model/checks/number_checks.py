"""Checks of windows, numbers, programs and counters of a decode run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from model.checks.subject import Skip, Subject, require
from model.compiler.allocator import OutOfMemory
from model.compiler.graph import FloatArray
from model.decode.float_decode import float_decode
from model.decode.language_model import LanguageModel
from model.decode.programs import DecodePrograms, decode_programs
from model.decode.tiny_lm import TinyLm, rule
from model.decode.workload import DecodeRun, run_decode
from model.trained.lm import TrainedLm
from model.trained.network import Pass, score_bias

FLOAT_TOLERANCE = 0.15  # relative L2 error of the logits over a run, int8 against float
INT4_TOLERANCE = 0.5  # the same with keys and values of four bits
FLOAT_ROUNDING = 1e-9  # two orders of summation in double precision


def check_rule(subject: Subject) -> str:
    """The structured model says f(t) = (5 t + 3) mod 16 after every token, under every window."""
    if subject.params[0].model != "structured":
        raise Skip("only the structured model follows a rule")
    for run in subject.runs:
        for step in run.steps:
            require(
                step.token == rule(step.token_in),
                f"window {run.params.window} step {step.step}: {step.token_in} gave {step.token}",
            )
    return f"{sum(len(run.steps) for run in subject.runs)} tokens"


def check_float_window(subject: Subject) -> str:
    """The float model's windows, computed again from the token ids with plain formulas."""
    compared = 0
    for params in subject.params:
        lm = subject.programs(params).lm
        fed: list[int] = []
        for step in float_decode(lm, params.window, params.steps, (params.start,)):
            fed.append(int(step.tokens_in[0]))
            want = float_logits(lm, fed, params.window)
            error = float(np.abs(step.logits[0] - want).max())
            require(
                error < FLOAT_ROUNDING, f"window {params.window} step {step.step}: off by {error}"
            )
            compared += 1
    return f"{compared} steps"


def float_logits(lm: LanguageModel, tokens: Sequence[int], window: int | None = None) -> FloatArray:
    """Logits (vocabulary,) after the last token under a window, straight from formulas."""
    if isinstance(lm, TrainedLm):
        bias = score_bias(len(tokens), window)
        whole: FloatArray = Pass(lm.weights, np.array([tokens]), bias).logits[-1]
        return whole
    assert isinstance(lm, TinyLm)
    x = lm.embed(tokens if window is None else tokens[-window:])
    scores = (x @ lm.w_k) @ (x[-1] @ lm.w_q) / 4.0  # sqrt of the width
    weights = np.exp(scores - scores.max())
    attended = (weights / weights.sum()) @ (x @ lm.w_v)
    h = x[-1] + attended @ lm.w_o
    y = h + np.maximum(h @ lm.w_1, 0) @ lm.w_2
    logits: FloatArray = y @ lm.w_out
    return logits


def check_accuracy(subject: Subject) -> str:
    """The chip's logits stay within 15% (relative L2 over the run) of the float model's.

    Half of their size with a cache of int4.
    """
    errors = []
    for run in subject.runs:
        programs = subject.programs(run.params)
        error = run_error(run, programs)
        four_bits = isinstance(programs.lm, TrainedLm) and programs.lm.cache_bits == 4
        tolerance = INT4_TOLERANCE if four_bits else FLOAT_TOLERANCE
        require(error < tolerance, f"window {run.params.window}: off by {error:.1%}")
        errors.append(f"{error:.1%}")
    return "off by " + ", ".join(errors)


def run_error(run: DecodeRun, programs: DecodePrograms) -> float:
    """Relative L2 error of the chip's logits over a run, against float on the same tokens."""
    chip = np.array(
        [
            np.array(step.logits) * programs.by_context[step.ctx].outputs["logits"].scale
            for step in run.steps
        ]
    )
    forced = np.array(run.tokens[:-1])[:, None]
    params = run.params
    want = np.array(
        [
            step.logits[0]
            for step in float_decode(
                programs.lm, params.window, params.steps, (params.start,), forced
            )
        ]
    )
    return float(np.linalg.norm(chip - want) / np.linalg.norm(want))


def check_wide_window(subject: Subject) -> str:
    """A window as long as the run is no window at all."""
    steps = min(subject.params[0].steps, 8)
    pool = max(subject.params[0].pool, steps)
    whole = run_decode(replace(subject.params[0], window=None, steps=steps, pool=pool))
    for window in (steps, 10 * steps):
        run = run_decode(replace(whole.params, window=window))
        for got, want in zip(run.steps, whole.steps, strict=True):
            same = np.array_equal(got.image, want.image) and got.program == want.program
            require(same, f"window {window} step {got.step} differs from full attention")
        require(run.tokens == whole.tokens, f"window {window}: other tokens")
    return f"windows {steps} and {10 * steps} of {steps} steps"


def check_programs(subject: Subject) -> str:
    """One program per context size: min(W, steps) of them, and every step uses its own."""
    for run in subject.runs:
        window, steps = run.params.window, run.params.steps
        expected = steps if window is None else min(window, steps)
        require(run.programs == expected, f"window {window}: {run.programs} programs")
        require(
            len({tuple(step.program) for step in run.steps}) == expected,
            f"window {window}: programs of different contexts are equal",
        )
    return ", ".join(str(run.programs) for run in subject.runs)


def check_counters(subject: Subject) -> str:
    """cyc_total = cyc_mm + cyc_dma + cyc_vec + 2 n_inst + 2."""
    for run in subject.runs:
        for step in run.steps:
            c = step.counters
            require(
                c.total == c.mm + c.dma + c.vec + 2 * c.n_inst + 2,
                f"window {run.params.window} step {step.step}: {c}",
            )
    return f"{sum(run.total_cycles for run in subject.runs):,} cycles"


def check_reuse(subject: Subject) -> str:
    """A program that never frees a scratchpad buffer computes the same external memory."""
    first = subject.params[0]
    steps = min(first.steps, 8)
    params = replace(first, window=None, steps=steps, pool=max(first.pool, steps))
    run = run_decode(params)
    try:
        kept = decode_programs(
            params.model, params.seed, None, params.steps, params.depth, reuse=False
        )
    except OutOfMemory as error:
        if error.region != "scratchpad":
            raise
        raise Skip(f"this model needs the reuse: {error}") from error
    for step in run.steps:
        compiled = kept.by_context[step.ctx]
        result = subject.backend().run(compiled, step.image)
        original = subject.backend().machine.run(step.program, step.image, params.latency)
        require(compiled.program != tuple(step.program), "reuse changed no address")
        require(
            bool(np.array_equal(result.ext, original.ext)),
            f"context {step.ctx}: external memory differs without reuse",
        )
    return f"{len(run.steps)} contexts"
