"""Neighbours of constants, written in the form of the original."""

from __future__ import annotations

import re

_BASED = re.compile(r"^(\d+)?\s*'([sS]?)([bodhBODH])\s*([0-9a-fA-F_]+)$")
_RADIX = {"b": 2, "o": 8, "d": 10, "h": 16}
_FORMAT = {"b": "b", "o": "o", "d": "d", "h": "x"}


def neighbours(text: str) -> list[str]:
    """Return the literals one above and one below, of the same size, sign and base.

    A literal that cannot move one way within its size has one neighbour; a one-bit literal has its
    complement. Anything else than a plain number (unknown bits, strings, reals) has none.
    """
    text = text.strip()
    if text in ("'0", "'1"):
        return ["'1" if text == "'0" else "'0"]
    if text.replace("_", "").isdigit():
        value = value_of(text)
        return [str(value + 1)] + ([str(value - 1)] if value > 0 else [])
    match = _BASED.match(text)
    if match is None:
        return []
    size, sign, base, _ = match.groups()
    value = value_of(text)
    limit = 1 << int(size or 32)
    near = [near for near in (value + 1, value - 1) if 0 <= near < limit]
    return [f"{size or ''}'{sign}{base}{near:{_FORMAT[base.lower()]}}" for near in near]


def value_of(text: str) -> int:
    """Return the value of a literal that has neighbours.

    Raises:
        ValueError: the text is no plain number.
    """
    text = text.strip()
    if text.replace("_", "").isdigit():
        return int(text.replace("_", ""))
    match = _BASED.match(text)
    if match is None:
        raise ValueError(f"{text} is no plain number")
    return int(match.group(4).replace("_", ""), _RADIX[match.group(3).lower()])


def one(width: int, signed: bool) -> str:
    """Return a literal 1 of a width in bits and a sign."""
    return f"{width}'{'s' if signed else ''}d1"


def is_number(text: str) -> bool:
    """Whether the text is a decimal number without size."""
    return text.strip().isdigit()
