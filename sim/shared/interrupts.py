"""Ctrl-C, SIGTERM and the death of make end a command in one line, at every moment.

``python -m sim.TOOL`` imports this first, by ``sim/__init__.py``, so that Ctrl-C means the same
while the rest is being imported. It imports nothing heavy itself.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from types import FrameType

INTERRUPTED, TERMINATED = 130, 143
WATCH_SECONDS = 0.5


class TerminatedError(KeyboardInterrupt):
    """SIGTERM: cleaned up after like Ctrl-C."""


def leave_at_once() -> None:
    """Until ``arm`` is called nothing needs cleaning up: Ctrl-C ends the process."""
    signal.signal(signal.SIGINT, _leave)


def _leave(number: int, frame: FrameType | None) -> None:
    os.write(2, b"\ninterrupted\n")
    os._exit(INTERRUPTED)


def arm() -> None:
    """From now on Ctrl-C and SIGTERM raise an exception, once: cleaning up is not interrupted.

    Who was started by make gets a SIGTERM when make is gone, even by SIGKILL.
    """
    if signal.getsignal(signal.SIGINT) not in (_leave, signal.default_int_handler):
        return
    signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, _interrupt)
    if "MAKELEVEL" in os.environ:
        threading.Thread(target=_follow, args=(os.getppid(),), daemon=True).start()


def _interrupt(number: int, frame: FrameType | None) -> None:
    disarm()
    raise KeyboardInterrupt if number == signal.SIGINT else TerminatedError


def disarm() -> None:
    """Ignore both signals from now on."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def _follow(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(WATCH_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)


if sys.argv[:1] == ["-m"]:  # while Python still looks for the module of ``python -m sim.TOOL``
    leave_at_once()
