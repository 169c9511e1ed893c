"""Predictor: what the reference model says a program leaves behind."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from pyuvm import ConfigDB, uvm_analysis_port, uvm_component

from model.chip.image import Words
from model.chip.isa import Instruction, Op
from model.chip.machine import Machine, RunResult
from model.chip.operations import plan_word
from verif.bins.program import Deeds, mark_all
from verif.bins.sheet import Hit
from verif.env.analysis_input import AnalysisInput
from verif.env.config import EnvConfig
from verif.items.program_item import ProgramItem, ProgramItemError


class StoredWords(NamedTuple):
    """External writes of one ST: ``data``, uint32 (n,), to ``addr`` and on."""

    pc: int
    addr: int
    data: Words


@dataclass(frozen=True)
class Prediction:
    """A program with its predicted outcome.

    Attributes:
        item: the program.
        expected: the model's result.
        stores: external writes in order, one entry an ST.
        spad_before, spad_after: scratchpad, uint32 (4096,).
        image: external memory before the program, uint32, continued with zeros.
        deeds: what its coverage bins follow from; None when they were not asked for.
    """

    item: ProgramItem
    expected: RunResult
    stores: list[StoredWords]
    spad_before: Words
    spad_after: Words
    image: Words
    deeds: Deeds | None = None

    @cached_property
    def hits(self) -> frozenset[Hit]:
        """Coverage bins that the program hits; ``mark_all`` is faster for many programs."""
        return frozenset(mark_all([self.deeds]).hits()[0]) if self.deeds else frozenset()


def predict(
    item: ProgramItem, spad: Words, *, coverage: bool = False, previous: RunResult | None = None
) -> Prediction:
    """Run the model on ``item``, with ``spad`` where the item brings no scratchpad of its own.

    Args:
        item: the program.
        spad: what the program before left in the scratchpad, uint32 (4096,).
        coverage: classify what the program does.
        previous: expected outcome of the program before, of which an item may inherit the memory.

    Raises:
        ProgramItemError: the memory that the item inherits has another depth than its own.
    """
    image = image_before(item, previous)
    machine = Machine(item.depth)
    before = item.spad if item.spad is not None else spad
    machine.spad[:] = before
    stores: list[StoredWords] = []
    deeds = Deeds(item.program, item.depth) if coverage else None

    def note(pc: int, instr: Instruction) -> None:
        if instr.op == Op.ST and not plan_word(item.program[pc]).fault:
            data = machine.spad[instr.a : instr.a + instr.c].copy()
            stores.append(StoredWords(pc, instr.b, data))
        if deeds:
            deeds.note(pc, instr, machine)

    expected = machine.run(item.program, image, item.read_latency, note)
    if item.restart_after is not None:
        expected = run_again(machine, item, expected, note)
    if deeds:
        deeds.finish(item, expected, previous)
    return Prediction(item, expected, stores, before, machine.spad, image, deeds)


def image_before(item: ProgramItem, previous: RunResult | None) -> Words:
    """External memory that ``item`` starts from, played after ``previous`` (None: first).

    Raises:
        ProgramItemError: it inherits a memory of another depth than its own.
    """
    if not item.inherits or previous is None:
        return item.image
    if previous.ext.size != item.depth:
        raise ProgramItemError(
            f"item {item.name!r}: depth {item.depth} is not possible: it inherits a memory of "
            f"{previous.ext.size} words"
        )
    return previous.ext


def run_again(
    machine: Machine, item: ProgramItem, first: RunResult, note: Callable[[int, Instruction], None]
) -> RunResult:
    """Run a program once more on what its first run left; traffic and records are both runs'."""
    latency = item.read_latency
    if isinstance(latency, tuple):
        # The memory counts requests over both runs.
        made = sum(burst.length for burst in first.bursts if burst.kind == "read") % len(latency)
        latency = (*latency[made:], *latency[:made])
    second = machine.run(item.program, first.ext, latency, note)
    return replace(
        second,
        retires=[*first.retires, *second.retires],
        bursts=[*first.bursts, *second.bursts],
    )


class Predictor(uvm_component):
    """Predicts every item received at ``items`` and publishes a ``Prediction`` on ``ap``.

    The scratchpad lives on from one program to the next, as in the chip, and so does the external
    memory where an item inherits it. Nothing here depends on
    what the chip does, so programs that are known beforehand can be predicted beforehand, which
    keeps the model's time out of the simulation's.
    """

    def build_phase(self) -> None:
        """Create the ports; the scratchpad starts as all zero."""
        self.ap = uvm_analysis_port("ap", self)
        self.items = AnalysisInput("items", self, self.accept)
        self.config: EnvConfig = ConfigDB().get(self, "", "config")
        self.spad = Machine().spad
        self.previous: RunResult | None = None
        self.foreseen: deque[Prediction] = deque()

    def foresee(self, items: Sequence[ProgramItem]) -> None:
        """Predict what will be played next, in this order.

        If it comes otherwise, or what it starts from does, ``accept`` predicts again.
        """
        spad, previous = self.spad, self.previous
        for item in items:
            prediction = self.predict(item, spad, previous)
            spad, previous = prediction.spad_after, prediction.expected
            self.foreseen.append(prediction)

    def accept(self, item: ProgramItem) -> None:
        """Predict one item, unless that was done before."""
        prediction = None
        if self.foreseen and self.foreseen[0].item is item:
            prediction = self.foreseen.popleft()
            other_spad = item.spad is None and prediction.spad_before is not self.spad
            other_image = prediction.image is not image_before(item, self.previous)
            if other_spad or other_image:
                prediction = None
        if prediction is None:
            prediction = self.predict(item, self.spad, self.previous)
        self.spad = prediction.spad_after
        self.previous = prediction.expected
        self.ap.write(prediction)

    def predict(self, item: ProgramItem, spad: Words, previous: RunResult | None) -> Prediction:
        """Predict one item as configured."""
        return predict(item, spad, coverage=self.config.coverage, previous=previous)
