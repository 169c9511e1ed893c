"""A burst on the external bus: consecutive words, read or written."""

from __future__ import annotations

from typing import Literal

from pyuvm import uvm_sequence_item


class BurstItem(uvm_sequence_item):
    """One burst.

    Attributes:
        kind: ``read`` or ``write``.
        addr: address of its first word.
        length: words.
    """

    def __init__(self, kind: Literal["read", "write"], addr: int, length: int) -> None:
        super().__init__(kind)
        self.kind = kind
        self.addr = addr
        self.length = length
