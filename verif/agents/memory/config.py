"""Settings of the memory agent."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MemoryConfig:
    """What the reactive driver is told, once.

    Attributes:
        period: of the clock in ns.
    """

    period: int
