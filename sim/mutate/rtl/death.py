"""How a simulation died with a mutant alive in it, and whether that says anything about the mutant.

It says nothing once: the simulation runs again. What repeats is the mutant's doing, unless the end
came from outside: a signal that only somebody else sends, or time that passed without any work.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass

from sim.shared.errors import ToolError
from sim.shared.process import Ended
from verif.agents.control.complaints import complaints_in

OUTSIDE = {signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT}


class DeathError(ToolError):
    """A simulation ended in a way that says nothing about the mutant."""


@dataclass(frozen=True)
class Death:
    """An end without a verdict.

    Attributes:
        kind: ``crash``, ``hang`` (work without progress), or empty for an end from outside.
        message: how it ended, in words.
    """

    kind: str
    message: str

    @property
    def check(self) -> str:
        """What found the mutant, when this happens again.

        Raises:
            DeathError: the end came from outside.
        """
        if not self.kind:
            raise DeathError(f"its simulations do not come to an end of their own: {self.message}")
        return self.kind


def death_of(ended: Ended | None, status: int, log: str, leak: str = "") -> Death:
    """Say how a simulation died.

    Args:
        ended: what ended it.
        status: of the simulator, 128 and the signal's number after a signal.
        log: what it said.
        leak: the design itself failed before the mutant was alive, in these words.
    """
    if leak:
        return Death("", f"the design fails before the mutant is alive: {leak}")
    if ended is Ended.STALLED:
        return Death("hang", "no progress")
    if ended not in (Ended.EXITED, Ended.CRASHED):
        return Death("", ended.value if ended else "did not begin")
    if status > 128:
        name = signal.Signals(status - 128).name if status - 128 in set(signal.Signals) else status
        kind = "" if status - 128 in OUTSIDE else "crash"
        return Death(kind, f"ended by {name}")
    said = complaints_in(log) or [line for line in log.splitlines() if "rror" in line]
    return Death("crash", (said or log.strip().splitlines()[-1:] or ["no word"])[0].strip()[:200])
