"""What the software checks look at, and what a check may raise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from model.decode.backend import MachineBackend
from model.decode.programs import DecodePrograms, decode_programs
from model.decode.workload import DecodeParams, DecodeRun, run_decode


@dataclass(frozen=True)
class Check:
    """Outcome of one check. verdict: "pass", "fail" or "skip" (nothing to check)."""

    name: str
    verdict: str
    detail: str
    seconds: float = 0.0


class Skip(Exception):  # noqa: N818 - not an error
    """Raised by a check that does not apply to these parameters."""


class Subject:
    """What is under check: one decode run per window, made at the first use."""

    def __init__(self, params: DecodeParams, windows: Sequence[int | None]) -> None:
        self.params = [replace(params, window=window) for window in windows]

    @cached_property
    def runs(self) -> list[DecodeRun]:
        """Decode runs, one per window."""
        return [run_decode(params) for params in self.params]

    def programs(self, params: DecodeParams) -> DecodePrograms:
        """Compiled programs of one window."""
        return decode_programs(params.model, params.seed, params.window, params.steps, params.depth)

    def backend(self) -> MachineBackend:
        """A fresh reference machine."""
        return MachineBackend(self.params[0].depth, self.params[0].latency)


def require(condition: bool, message: str) -> None:
    """Raise AssertionError with the message unless the condition holds."""
    if not condition:
        raise AssertionError(message)
