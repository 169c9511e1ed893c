"""The programs of a decode run: one per context size, shared by all steps that have it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from model.compiler.codegen import compile_graph
from model.compiler.compiled import Compiled
from model.decode.float_decode import Calibration, calibrate, context_size
from model.decode.tiny_lm import TinyLm, tiny_lm
from model.errors import ParameterError


@dataclass(frozen=True, eq=False)
class DecodePrograms:
    """One model under one window, compiled.

    by_context: context size -> program; with a window of W tokens only 1..W occur.
    """

    lm: TinyLm
    calibration: Calibration
    by_context: Mapping[int, Compiled]

    @property
    def window(self) -> int | None:
        """Tokens a step attends, the new one included; None for all."""
        return self.calibration.window

    @property
    def notes(self) -> tuple[str, ...]:
        """The compiler's notes on all programs, smallest context first."""
        return tuple(f"context {n}: {note}" for n, c in self.by_context.items() for note in c.notes)

    def for_step(self, step: int) -> tuple[int, Compiled]:
        """Context size of a step (counted from 1) and its program. Raises ParameterError."""
        context = context_size(step, self.window)
        if context not in self.by_context:
            raise ParameterError("context", context, f"one of 1..{max(self.by_context)}, compiled")
        return context, self.by_context[context]


@lru_cache(maxsize=64)
def decode_programs(
    kind: str, seed: int, window: int | None, steps: int, depth: int, reuse: bool = True
) -> DecodePrograms:
    """Build, calibrate over ``steps`` steps, and compile for ``depth`` words of external memory.

    Raises ParameterError or CompileError.
    """
    lm = tiny_lm(kind, seed)
    calibration = calibrate(lm, window, steps)
    compiled = {
        context: compile_graph(
            lm.decode_graph(context),
            ranges,
            calibration.tag_ranges,
            ext_words=depth,
            reuse=reuse,
        )
        for context, ranges in calibration.ranges.items()
    }
    return DecodePrograms(lm, calibration, compiled)
