"""The programs of a decode run: one per context size, shared by all steps that have it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from model.compiler.codegen import compile_graph
from model.compiler.compiled import Compiled
from model.decode.float_decode import Calibration, context_size
from model.decode.language_model import LanguageModel
from model.decode.models import calibration_of, language_model
from model.errors import ParameterError


@dataclass(frozen=True, eq=False)
class DecodePrograms:
    """One model under one window, compiled.

    by_context: context size -> program; with a window of W tokens only 1..W occur.
    """

    lm: LanguageModel
    calibration: Calibration
    by_context: Mapping[int, Compiled]

    @property
    def window(self) -> int | None:
        """Tokens a step attends, the new one included; None for all."""
        return self.calibration.window

    @property
    def notes(self) -> tuple[str, ...]:
        """The compiler's notes on all programs, smallest context first, each told once."""
        contexts: dict[str, list[int]] = {}
        for context, compiled in self.by_context.items():
            for note in compiled.notes:
                contexts.setdefault(note, []).append(context)
        return tuple(f"context {_span(of)}: {note}" for note, of in contexts.items())

    def for_step(self, step: int) -> tuple[int, Compiled]:
        """Context size of a step (counted from 1) and its program. Raises ParameterError."""
        context = context_size(step, self.window)
        if context not in self.by_context:
            raise ParameterError("context", context, f"one of 1..{max(self.by_context)}, compiled")
        return context, self.by_context[context]


def _span(contexts: Sequence[int]) -> str:
    return ", ".join(map(str, contexts)) if len(contexts) < 3 else f"{contexts[0]}..{contexts[-1]}"


@lru_cache(maxsize=64)
def decode_programs(
    kind: str, seed: int, window: int | None, steps: int, depth: int, reuse: bool = True
) -> DecodePrograms:
    """Build, calibrate over ``steps`` steps, and compile for ``depth`` words of external memory.

    Raises ParameterError or CompileError.
    """
    lm = language_model(kind, seed)
    calibration = calibration_of(lm, window, steps)
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
