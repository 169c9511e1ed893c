"""The sequence that plays programs on one planted fault after the other, until one fails."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cocotb

from verif.items.job import Job
from verif.items.program_item import ProgramItem
from verif.mutation.protocol import Queue
from verif.sequences.base import ProgramSequence
from verif.sequences.random_programs import RandomSequence
from verif.stimulus.builder import Builder
from verif.stimulus.directed.control import one_of_each

TASK = "faults"  # among the parameters of the job
DIRECTED, RANDOM = WAYS = ("directed", "random")
HEALTHY = "healthy"  # name of the program that runs without a fault


@dataclass(frozen=True)
class Hunt:
    """One fault and the programs that it gets.

    Attributes:
        number: of the fault.
        way: ``directed`` or ``random``.
        order: of the directed programs: indices of the job's items.
    """

    number: int
    way: str
    order: Sequence[int] = ()


@dataclass(frozen=True)
class PlantedFaults:
    """What the simulations of a table of faults share.

    Attributes:
        control: signal of the design that takes the number of the fault to wake.
        hunts: what is to be played.
        drawn: parameters of the sequence ``random``.
        queue: file for positions in ``hunts``.
    """

    control: str
    hunts: Sequence[Hunt]
    drawn: dict[str, Any]
    queue: Path


class PlantedFaultsSequence(ProgramSequence):
    """Wakes one fault after the other, and plays items or random programs until one fails.

    The job's parameter ``faults`` is a ``PlantedFaults``. Names of programs begin with the fault's
    number and the way. Before each hunt a program of all operations runs on the design without a
    fault, so that nothing of one fault reaches the next; when it fails the sequence ends.
    """

    async def body(self) -> None:
        """Take hunts until none is left."""
        task: PlantedFaults = self.job.params[TASK]
        queue = Queue(task.queue)
        while (position := queue.take()) < len(task.hunts):
            hunt = task.hunts[position]
            if not await self.recovered(hunt):
                return
            items: Iterable[ProgramItem] = (self.job.items[index] for index in hunt.order)
            if hunt.way == RANDOM:
                items = RandomSequence(RANDOM, Job(RANDOM, task.drawn)).programs()
            await self.follow(task.control, hunt, items)

    async def recovered(self, hunt: Hunt) -> bool:
        """Play all operations on the design without a fault, after a reset; say if they passed.

        Once more when they did not: what the fault before broke after its last program is charged
        to the first one here, at whose end the monitors forget it.
        """
        program = Builder(f"{hunt.number}/{hunt.way}/{HEALTHY}").add(*one_of_each())
        item = program.item(reset_before=True)
        for _ in range(2):
            result = await self.play(item)
            if result is not None and result.passed:
                return True
        return False

    async def follow(self, control: str, hunt: Hunt, items: Iterable[ProgramItem]) -> None:
        """Wake a fault, play programs until one fails, put the fault to sleep."""
        top: Any = cocotb.top
        awake = getattr(top.dut, control)
        awake.value = hunt.number
        for item in _named(f"{hunt.number}/{hunt.way}", items):
            result = await self.play(item)
            if result is None or not result.passed:
                break
        awake.value = 0


def _named(prefix: str, items: Iterable[ProgramItem]) -> Iterator[ProgramItem]:
    """Items whose names begin with a prefix; the first one begins with a reset."""
    for place, item in enumerate(items):
        reset = item.reset_before or place == 0
        yield replace(item, name=f"{prefix}/{item.name}", reset_before=reset)
