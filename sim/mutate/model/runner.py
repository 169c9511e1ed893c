"""Runs tests on mutants: a forked process for each, in which the module is imported as changed.

pytest, numpy and hypothesis are imported once, before the fork, which is most of a short run.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import hypothesis
import numpy  # noqa: F401 - for those that are forked
import pytest

from sim.mutate.model.generate import Mutant
from sim.mutate.model.pytest_process import Changed, Watch
from sim.shared.errors import ToolError

Ending = Literal["killed", "crash", "timeout", "survived"]

# pytest's exit codes; 2 also when a test file does not import.
PASSED, FAILED, INTERRUPTED, NOT_IMPORTED = 0, 1, 2, 5
CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL)
POLL_SECONDS = 0.02
# Time limits count processor time (see Watch), which another program's load does not use up. So
# whoever is not done after this time was held up: that says nothing about the mutant.
WAIT_SECONDS = 600.0
MEMORY = 8 << 30


class MutationError(ToolError):
    """The tests say nothing about mutants: they fail, or do not run, without one."""


@dataclass
class Running:
    """A mutant under test; ``notes`` is where its process tells what it does.

    ``before`` says how an earlier process ended that decided nothing.
    """

    mutant: Mutant
    deadline: float
    notes: Any
    before: str = ""


@dataclass
class Runner:
    """Runs the tests of one module.

    Attributes:
        root: the project's folder, where pytest runs.
        tests: files for pytest.
        package: that the module lies in.
        seconds: processor time of each test on the unchanged module, by pytest's name.
        kills: how many mutants each test has killed.
    """

    root: Path
    tests: Sequence[str]
    package: str = "model"
    seconds: dict[str, float] = field(default_factory=dict)
    kills: Counter[str] = field(default_factory=Counter)
    _running: dict[int, Running] = field(default_factory=dict)
    _again: list[tuple[Mutant, str]] = field(default_factory=list)

    def baseline(self, module: str, source: str) -> list[Path]:
        """Run without a change, for the time each test takes; returns the files they imported.

        Raises:
            MutationError: the tests fail, or there are none.
        """
        pid, notes = self.start(module, source)
        try:
            status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        except BaseException:
            end(pid)
            raise
        if status != PASSED:
            raise MutationError(
                f"{' '.join(self.tests)}: pytest ends with {status} before anything is changed"
            )
        told = read(notes)
        self.seconds = {note["done"]: note["seconds"] for note in told if "done" in note}
        return [Path(file) for file in told[-1]["files"]]

    def run(
        self, mutants: Iterable[Mutant], jobs: int, done: Callable[[Mutant, Ending, str], None]
    ) -> None:
        """Run the tests on each mutant, ``jobs`` at a time.

        ``done`` hears every verdict, with the test that came to it.

        Raises:
            MutationError: pytest could not run.
        """
        waiting = [(mutant, "") for mutant in mutants][::-1]
        try:
            while waiting or self._running:
                while waiting and len(self._running) < jobs:
                    mutant, before = waiting.pop()
                    pid, notes = self.start(mutant.module, mutant.text)
                    deadline = time.monotonic() + WAIT_SECONDS
                    self._running[pid] = Running(mutant, deadline, notes, before)
                self.collect(done)
                waiting += self._again
                self._again.clear()
        finally:
            for pid in self._running:
                end(pid)

    def collect(self, done: Callable[[Mutant, Ending, str], None]) -> None:
        """Take those that have ended; one that was ended from outside, or held up, runs again.

        Raises:
            MutationError: that happened twice to one mutant.
        """
        time.sleep(POLL_SECONDS)
        for pid, running in list(self._running.items()):
            ended, status = os.waitpid(pid, os.WNOHANG)
            held_up = not ended and time.monotonic() > running.deadline
            if held_up:
                end(pid)
            elif not ended:
                continue
            del self._running[pid]
            told = read(running.notes)
            how = ending(os.waitstatus_to_exitcode(status), held_up)
            if how and how != running.before:
                self._again.append((running.mutant, how))
                continue
            found = verdict(running.mutant, os.waitstatus_to_exitcode(status), how)
            begun = [note["begin"] for note in told if "begin" in note]
            test = begun[-1] if begun and found != "survived" else ""
            self.kills[test] += 1
            done(running.mutant, found, test)

    def start(self, module: str, text: str) -> tuple[int, Any]:
        """Fork a process that runs the tests on this text; returns its id, and its notes."""
        notes = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed by read()
        pid = os.fork()
        if pid:
            return pid, notes
        status = 3
        try:
            gc.freeze()  # a collection would touch, and so copy, every page of the parent
            os.setsid()  # Ctrl-C is for the campaign, which then ends this one
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.chdir(self.root)
            quiet = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(quiet, stream)
            # Those of the parent may belong to its progress bar, with a lock that nobody frees.
            sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            status = self.test(module, text, notes)
        finally:
            os._exit(status)

    def test(self, module: str, text: str, notes: Any) -> int:
        """Run pytest, in the forked process."""
        for loaded in [name for name in sys.modules if name.partition(".")[0] == self.package]:
            del sys.modules[loaded]
        before = set(sys.modules)
        name = f"{self.package}.{module}"
        sys.meta_path.insert(0, Changed(name, text))
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
        watch = Watch(notes, self.seconds, self.kills)
        status = int(pytest.main([*options, *self.tests], plugins=[watch]))
        watch.note_files(self.root, set(sys.modules) - before)
        # A test that never imports the module would call every mutant a survivor.
        return status if name in sys.modules or status else NOT_IMPORTED


def read(notes: Any) -> list[dict[str, Any]]:
    """Everything a process wrote down."""
    with notes:
        notes.seek(0)
        return [json.loads(line) for line in notes if line.endswith("\n")]


def ending(code: int, held_up: bool = False) -> str:
    """Say what made a process end that did not come to its own end; empty when it did."""
    if held_up:
        return f"not done after {WAIT_SECONDS:.0f} s, without using the processor"
    return signal.Signals(-code).name if code < 0 and code != -signal.SIGXCPU else ""


def verdict(mutant: Mutant, code: int, how: str = "") -> Ending:
    """What pytest's exit code says about the mutant, and ``how`` the process ended, twice.

    Raises:
        MutationError: pytest could not run, or did not come to its end.
    """
    where = f"{mutant.where}: {mutant.key}"
    if how and -code not in CRASHES:
        raise MutationError(f"{where}: ended twice from outside: {how}")
    if how:
        return "crash"  # an end that every test would notice
    if code == PASSED:
        return "survived"
    if code == -signal.SIGXCPU:
        return "timeout"
    if code in (FAILED, INTERRUPTED):
        return "killed"
    raise MutationError(f"pytest ends with {code} on {where}")


def end(pid: int) -> None:
    """End a forked process and what it started."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:  # not yet the leader of a group, or gone
        os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
