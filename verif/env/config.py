"""Configuration and shared state of one environment, placed in pyuvm's ConfigDB as ``config``."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from model.chip.image import Words
from model.chip.isa import SPAD_WORDS
from model.chip.machine import DEFAULT_DEPTH
from verif.items.program_item import ProgramItem
from verif.items.result import ProgramResult


def _power_up() -> Words:
    return np.zeros(SPAD_WORDS, dtype=np.uint32)


@dataclass
class EnvConfig:
    """What the components need to know of each other.

    Attributes:
        folder: where the HDL testbench reads and writes its files: its working directory.
        period: of the clock in ns, ``ga2_tb.Period``.
        probed: the design has the names that the retire probe looks at (a netlist has not).
        keep_retires: put the observed retire records into every result.
        keep_memory: leave the last program's final external memory in the job's folder.
        coverage: collect functional coverage.
        depth: external memory of the program in the testbench.
        resync: scratchpad to load before the next item that brings none. At first all zero, like
            the model's; after a mismatch what the model says, so that one fault is not reported
            again by every program that follows.
        last: the scoreboard's result of the last program, for sequences that go by it.
    """

    folder: Path
    period: int = 2
    probed: bool = True
    keep_retires: bool = False
    keep_memory: bool = False
    coverage: bool = True
    depth: int = DEFAULT_DEPTH
    resync: Words | None = field(default_factory=_power_up)
    last: ProgramResult | None = None

    def scratchpad_for(self, item: ProgramItem) -> Words | None:
        """Scratchpad to load with ``item``; None keeps what is there. Ends a resync."""
        resync, self.resync = self.resync, None
        spad = item.spad if item.spad is not None else resync
        if not self.probed:
            if item.spad is not None:
                raise ValueError(f"item {item.name!r} brings a scratchpad; a netlist takes none")
            return None
        return spad
