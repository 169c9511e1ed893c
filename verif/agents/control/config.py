"""Settings of the control agent."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from model.chip.image import Words
from model.chip.isa import SPAD_WORDS


def _all_zero() -> Words:
    return np.zeros(SPAD_WORDS, dtype=np.uint32)


@dataclass(frozen=True)
class ControlConfig:
    """What driver and monitor are told, once.

    Attributes:
        folder: where the HDL testbench reads and writes its files: its working directory.
        period: of the clock in ns, ``ga2_tb.Period``.
        power_up: scratchpad that comes with the first program that brings none, uint32 (4096,):
            all zero, like the model's. None leaves the chip as it woke up.
    """

    folder: Path
    period: int
    power_up: Words | None = field(default_factory=_all_zero)
