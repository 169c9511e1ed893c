"""Ending a regression early, by Ctrl-C, SIGTERM or a fault of its own."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

import psutil

from sim.shared import process as supervise


class Stop:
    """Whether the regression shall end early, and why; safe to set from a signal handler."""

    def __init__(self) -> None:
        self.reason = ""
        self._wake = threading.Event()
        self._quiet = False

    def __bool__(self) -> bool:
        return self._wake.is_set()

    def set(self, reason: str) -> None:
        """Ask for the end and kill the jobs of this process at once."""
        self.reason = self.reason or reason
        self._wake.set()
        supervise.stop()

    @contextmanager
    def on_signals(self) -> Iterator[None]:
        """Stop on Ctrl-C and SIGTERM.

        The first one raises KeyboardInterrupt, except inside ``quietly``, where it is only noted.
        """
        names = (signal.SIGINT, signal.SIGTERM)

        def handle(number: int, frame: FrameType | None) -> None:
            again = bool(self)
            self.set("interrupted" if number == signal.SIGINT else "terminated")
            if not self._quiet and not again:
                raise KeyboardInterrupt

        old_handlers = [signal.signal(name, handle) for name in names]
        try:
            yield
        finally:
            for name, old in zip(names, old_handlers, strict=True):
                signal.signal(name, old)

    @contextmanager
    def quietly(self) -> Iterator[None]:
        """Note signals without an exception: whoever looks at us ends in an orderly way."""
        self._quiet = True
        try:
            yield
        finally:
            self._quiet = False


def kill_descendants() -> None:
    """Kill whatever this process has started and is still there, such as a build."""
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            child.kill()
