"""Base of the sequences: plays the items that ``programs`` yields, one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyuvm import uvm_sequence

from verif.agents.control.transaction import ProgramTransaction
from verif.items.job import Job
from verif.items.program_item import ProgramItem
from verif.items.result import ProgramResult


class ProgramSequence(uvm_sequence):
    """Override ``programs``; the rest is the same for every sequence."""

    def __init__(self, name: str, job: Job) -> None:
        super().__init__(name)
        self.job = job

    def programs(self) -> Iterable[ProgramItem]:
        """The programs to play; may be generated one by one."""
        raise NotImplementedError(f"{type(self).__name__} yields no programs")

    def foreseen(self) -> Sequence[ProgramItem]:
        """The first programs, in order, where they are known before the simulation starts."""
        return ()

    async def body(self) -> None:
        """Play every program to its end."""
        for item in self.programs():
            await self.play(item)

    async def play(self, item: ProgramItem) -> ProgramResult | None:
        """Play one program; returns its result, None when nobody judged it."""
        transaction = ProgramTransaction(item)
        await self.start_item(transaction)
        await self.finish_item(transaction)
        return transaction.result
