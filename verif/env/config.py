"""Settings of one environment, placed in pyuvm's ConfigDB as ``config``; nobody writes to them."""

from __future__ import annotations

from dataclasses import dataclass

from verif.agents.control.config import ControlConfig
from verif.agents.memory.config import MemoryConfig


@dataclass(frozen=True)
class EnvConfig:
    """What the environment's components are told, once; each agent gets its own part.

    Attributes:
        control: of the control agent.
        memory: of the memory agent.
        keep_retires: put the observed retire records into every result.
        keep_memory: leave the last program's final external memory in the job's folder.
        coverage: collect functional coverage.
    """

    control: ControlConfig
    memory: MemoryConfig
    keep_retires: bool = False
    keep_memory: bool = False
    coverage: bool = True
