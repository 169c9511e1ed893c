"""The process that ends the children of this one when it is gone, however that came."""

from __future__ import annotations

import contextlib
import subprocess
import threading
from collections.abc import Iterator


class Guard:
    """A tiny process that kills the registered children as soon as this process is gone.

    It reads a pipe whose other end only this process holds: the kernel closes that also after
    SIGKILL. A thread of the child's own could not do it: a simulator that is caught in a loop, or
    that has not started Python yet, runs no thread of ours.
    """

    SCRIPT = (
        # A farm may tell all processes of a job to end: whoever is guarded need not obey.
        "trap '' HUP INT TERM; live=' '; while read -r verb one; do case $verb in "
        '+) live="$live$one ";; '
        '-) live="${live%%" $one "*} ${live#*" $one "}";; '
        "esac; done; for one in $live; do kill -s KILL -- -${one%:*}; done 2>/dev/null; "
        # Twice, as in ``process.kill_marked``.
        "for one in $live $live; do for place in $(grep -ls ${one#*:} /proc/[0-9]*/environ); do "
        "place=${place#/proc/}; kill -s KILL ${place%/*}; done; done 2>/dev/null"
    )

    def __init__(self) -> None:
        # A signal handler may stop all children while this thread adds one.
        self._lock = threading.RLock()
        self._live: dict[int, str] = {}
        self._process: subprocess.Popen[bytes] | None = None

    def pids(self) -> list[int]:
        """Return the groups that it watches."""
        with self._lock:
            return list(self._live)

    @contextlib.contextmanager
    def starting(self, mark: str) -> Iterator[None]:
        """Watch for what carries ``mark`` while its process has no number yet."""
        with self._lock:
            self._say(f"+ :{mark}\n")
        try:
            yield
        finally:
            with self._lock:
                self._say(f"- :{mark}\n")

    def add(self, pid: int, mark: str) -> None:
        """Watch for a process group, and for what carries ``mark`` outside it."""
        with self._lock:
            self._live[pid] = mark
            self._say(f"+ {pid}:{mark}\n")

    def remove(self, pid: int) -> None:
        """Forget a process group: it has ended."""
        with self._lock:
            mark = self._live.pop(pid, None)
            if mark:
                self._say(f"- {pid}:{mark}\n")

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
            for pid, mark in self._live.items():
                if self._process.stdin:
                    self._process.stdin.write(f"+ {pid}:{mark}\n".encode())
            if line.startswith("+ :") and self._process.stdin:
                self._process.stdin.write(line.encode())

    def close(self) -> None:
        """Let the guard end: it has nobody to watch when this process ends by itself."""
        if self._process and self._process.stdin:
            self._process.stdin.close()
            self._process.wait()
