"""Settings of the memory agent."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class MemoryConfig:
    """What reactive driver and monitor are told, once.

    Attributes:
        folder: where the HDL testbench writes its files: its working directory.
        period: of the clock in ns.
    """

    folder: Path
    period: int
