"""What travels from a sequence to the driver: a program item in pyuvm's wrapping."""

from __future__ import annotations

from pyuvm import uvm_sequence_item

from verif.items.program_item import ProgramItem


class ProgramTransaction(uvm_sequence_item):
    """Carries ``item``, a ``ProgramItem``, through the sequencer."""

    def __init__(self, item: ProgramItem) -> None:
        super().__init__(item.name)
        self.item = item
