"""When each instruction of a program is fetched, issued and busy, from the cycle model alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from model.chip.isa import Op
from model.chip.operations import plan_word
from model.chip.timing import OVERHEAD, Latency, load_cycles


class Slot(NamedTuple):
    """The cycles of one instruction; cycle 1 is the first FETCH after ``start`` was sampled.

    Attributes:
        pc: instruction address.
        op: operation code 0..15.
        fetch: cycle of its FETCH; ISSUE is the next one.
        busy: WAIT cycles that follow, 0 for HALT and faults.
    """

    pc: int
    op: int
    fetch: int
    busy: int

    @property
    def last(self) -> int:
        """Last cycle of the instruction."""
        return self.fetch + OVERHEAD - 1 + self.busy

    def phase(self, cycle: int) -> str:
        """Name the part of the instruction that ``cycle`` falls into.

        Returns:
            ``fetch``, ``issue``, ``first``, ``middle`` or ``last`` (of the busy cycles).
        """
        offset = cycle - self.fetch
        if offset < OVERHEAD:
            return ("fetch", "issue")[offset]
        if cycle == self.last:
            return "last"
        return "first" if offset == OVERHEAD else "middle"


def timeline(program: Sequence[int], latency: Latency) -> list[Slot]:
    """The executed instructions of ``program`` with their cycles, the ending one included."""
    slots = []
    cycle = 1
    requests = 0
    for pc in range(len(program) + 1):
        plan = plan_word(program[pc] if pc < len(program) else 0)
        instruction, busy = plan.instr, plan.busy
        if instruction.op == Op.LD and plan.unit:
            busy = load_cycles(instruction.c, latency, requests)
            requests += instruction.c
        slots.append(Slot(pc, instruction.op, cycle, busy))
        if plan.unit is None:  # HALT or a fault
            break
        cycle += OVERHEAD + busy
    return slots


def slot_at(slots: Sequence[Slot], cycle: int) -> Slot | None:
    """The instruction that ``cycle`` belongs to, or None past the end of the program."""
    low, high = 0, len(slots)
    while low < high:
        middle = (low + high) // 2
        if slots[middle].last < cycle:
            low = middle + 1
        else:
            high = middle
    return slots[low] if low < len(slots) and slots[low].fetch <= cycle else None
