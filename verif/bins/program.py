"""All bins of programs: what is noted of one while the model runs it, and what that comes to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from model.chip.isa import SPAD_WORDS, FaultCode, Instruction
from model.chip.machine import Machine, RunResult
from model.chip.operations import plan_word
from verif.bins.boundaries import boundary_hits, run_hits
from verif.bins.dependencies import follower_hits
from verif.bins.faults import fault_hits
from verif.bins.fields import field_hits
from verif.bins.reads import Read, read_by
from verif.bins.rows import Rows
from verif.bins.sheet import Hit, Sheet
from verif.bins.surroundings import surroundings_hits
from verif.bins.values import value_hits
from verif.items.program_item import ProgramItem


@dataclass
class Deeds:
    """What a program did, as far as it is needed to find its bins.

    ``note`` goes to ``Machine.run`` (or is called by another trace function), ``finish`` after the
    run.

    Attributes:
        program: its words.
        depth: of its external memory.
        hits: bins of what happens once: faults, the end, the surroundings.
        words: of the instructions that completed, with the HALT that ended the last run.
        begins: where in ``words`` each run begins: a program may be started again.
        reads: what those with bins of their data read.
        size: instructions, and words that they read.
    """

    program: Sequence[int] = ()
    depth: int = 0
    hits: set[Hit] = field(default_factory=set)
    words: list[int] = field(default_factory=list)
    begins: list[int] = field(default_factory=list)
    reads: list[Read] = field(default_factory=list)
    size: int = 0

    def note(self, pc: int, instruction: Instruction, machine: Machine) -> None:
        """Note an instruction that is about to complete or fault."""
        if pc == 0:
            self.begins.append(len(self.words))
        word = self.program[pc]
        if plan_word(word).fault:
            self.hits.update(fault_hits(instruction, pc))
            return
        self.words.append(word)
        self.size += 1
        if read := read_by(instruction, machine.spad):
            self.reads.append(read)
            self.size += sum([words.size for words in read.words])

    def finish(self, item: ProgramItem, result: RunResult, previous: RunResult | None) -> None:
        """Note how the program ended, and its surroundings."""
        pc = result.counters.n_inst  # of the run that ended last
        if result.fault == FaultCode.NONE and pc < len(item.program):
            self.begins = self.begins or [0]
            self.words.append(item.program[pc])
        self.hits.update(run_hits(result))
        self.hits.update(surroundings_hits(item, result, previous))


def mark_all(programs: Sequence[Deeds]) -> Sheet:
    """Mark every bin of each of some programs; one after the other costs much more."""
    sheet = Sheet(len(programs))
    for program, deeds in enumerate(programs):
        sheet.name(program, deeds.hits)
    _mark_instructions(sheet, programs)
    value_hits(sheet, [deeds.reads for deeds in programs])
    return sheet


def _mark_instructions(sheet: Sheet, programs: Sequence[Deeds]) -> None:
    """Mark what the fields of instructions and their order say."""
    owners: list[int] = []
    different: list[int] = []
    order: list[int] = []
    for program, deeds in enumerate(programs):
        place = {word: len(different) + n for n, word in enumerate(dict.fromkeys(deeds.words))}
        different += place
        owners += [program] * len(place)
        order += [place[word] for word in deeds.words]
    if not different:
        return
    rows = Rows.of(owners, [programs[program].depth for program in owners], different)
    field_hits(sheet, rows)
    boundary_hits(sheet, rows)
    lengths = [
        end - begin
        for deeds in programs
        if deeds.words
        for begin, end in zip(deeds.begins, [*deeds.begins[1:], len(deeds.words)], strict=True)
    ]
    run = np.repeat(np.arange(len(lengths)), lengths)
    follower_hits(sheet, rows, np.array(order), run)


@dataclass
class BinRunner:
    """Runs items on the model in order and returns the bins of each; no simulator needed."""

    spad: npt.NDArray[np.uint32] = field(
        default_factory=lambda: np.zeros(SPAD_WORDS, dtype=np.uint32)
    )
    previous: RunResult | None = None

    def run(self, item: ProgramItem) -> tuple[RunResult, set[Hit]]:
        """Run one item; both memories live on to the next as in the chip."""
        machine = Machine(item.depth)
        machine.spad[:] = item.spad if item.spad is not None else self.spad
        deeds = Deeds(item.program, item.depth)
        image = item.image if self.previous is None or not item.inherits else self.previous.ext
        result = machine.run(
            item.program, image, item.read_latency, lambda pc, i: deeds.note(pc, i, machine)
        )
        deeds.finish(item, result, self.previous)
        self.spad = machine.spad
        self.previous = result
        return result, mark_all([deeds]).hits()[0]
