"""Run one child process group with a time limit, and leave nothing of it behind.

Three things end a child: its own exit, its time limit, and the end of whoever started it. For the
last one the child inherits the read end of a pipe, the leash: when the worker dies for any reason,
even by SIGKILL, the kernel closes the other end and the child kills its own tree.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import psutil

LEASH = "GA2_REGRESS_LEASH"  # to a child: the file descriptor that ends with its worker
MARK = "GA2_REGRESS_JOB"  # to all processes of a job: its folder

_lock = threading.Lock()
_live: set[int] = set()
_stopping = threading.Event()


class StoppedError(RuntimeError):
    """Everything is being stopped: what ran neither passed nor failed."""


@dataclass(frozen=True)
class ChildExit:
    """How a child ended: exit code (negative for a signal), whether by time limit, seconds."""

    code: int
    timed_out: bool
    seconds: float


def kill_tree(pid: int) -> None:
    """Kill every process group that ``pid`` or one of its descendants is in, the own one last.

    A group dies at once, so nothing in it can start something new while its parents die.
    """
    try:
        family = psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        family = []
    groups = []
    for member in family:
        with contextlib.suppress(ProcessLookupError):
            groups.append(os.getpgid(member.pid))
    with contextlib.suppress(ProcessLookupError):
        groups.append(os.getpgid(pid))
    for group in sorted(set(groups), key=lambda value: value == os.getpgrp()):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


def kill_marked(folder: str) -> None:
    """Kill what belongs to the job of ``folder`` but has no living parent any more."""
    own = os.getpgrp()
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == folder and os.getpgid(process.pid) != own:
                os.killpg(os.getpgid(process.pid), signal.SIGKILL)
        except (psutil.Error, OSError):
            continue


def run_child(
    argv: Sequence[str], *, cwd: Path, log: Path, timeout: float, env: dict[str, str]
) -> ChildExit:
    """Run ``argv`` in its own session with output in ``log``; kill its tree at ``timeout``.

    Raises:
        StoppedError: the regression was stopped before or while the child ran.
    """
    check()
    begin = time.monotonic()
    read_end, write_end = os.pipe()
    try:
        with log.open("ab") as stream:
            child = subprocess.Popen(
                argv,
                cwd=cwd,
                env={**env, LEASH: str(read_end), MARK: str(cwd)},
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=(read_end,),
            )
        with _lock:
            _live.add(child.pid)
        try:
            # stop() may have run between the check above and the registration.
            if _stopping.is_set():
                kill_tree(child.pid)
            timed_out = not _wait(child, timeout)
            # The leader is still a zombie here, so its group id cannot have been reused.
            kill_tree(child.pid)
            code = child.wait()
            if code < 0:
                kill_marked(str(cwd))
        finally:
            with _lock:
                _live.discard(child.pid)
    finally:
        os.close(read_end)
        os.close(write_end)
    check()
    return ChildExit(code, timed_out, time.monotonic() - begin)


def _wait(child: subprocess.Popen[bytes], timeout: float) -> bool:
    """Wait for the end of ``child`` without reaping it; False when ``timeout`` seconds passed."""
    try:
        handle = os.pidfd_open(child.pid)
    except (AttributeError, OSError):  # not Linux, or a kernel before 5.3
        return _wait_polling(child, timeout)
    try:
        poller = select.poll()
        poller.register(handle, select.POLLIN)
        return bool(poller.poll(timeout * 1000))
    finally:
        os.close(handle)


def _wait_polling(child: subprocess.Popen[bytes], timeout: float) -> bool:
    """Do what ``_wait`` does with ``waitid``, a look every 20 ms."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        if os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None:
            return True
        time.sleep(0.02)
    return False


def stop() -> int:
    """Kill every child of this process and start no more; return how many were running."""
    _stopping.set()
    with _lock:
        pids = list(_live)
    for pid in pids:
        kill_tree(pid)
    return len(pids)


def check() -> None:
    """Raise StoppedError when the regression is being stopped."""
    if _stopping.is_set():
        raise StoppedError


