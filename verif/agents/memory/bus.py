"""Binds cocotb-bus buses to the testbench top, and says so when a signal is not there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cocotb_bus.bus import Bus


class MissingSignalError(RuntimeError):
    """A bus was bound to a signal that the simulator does not know (or does not make public)."""


def bind(entity: Any, name: str | None, signals: Sequence[str]) -> Any:
    """Bind ``<entity>.<name>_<signal>`` for each signal (``<entity>.<signal>`` without a name).

    Raises:
        MissingSignalError: one is missing. cocotb-bus alone would give None and fail much later.
    """
    prefix = f"{name}_" if name else ""
    missing = [signal for signal in signals if not hasattr(entity, prefix + signal)]
    if missing:
        where = ", ".join(f"{prefix}{signal}" for signal in missing)
        raise MissingSignalError(f"no signal {where} in {entity._path} (see sim/engine/public.vlt)")
    return Bus(entity, name, list(signals))
