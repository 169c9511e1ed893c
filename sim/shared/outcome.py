"""How a test, a job or a front end ended."""

from __future__ import annotations

from enum import Enum


class Outcome(str, Enum):
    """The one vocabulary of ends, as it stands in result files."""

    PASSED = "passed"  # ran, compared something and found no fault
    FAILED = "failed"  # ran, and something is not as it should be
    ERROR = "error"  # could not be carried out: no build, no such file, a full disk
    CRASHED = "crashed"  # ended before its end
    TIMEOUT = "timeout"  # was ended: too long, or without progress
    LOST = "lost"  # nobody knows: its machine went away
    INTERRUPTED = "interrupted"  # by Ctrl-C
    SKIPPED = "skipped"  # did not run, for a reason that is given

    def __str__(self) -> str:
        return self.value

    @classmethod
    def of(cls, passed: bool) -> Outcome:
        """Return the end of what ran to its end."""
        return cls.PASSED if passed else cls.FAILED

    @property
    def bad(self) -> bool:
        """Whether something is wrong: neither passed nor skipped on purpose."""
        return self not in (Outcome.PASSED, Outcome.SKIPPED)

    @property
    def finished(self) -> bool:
        """Whether there is a verdict."""
        return self in (Outcome.PASSED, Outcome.FAILED)
