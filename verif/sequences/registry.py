"""Sequences by the name a job gives."""

from __future__ import annotations

from verif.items.job import Job
from verif.sequences.base import ProgramSequence
from verif.sequences.items import ItemsSequence
from verif.sequences.random_programs import RandomSequence
from verif.sequences.shrink import ShrinkSequence

SEQUENCES: dict[str, type[ProgramSequence]] = {
    "items": ItemsSequence,
    "random": RandomSequence,
    "shrink": ShrinkSequence,
}


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
