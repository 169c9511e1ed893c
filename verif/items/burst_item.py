"""A burst on the external bus: consecutive words, read or written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class BurstItem:
    """One burst. Plain data: no sequencer handles it, and there are many.

    Attributes:
        kind: ``read`` or ``write``.
        addr: address of its first word.
        length: words.
    """

    kind: Literal["read", "write"]
    addr: int
    length: int
