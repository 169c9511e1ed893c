"""Child processes that leave nothing behind: all of this project are started here.

A child leads a session of its own. It ends by itself, at its time limit, or with whoever started
it, however that ends: the guard, a tiny process, sees that this one is gone, even by SIGKILL. Also
what left the child's group is found then, by a mark that all its descendants inherit.
"""

from __future__ import annotations

import atexit
import contextlib
import itertools
import os
import select
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import psutil

from sim.shared.guard import Guard

MARK = "GA2_CHILD"  # to a child and all that it starts: words, one for each child it belongs to

_stopping = threading.Event()
_guard = Guard()
atexit.register(_guard.close)


class StoppedError(RuntimeError):
    """Everything is being stopped: what ran neither passed nor failed."""


class Ended(Enum):
    """How a child process came to its end."""

    EXITED = "exited"
    CRASHED = "crashed"  # a signal that nobody here sent
    TIMED_OUT = "timed out"
    STALLED = "made no progress"
    ASLEEP = "did nothing"  # held up, or waiting for what never comes


@dataclass(frozen=True)
class ChildExit:
    """How a child ended: exit code (negative for a signal), whether by time limit, seconds."""

    code: int
    timed_out: bool
    seconds: float


class Child:
    """A process group of its own that does not outlive this process, however that ends.

    Attributes:
        pid: of the group and its leader.
        code: exit code, negative for a signal; None before ``end``.
    """

    def __init__(
        self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], log: Path | None
    ) -> None:
        """Start ``argv`` in ``cwd``, without input; what it says is appended to ``log``.

        Without a log, input and output are pipes of text, see ``run_captured``.
        """
        self.mark = uuid.uuid4().hex
        marks = f"{os.environ.get(MARK, '')} {self.mark}".strip()
        # The guard learns of it first: this process may be killed as soon as the child runs.
        with _guard.starting(self.mark):
            with log.open("ab") if log else contextlib.nullcontext(subprocess.PIPE) as stream:
                self._process = subprocess.Popen(
                    argv,
                    cwd=cwd,
                    env={**env, MARK: marks},
                    stdin=subprocess.DEVNULL if log else subprocess.PIPE,
                    stdout=stream,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    encoding="utf-8",
                    errors="backslashreplace",
                )
            self.pid = self._process.pid
            self.code: int | None = None
            _guard.add(self.pid, self.mark)

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def running(self, seconds: float = 0.0) -> bool:
        """Wait so long for the end of the leader; say whether it still runs.

        It is not reaped before ``end``: until then no other process is given its number.
        """
        if self.code is not None or self._process.returncode is not None:
            return False
        try:
            handle = os.pidfd_open(self.pid)
        except (AttributeError, OSError):  # not Linux, or a kernel before 5.3
            return self._running_polling(seconds)
        try:
            poller = select.poll()
            poller.register(handle, select.POLLIN)
            return not poller.poll(seconds * 1000)
        finally:
            os.close(handle)

    def _running_polling(self, seconds: float) -> bool:
        """Do what ``running`` does with ``waitid``, a look every 20 ms."""
        end = time.monotonic() + seconds
        while os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
            if time.monotonic() >= end:
                return True
            time.sleep(0.02)
        return False

    def cpu_seconds(self) -> float:
        """Return the processor time that the processes of the group have used so far."""
        total = 0.0
        with contextlib.suppress(psutil.Error):
            leader = psutil.Process(self.pid)
            for process in (leader, *leader.children(recursive=True)):
                with contextlib.suppress(psutil.Error):
                    times = process.cpu_times()
                    total += times.user + times.system
        return total

    def lines(self) -> Iterator[str]:
        """Return what it says as it says it, when that goes to no log."""
        yield from self._process.stdout or ()

    def communicate(self, text: str) -> str:
        """Give it ``text``, and return what it says until its end, when that goes to no log."""
        return self._process.communicate(text)[0]

    def end(self) -> None:
        """Kill what still runs of it; return when it is gone. Harmless when it has ended."""
        if self.code is not None:
            return
        forced = self.running()
        kill_tree(self.pid, alone=not forced)
        self.code = self._process.wait()
        if self.code < 0:  # its descendants have no living parent by which to be found
            kill_marked(self.mark)
        # What died with its leader may outlive it by a moment, and holds files in folders that go.
        for _ in range(100 if forced else 0):
            try:
                os.killpg(self.pid, 0)
            except (ProcessLookupError, PermissionError):
                break
            time.sleep(0.01)
        for stream in (self._process.stdin, self._process.stdout):
            if stream:
                stream.close()
        _guard.remove(self.pid)


def run_to_end(argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], log: Path) -> int:
    """Run ``argv``, which an exception here ends, too; return its exit code."""
    with Child(argv, cwd=cwd, env=env, log=log) as child:
        while child.running(3600.0):
            pass
    return child.code or 0


def run_captured(
    argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], text: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run ``argv`` with ``text`` as its input; return exit code and all that it said.

    Bytes that are no UTF-8 show as escapes; errors are among the output.

    Raises:
        OSError: there is no such program.
    """
    with Child(argv, cwd=cwd, env=env, log=None) as child:
        said = child.communicate(text)
    return subprocess.CompletedProcess(argv, child.code or 0, said)


def run_child(
    argv: Sequence[str], *, cwd: Path, log: Path, timeout: float, env: Mapping[str, str]
) -> ChildExit:
    """Run ``argv`` for at most ``timeout`` seconds, with output in ``log``.

    Raises:
        StoppedError: ``stop`` was called before or while it ran.
    """
    check()
    begin = time.monotonic()
    with Child(argv, cwd=cwd, env=env, log=log) as child:
        # stop() may have run between the check above and the start.
        timed_out = child.running(0.0 if _stopping.is_set() else timeout)
    check()
    return ChildExit(child.code or 0, timed_out, time.monotonic() - begin)


def stop() -> int:
    """Kill all children of this process, and have ``run_child`` start no more; say how many."""
    _stopping.set()
    pids = _guard.pids()
    for pid in pids:
        kill_tree(pid)
    return len(pids)


def check() -> None:
    """Raise StoppedError when everything is being stopped."""
    if _stopping.is_set():
        raise StoppedError


def kill_tree(pid: int, alone: bool = False) -> None:
    """Kill every process group that ``pid`` or one of its descendants is in, the own one last.

    A group dies at once, so nothing in it can start something new while its parents die.

    Args:
        pid: of the leader of a group.
        alone: it has ended, so that nothing is known any more of its descendants.
    """
    groups = set()
    with contextlib.suppress(psutil.NoSuchProcess):
        for member in () if alone else psutil.Process(pid).children(recursive=True):
            with contextlib.suppress(ProcessLookupError):
                groups.add(os.getpgid(member.pid))
    for group in (*(groups - {pid}), pid):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


def kill_marked(mark: str) -> None:
    """Kill what carries a mark, whoever its parent is by now."""
    # Twice: one that is being started while the others die carries the mark a moment later.
    for process in itertools.chain(psutil.process_iter(), psutil.process_iter()):
        with contextlib.suppress(psutil.Error, OSError):
            if mark in process.environ().get(MARK, ""):
                process.kill()
