"""Sequences by the name a job gives: every class of this package, found by itself."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re

import verif.sequences
from verif.items.job import Job
from verif.sequences.base import ProgramSequence

_SUFFIX = "Sequence"


def _found() -> dict[str, type[ProgramSequence]]:
    """Subclasses of ``ProgramSequence`` as ``my_own`` for ``MyOwnSequence``."""
    found: dict[str, type[ProgramSequence]] = {}
    for module in pkgutil.walk_packages(verif.sequences.__path__, "verif.sequences."):
        if module.name == __name__:
            continue
        for name, kind in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if issubclass(kind, ProgramSequence) and kind.__module__ == module.name:
                short = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.removesuffix(_SUFFIX)).lower()
                found[short] = kind
    del found["program"]  # the base
    return found


SEQUENCES: dict[str, type[ProgramSequence]] = _found()


class UnknownSequenceError(KeyError):
    """A job names a sequence that does not exist."""


def make_sequence(job: Job) -> ProgramSequence:
    """The sequence that ``job`` asks for.

    Raises:
        UnknownSequenceError: there is none of that name.
    """
    try:
        kind = SEQUENCES[job.sequence]
    except KeyError:
        known = ", ".join(sorted(SEQUENCES))
        raise UnknownSequenceError(f"sequence {job.sequence!r} is none of: {known}") from None
    return kind(job.sequence, job)
