"""Errors of the model: each carries the offending value in its message."""

from __future__ import annotations


class ModelError(Exception):
    """Base of every error that the model raises on purpose."""


class ParameterError(ModelError, ValueError):
    """A parameter outside its legal range; the message holds the value and the range."""

    def __init__(self, name: str, value: object, legal: str) -> None:
        super().__init__(f"{name} = {value!r} is out of range: must be {legal}")
        self.name = name
        self.value = value
        self.legal = legal


class CompileError(ModelError, ValueError):
    """A graph that cannot become a program; the message says why, with the numbers."""


def check_int(name: str, value: object, low: int, high: int | None = None) -> int:
    """Return ``value`` when it is an integer in low..high (no upper end when high is None).

    Raises ParameterError otherwise (a bool or a float is not accepted as an integer).
    """
    legal = f"an integer of at least {low}" if high is None else f"an integer in {low}..{high}"
    if isinstance(value, bool) or not isinstance(value, int):
        raise ParameterError(name, value, legal)
    if value < low or (high is not None and value > high):
        raise ParameterError(name, value, legal)
    return value
