"""Failures by class, to know one again and to report each only once."""

from __future__ import annotations

import re

from verif.items.result import ProgramResult

# What kind of failure it is: the first of these among a program's mismatches.
KINDS = (
    *("testbench", "x", "hang", "fault", "retire", "protocol", "traffic", "memory", "counter"),
)
_OPERATION = re.compile(r"pc \d+ `(?:\.word \w+ ; )?(\w+)")

FailureClass = tuple[str, str]
"""Kind of mismatch, and the operation that went wrong first (empty if none is known)."""


def failure_class(result: ProgramResult) -> FailureClass | None:
    """Class of a failing program; None for one that passed."""
    kinds = {mismatch.kind for mismatch in result.mismatches}
    if not kinds:
        return None
    operation = _OPERATION.match(result.first_divergence)
    return next(kind for kind in KINDS if kind in kinds), operation[1] if operation else ""
