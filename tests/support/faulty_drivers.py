"""Faulty drivers, of the control pins and of the reactive memory. Each does one thing wrong."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

from verif.agents.control.driver import ControlDriver
from verif.agents.control.load_file import Memories, write_load_file
from verif.agents.memory.driver import ReactiveDriver
from verif.items.program_item import ProgramItem


class ImageNotLoaded(ControlDriver):
    async def load_and_start(self, item: ProgramItem) -> None:
        await super().load_and_start(replace(item, image=item.image[:0]))


class LastInstructionNotLoaded(ControlDriver):
    async def load_and_start(self, item: ProgramItem) -> None:
        await super().load_and_start(replace(item, program=item.program[:-2]))


class LatencyNotPassedOn(ControlDriver):
    async def load_and_start(self, item: ProgramItem) -> None:
        await super().load_and_start(replace(item, latency=1))


class DepthNotPassedOn(ControlDriver):
    async def load_and_start(self, item: ProgramItem) -> None:
        await super().load_and_start(replace(item, depth=512))


class ScratchpadNotLoaded(ControlDriver):
    async def load_and_start(self, item: ProgramItem) -> None:
        with patch.object(self, "memories_for", lambda item: Memories(image=item.image)):
            await super().load_and_start(item)


class LoadsWhatIsInherited(ControlDriver):
    def memories_for(self, item: ProgramItem) -> Memories:
        return replace(super().memories_for(item), image=item.image)


class NotStarted(ControlDriver):
    async def load_and_start(self, item: ProgramItem) -> None:
        write_load_file(self.config.folder, item, self.memories_for(item))
        self.dut.load_req.value = not self.dut.load_req.value
        await self.cycles(1)


class NoReset(ControlDriver):
    async def reset(self, item: ProgramItem | None = None) -> None:
        await self.cycles(2)


class DoesNotWaitForTheEnd(ControlDriver):
    async def play(self, item: ProgramItem) -> None:
        self.started.write(item)
        await self.load_and_start(item)
        await self.cycles(45)


class NotAnnounced(ControlDriver):
    async def play(self, item: ProgramItem) -> None:
        with patch.object(self.started, "write", lambda item: None):
            await super().play(item)


class NoStartPulses(ControlDriver):
    async def pulse_start(self, item: ProgramItem) -> None:
        pass


class AnswersLate(ReactiveDriver):
    def take_request(self) -> bool:
        self.cycle += 1
        requested = super().take_request()
        self.cycle -= 1
        return requested


class AnswersFromTheFirstImage(ReactiveDriver):
    def accept(self, item: ProgramItem) -> None:
        kept = getattr(self, "memory", None)
        super().accept(item)
        if kept is not None:
            self.memory = kept


class IgnoresWrites(ReactiveDriver):
    def take_write(self) -> bool:
        return bool(self.writes.valid.value)
