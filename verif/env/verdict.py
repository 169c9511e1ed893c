"""A judged program, for whoever listens behind the scoreboard: result log, coverage."""

from __future__ import annotations

from dataclasses import dataclass

from verif.agents.control.observation import Observation
from verif.env.predictor import Prediction
from verif.items.result import ProgramResult


@dataclass(frozen=True)
class Verdict:
    """What was expected, what was seen, what the scoreboard said."""

    prediction: Prediction
    seen: Observation
    result: ProgramResult
