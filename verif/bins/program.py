"""All bins of a program, collected while the model runs it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from model.chip.isa import SPAD_WORDS, FaultCode, Instruction, check_fault, decode
from model.chip.machine import Machine, RunResult
from model.chip.operation_table import OPERATIONS
from verif.bins.boundaries import boundary_hits, run_hits
from verif.bins.dependencies import Followers
from verif.bins.faults import fault_hits
from verif.bins.fields import Hit, field_hits
from verif.bins.surroundings import surroundings_hits
from verif.bins.values import value_hits
from verif.items.program_item import ProgramItem


@dataclass
class ProgramBins:
    """Collects the bins of one program.

    ``trace`` goes to ``Machine.run`` (or is called by another trace function), ``finish`` after
    the run. ``hits`` then holds each bin once, however often the program hit it.
    """

    machine: Machine
    hits: set[Hit] = field(default_factory=set)
    _previous: str = ""
    _followers: Followers = field(default_factory=Followers)

    def trace(self, pc: int, instruction: Instruction) -> None:
        """Note an instruction that is about to complete or fault."""
        if pc == 0:  # also of the second run, when the program is started again
            self._previous, self._followers = "", Followers()
        if check_fault(instruction) != FaultCode.NONE:
            self.hits.update(fault_hits(instruction, pc))
            return
        self._complete(instruction)
        self.hits.update(value_hits(instruction, self.machine.spad))
        self.hits.update(boundary_hits(instruction))
        self.hits.update(self._followers.hits(instruction))

    def _complete(self, instruction: Instruction) -> None:
        self.hits.update(field_hits(instruction, self.machine.depth))
        name = OPERATIONS[instruction.op].name
        if self._previous:
            self.hits.add(("operation_pair", f"{self._previous}/{name}"))
        self._previous = name

    def finish(
        self, item: ProgramItem, result: RunResult, previous: RunResult | None = None
    ) -> set[Hit]:
        """Add the ending HALT and the surroundings; return all hits."""
        pc = len(result.retires)
        if result.fault == FaultCode.NONE and pc < len(item.program):
            self._complete(decode(item.program[pc]))
        self.hits.update(run_hits(result))
        self.hits.update(surroundings_hits(item, result, previous))
        return self.hits


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
        bins = ProgramBins(machine)
        image = item.image if self.previous is None or not item.inherits else self.previous.ext
        result = machine.run(item.program, image, item.read_latency, bins.trace)
        hits = bins.finish(item, result, self.previous)
        self.spad = machine.spad
        self.previous = result
        return result, hits
