"""Runs tests on mutants: a forked process for each, in which the module is imported as changed.

pytest, numpy and hypothesis are imported once, before the fork, which is most of a short run.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Literal

import hypothesis
import numpy  # noqa: F401 - for those that are forked
import pytest

from sim.mutate_model.generate import Mutant

Verdict = Literal["killed", "timeout", "survived"]

PASSED, FAILED, INTERRUPTED = (
    0,
    1,
    2,
)  # pytest's exit codes; 2 also when a test file does not import
POLL_SECONDS = 0.02


class MutationError(RuntimeError):
    """The tests say nothing about mutants: they fail, or do not run, without one."""


@dataclass
class Runner:
    """Runs the tests of one module.

    Attributes:
        root: the project's folder, where pytest runs.
        tests: arguments for pytest: files, or single tests, those that kill most first.
        package: that the module lies in.
    """

    root: Path
    tests: Sequence[str]
    package: str = "model"
    limit: float = 60.0
    _running: dict[int, tuple[Mutant, float]] = field(default_factory=dict)

    def baseline(self, module: str, source: str) -> float:
        """Run without a change; returns the seconds it took and sets the limit of the others.

        Raises:
            MutationError: the tests fail, or there are none.
        """
        begin = time.monotonic()
        status = os.waitstatus_to_exitcode(os.waitpid(self.start(module, source), 0)[1])
        if status != PASSED:
            raise MutationError(
                f"{' '.join(self.tests)}: pytest ends with {status} before anything is changed"
            )
        seconds = time.monotonic() - begin
        self.limit = 4 * seconds + 10
        return seconds

    def run(
        self, mutants: Iterable[Mutant], jobs: int, done: Callable[[Mutant, Verdict], None]
    ) -> None:
        """Run the tests on each mutant, ``jobs`` at a time; ``done`` hears every verdict.

        Raises:
            MutationError: pytest could not run.
        """
        waiting = list(mutants)[::-1]
        try:
            while waiting or self._running:
                while waiting and len(self._running) < jobs:
                    mutant = waiting.pop()
                    pid = self.start(mutant.module, mutant.text)
                    self._running[pid] = mutant, time.monotonic() + self.limit
                self.collect(done)
        finally:
            for pid in self._running:
                end(pid)

    def collect(self, done: Callable[[Mutant, Verdict], None]) -> None:
        """Take those that have ended, and end those that have run too long."""
        time.sleep(POLL_SECONDS)
        for pid, (mutant, deadline) in list(self._running.items()):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                del self._running[pid]
                done(mutant, verdict(mutant, os.waitstatus_to_exitcode(status)))
            elif time.monotonic() > deadline:
                del self._running[pid]
                end(pid)
                done(mutant, "timeout")

    def start(self, module: str, text: str) -> int:
        """Fork a process that runs the tests on this text; returns its id."""
        pid = os.fork()
        if pid:
            return pid
        status = 3
        try:
            os.setsid()
            os.chdir(self.root)
            quiet = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(quiet, stream)
            status = self.test(module, text)
        finally:
            os._exit(status)

    def test(self, module: str, text: str) -> int:
        """Run pytest, in the forked process."""
        name = f"{self.package}.{module}"
        sys.meta_path.insert(0, _Changed(name, text))
        # No examples of an earlier run, none for a later one, no search for the shortest.
        hypothesis.settings.register_profile(
            "mutants",
            deadline=None,
            derandomize=True,
            database=None,
            phases=(hypothesis.Phase.explicit, hypothesis.Phase.generate),
            suppress_health_check=list(hypothesis.HealthCheck),
        )
        hypothesis.settings.load_profile("mutants")
        # Looking for plugins takes longer than most tests.
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        options = ["-x", "-q", "--tb=no", "-p", "no:cacheprovider", "-p", "no:junitxml"]
        status = int(pytest.main([*options, *self.tests]))
        # A test that never imports the module would call every mutant a survivor.
        return status if name in sys.modules or status else 5


def verdict(mutant: Mutant, status: int) -> Verdict:
    """What pytest's exit code says about the mutant.

    Raises:
        MutationError: pytest could not run.
    """
    if status == PASSED:
        return "survived"
    # Below 0: a signal ended it, which is an end that every test would notice.
    if status in (FAILED, INTERRUPTED) or status < 0:
        return "killed"
    raise MutationError(f"pytest ends with {status} on {mutant.module}: {mutant.key}")


def end(pid: int) -> None:
    """End a forked process and what it started."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:  # not yet the leader of a group, or gone
        os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


class _Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds and loads one module from a text."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.name:
            return None
        return importlib.util.spec_from_loader(fullname, self, origin=f"changed {fullname}")

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self.text, f"<changed {self.name}>", "exec"), module.__dict__)