def reset() -> None:
    """Allow children again, for a process that runs a second regression."""
    _stopping.clear()


def running() -> int:
    """Return how many children of this process are running now."""
    with _lock:
        return len(_live)


def hold_leash() -> None:
    """In a child: die with the process that started us. Does nothing without a leash."""
    value = os.environ.pop(LEASH, None)
    if value is None:
        return
    handle = int(value)
    os.set_inheritable(handle, False)

    def watch() -> None:
        os.read(handle, 1)
        kill_marked(os.environ.get(MARK, ""))
        kill_tree(os.getpid())

    threading.Thread(target=watch, name="leash", daemon=True).start()


class Ended(Enum):
    """How a child process came to its end."""

    EXITED = "exited"
    CRASHED = "crashed"  # a signal that nobody here sent
    TIMED_OUT = "timed out"
    STALLED = "made no progress"
    ASLEEP = "did nothing"  # held up, or waiting for what never comes


class Child:
    """A process group of its own that does not outlive this process, however that ends.

    Attributes:
        pid: of the group and its leader.
    """

    def __init__(
        self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], log: Path
    ) -> None:
        """Start ``argv`` in ``cwd``, without input; what it says is appended to ``log``."""
        with log.open("ab") as stream:
            self._process = subprocess.Popen(
                argv,
                cwd=cwd,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.pid = self._process.pid
        self.code: int | None = None
        _guard.add(self.pid)

    def running(self, seconds: float = 0.0) -> bool:
        """Wait so long for the end of the leader; say whether it still runs."""
        try:
            self.code = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return True
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

    def end(self) -> None:
        """Kill what still runs of it; return when it is gone. Harmless when it has ended."""
        forced = self.code is None
        if forced:
            kill_tree(self.pid)
            self.code = self._process.wait()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        # What died with its leader may outlive it by a moment, and holds files in folders that go.
        for _ in range(100 if forced else 0):
            try:
                os.killpg(self.pid, 0)
            except (ProcessLookupError, PermissionError):
                break
            time.sleep(0.01)
        _guard.remove(self.pid)


def run_to_end(argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], log: Path) -> int:
    """Run ``argv`` as a ``Child``, which an exception here ends, too; return its exit code."""
    child = Child(argv, cwd=cwd, env=env, log=log)
    try:
        while child.running(3600.0):
            pass
    finally:
        child.end()
    return child.code or 0


class _Guard:
    """A tiny process that kills the registered groups as soon as this process is gone.

    It reads a pipe whose other end only this process holds: the kernel closes that also after
    SIGKILL. A thread of the child's own could not do it: a simulator that is caught in a loop, or
    that has not started Python yet, runs no thread of ours.
    """

    SCRIPT = (
        "live=' '; while read -r verb pid; do case $verb in "
        '+) live="$live$pid ";; '
        '-) live="${live%%" $pid "*} ${live#*" $pid "}";; '
        "esac; done; for pid in $live; do kill -s KILL -- -$pid; done 2>/dev/null"
    )

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._live: set[int] = set()
        self._process: subprocess.Popen[bytes] | None = None

    def add(self, pid: int) -> None:
        with self._lock:
            self._live.add(pid)
            self._say(f"+ {pid}\n")

    def remove(self, pid: int) -> None:
        with self._lock:
            if pid in self._live:
                self._live.remove(pid)
                self._say(f"- {pid}\n")

    def _say(self, line: str) -> None:
        try:
            if self._process is None or self._process.stdin is None:
                raise BrokenPipeError
            self._process.stdin.write(line.encode())
        except OSError:  # none yet, or somebody killed it
            self._process = subprocess.Popen(
                ["sh", "-c", self.SCRIPT],
                bufsize=0,
                stdin=subprocess.PIPE,
                start_new_session=True,
            )
            for pid in self._live:
                if self._process.stdin:
                    self._process.stdin.write(f"+ {pid}\n".encode())


_guard = _Guard()
