"""What travels from a sequence to the driver and back: a program item and its result."""

from __future__ import annotations

from pyuvm import uvm_sequence_item

from verif.items.program_item import ProgramItem
from verif.items.result import ProgramResult


class ProgramTransaction(uvm_sequence_item):
    """Carries ``item`` through the sequencer; ``result`` is there when ``finish_item`` returns."""

    def __init__(self, item: ProgramItem) -> None:
        super().__init__(item.name)
        self.item = item
        self.result: ProgramResult | None = None
