"""Failures by class, to know one again and to report each only once."""

from __future__ import annotations

import re

from verif.items.result import MISMATCH_KINDS, ProgramResult

_OPERATION = re.compile(r"pc \d+ `(?:\.word \w+ ; )?(\w+)")

FailureClass = tuple[str, str]
"""Its first kind of mismatch, by MISMATCH_KINDS; the operation that went wrong first, if known."""


def failure_class(result: ProgramResult) -> FailureClass | None:
    """Class of a failing program; None for one that passed."""
    kinds = {mismatch.kind for mismatch in result.mismatches}
    if not kinds:
        return None
    operation = _OPERATION.match(result.first_divergence)
    return next(kind for kind in MISMATCH_KINDS if kind in kinds), operation[1] if operation else ""
