"""Faulty monitors: of the control pins, and of the bursts. Each class does one thing wrong."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from cocotb.triggers import FallingEdge, RisingEdge, Timer

from model.chip.image import Words
from model.chip.timing import Counters
from verif.agents.control.monitor import COUNTERS, ControlMonitor
from verif.agents.control.observation import Observation, ProtocolErrors
from verif.agents.memory.monitor import BurstMonitor
from verif.items.burst_item import BurstItem


class SamplesCountersEarly(ControlMonitor):
    async def run_phase(self) -> None:
        while True:
            await RisingEdge(self.dut.running)
            await Timer(40 * self.config.period, unit="ns")
            early = Counters(*(int(getattr(self.dut, name).value) for name in COUNTERS))
            if not self.dut.done.value:
                await RisingEdge(self.dut.done)
            self.publish(replace(self.observe(), counters=early))


class WakesAtTheWrongEdge(ControlMonitor):
    async def run_phase(self) -> None:
        while True:
            await FallingEdge(self.dut.done)
            self.publish(self.observe())


class MissesAnEnd(ControlMonitor):
    async def run_phase(self) -> None:
        while True:
            await RisingEdge(self.dut.done)
            await RisingEdge(self.dut.done)
            self.publish(self.observe())


class ChangesWhatItSaw(ControlMonitor):
    """Base of those that falsify a single field."""

    def observe(self) -> Observation:
        return self.changed(super().observe())

    def changed(self, seen: Observation) -> Observation:
        return seen


class MemoryOfTheLastProgram(ChangesWhatItSaw):
    last: Words | None = None

    def changed(self, seen: Observation) -> Observation:
        last, self.last = self.last, seen.memory
        return seen if last is None else replace(seen, memory=last)


class LosesTheLastWrite(ChangesWhatItSaw):
    def changed(self, seen: Observation) -> Observation:
        return replace(seen, writes=seen.writes[:-1])


class LosesTheLastRetireRecord(ChangesWhatItSaw):
    def changed(self, seen: Observation) -> Observation:
        assert seen.retires is not None
        return replace(seen, retires=seen.retires[:-1])


class SeesNoFault(ChangesWhatItSaw):
    def changed(self, seen: Observation) -> Observation:
        return replace(seen, fault=0, fault_code=0, fault_pc=0)


class SeesNoHang(ChangesWhatItSaw):
    def changed(self, seen: Observation) -> Observation:
        return replace(seen, hung=False)


class TakesUnknownForZero(ChangesWhatItSaw):
    def changed(self, seen: Observation) -> Observation:
        return replace(seen, unknown=[])


class AsksNotForProtocolErrors(ControlMonitor):
    def protocol(self) -> ProtocolErrors:
        return ProtocolErrors(0, 0, 0, 0)


class ChangesBursts(BurstMonitor):
    """Base of those that falsify what they publish."""

    def connect_phase(self) -> None:
        self.seen = 0
        publish = self.ap.write

        def write(burst: BurstItem) -> None:
            self.seen += 1
            for item in self.changed(burst):
                publish(item)

        self.ap.write = write

    def changed(self, burst: BurstItem) -> Iterable[BurstItem]:
        return [burst]


class DropsABurst(ChangesBursts):
    def changed(self, burst: BurstItem) -> Iterable[BurstItem]:
        return () if self.seen == 3 else (burst,)


class RepeatsABurst(ChangesBursts):
    def changed(self, burst: BurstItem) -> Iterable[BurstItem]:
        return (burst, burst) if self.seen == 3 else (burst,)


class CountsAWordTooFew(ChangesBursts):
    def changed(self, burst: BurstItem) -> Iterable[BurstItem]:
        return (replace(burst, length=burst.length - 1),)


class TakesWritesForReads(ChangesBursts):
    def changed(self, burst: BurstItem) -> Iterable[BurstItem]:
        return (replace(burst, kind="read"),)


class BurstsOfTheLastProgram(BurstMonitor):
    last: list[BurstItem] | None = None

    def logged(self) -> list[BurstItem]:
        now = super().logged()
        last, self.last = self.last, now
        return now if last is None else last
