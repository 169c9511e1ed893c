"""What a mutation campaign and its simulations tell each other: a task, verdicts, JSON lines."""

from __future__ import annotations

import fcntl
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from verif.mutation.test_series import TestSeries

TASK = "mutation"
"""Name of the task among the parameters of a simulation's job."""

UNIT_TESTS = "unit tests"
"""Among the tests that a mutant survived: those of its module by itself."""

UNIT_TEST = "unit test"
"""The check that fails there."""


@dataclass(frozen=True)
class MutationTask:
    """What one simulation of a campaign is to do.

    Attributes:
        control: signal of the design that takes the number of the mutant to bring to life.
        numbers: of the mutants, shared by all simulations of the campaign through the queue.
        files: number of each mutant to the source file it is in.
        tests: what a mutant has to survive.
        queue, log: files for positions in ``numbers``, and for what happens.
        judge_design: run every test on the design itself first.
        budget: cost of the tests that one mutant gets (cycles, and some for each program).
        survived: tests that a mutant need not run again.
        history: (file, test) of known kills; says which tests to try first.
    """

    control: str
    numbers: Sequence[int]
    files: Mapping[int, str]
    tests: Sequence[TestSeries]
    queue: Path
    log: Path
    judge_design: bool = False
    budget: float = math.inf
    survived: Mapping[int, Sequence[str]] = field(default_factory=dict)
    history: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class MutantVerdict:
    """What became of a mutant in a simulation, or in a build of its own.

    Attributes:
        killed: a check failed.
        checks: kinds of the checks that failed, in the order found (see ``MismatchKind``; ``crash``
            when the simulator did not live to say one).
        test, program: what was running.
        message: the first mismatch in words.
        programs: programs run until the verdict.
        seconds: wall-clock time until the verdict.
        survived: names of the tests that a surviving mutant passed.
        number: of the mutant in a copy that holds them all; 0 is the design itself.
    """

    killed: bool
    checks: tuple[str, ...] = ()
    test: str = ""
    program: str = ""
    message: str = ""
    programs: int = 0
    seconds: float = 0.0
    survived: tuple[str, ...] = ()
    number: int = 0


class Queue:
    """Positions 0, 1, 2, ... handed out to several processes, each once."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def reset(self) -> None:
        """Begin again at 0."""
        self.path.write_text("0")

    def take(self) -> int:
        """Return the next position."""
        with open(self.path, "r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            position = int(file.read() or 0)
            file.seek(0)
            file.write(str(position + 1))
            file.truncate()
        return position


class EventLog:
    """Appends JSON lines to a file, each at once: the process may be killed by a mutant."""

    def __init__(self, path: Path) -> None:
        self.file = open(path, "a", encoding="utf-8")  # noqa: SIM115

    def write(self, kind: str, **fields: Any) -> None:
        """Append one line."""
        self.file.write(json.dumps({"type": kind, **fields}) + "\n")
        self.file.flush()
