"""Every language model there is, by name."""

from __future__ import annotations

from model.decode import tiny_lm
from model.decode.float_decode import Calibration, calibrate
from model.decode.language_model import LanguageModel
from model.decode.text_calibration import calibrate_on_text
from model.errors import ParameterError
from model.trained import lm as trained
from model.trained.shape import ALPHABET

KINDS = (*tiny_lm.KINDS, *trained.KINDS)
# Words of external memory: the tiny models' programs fit the first, the trained ones' the second.
TINY_DEPTH, TRAINED_DEPTH = 8192, 32768


def language_model(kind: str, seed: int) -> LanguageModel:
    """Return a model; ``seed`` is that of drawn weights. Raises ParameterError."""
    if kind not in KINDS:
        raise ParameterError("model", kind, "one of " + ", ".join(KINDS))
    return trained.trained_lm(kind) if kind in trained.KINDS else tiny_lm.tiny_lm(kind, seed)


def calibration_of(lm: LanguageModel, window: int | None, steps: int) -> Calibration:
    """Return the ranges of a model: seen on a text if it was trained, else in its own decoding."""
    if isinstance(lm, trained.TrainedLm):
        return calibrate_on_text(lm, window, steps)
    return calibrate(lm, window, steps)


def alphabet_of(kind: str) -> str | None:
    """Return the characters that a model's tokens stand for; None where they stand for nothing."""
    return ALPHABET if kind in trained.KINDS else None


def vocabulary_of(kind: str) -> int:
    """Return how many tokens a model knows."""
    return len(alphabet_of(kind) or range(tiny_lm.VOCABULARY))


def default_depth(kind: str) -> int:
    """Return the words of external memory that a model's programs need, rounded up."""
    return TRAINED_DEPTH if kind in trained.KINDS else TINY_DEPTH
