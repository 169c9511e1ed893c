"""The protocol checker's error codes and their texts, read from where it declares them."""

from __future__ import annotations

import re
from pathlib import Path

CHECKER = Path(__file__).parents[1] / "hdl" / "protocol_checker.sv"

_CODES: list[tuple[str, str, str]] = re.findall(
    r"^ +// (.+)\n +(\w+) += (\d+),?$", CHECKER.read_text(), re.M
)
PROTOCOL_ERRORS = {int(code): text for text, _, code in _CODES}
UNKNOWN_BITS = frozenset(int(code) for _, name, code in _CODES if name.startswith("Unknown"))


def codes_of(mask: int) -> list[int]:
    """Error codes whose bit is set in the checker's mask, ascending."""
    return [code for code in PROTOCOL_ERRORS if mask >> code & 1]
