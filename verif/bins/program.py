"""All bins of a program, collected while the model runs it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from model.chip.isa import SPAD_WORDS, FaultCode, Instruction, Op, check_fault, decode
from model.chip.machine import Machine, RunResult
from model.chip.operation_table import OPERATIONS
from verif.bins.boundaries import boundary_hits, run_hits
from verif.bins.dependencies import Accesses, Followers, accesses
from verif.bins.faults import fault_hits
from verif.bins.fields import Hit, field_hits
from verif.bins.surroundings import surroundings_hits
from verif.bins.values import value_hits
from verif.items.program_item import ProgramItem


@dataclass(frozen=True, slots=True)
class Static:
    """What is known of an instruction without its data, looked up once for all that it is.

    Attributes:
        fault: the rule it breaks.
        hits: bins of its fields and boundaries; none when it faults.
        touched: what it reads and writes; None for a HALT and when it faults.
    """

    fault: FaultCode
    hits: frozenset[Hit]
    touched: Accesses | None


@lru_cache(maxsize=16384)
def static(instruction: Instruction, depth: int) -> Static:
    """Everything that ``depth`` words of external memory and the fields alone decide."""
    if fault := check_fault(instruction):
        return Static(fault, frozenset(), None)
    fields = field_hits(instruction, depth)
    if instruction.op == Op.HALT:
        return Static(fault, frozenset(fields), None)
    hits = frozenset((*fields, *boundary_hits(instruction)))
    return Static(fault, hits, accesses(instruction))


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
        known = static(instruction, self.machine.depth)
        if known.fault:
            self.hits.update(fault_hits(instruction, pc))
            return
        self._complete(instruction, known)
        self.hits.update(value_hits(instruction, self.machine.spad))
        if known.touched:
            self.hits.update(self._followers.hits(instruction, known.touched))

    def _complete(self, instruction: Instruction, known: Static) -> None:
        self.hits |= known.hits
        name = OPERATIONS[instruction.op].name
        if self._previous:
            self.hits.add(("operation_pair", f"{self._previous}/{name}"))
        self._previous = name

    def finish(
        self, item: ProgramItem, result: RunResult, previous: RunResult | None = None
    ) -> set[Hit]:
        """Add the ending HALT and the surroundings; return all hits."""
        pc = result.counters.n_inst  # of the run that ended last
        if result.fault == FaultCode.NONE and pc < len(item.program):
            halt = decode(item.program[pc])
            self._complete(halt, static(halt, self.machine.depth))
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
