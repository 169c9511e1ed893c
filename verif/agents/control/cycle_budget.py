"""How long a program may run before it counts as hung."""

from __future__ import annotations

from collections.abc import Sequence

from model.chip.operations import plan_word
from model.chip.timing import OVERHEAD

SLACK = 500


def cycle_budget(program: Sequence[int], worst_latency: int) -> int:
    """Cycles that ``program`` cannot exceed, with a factor of two and ``SLACK`` to spare.

    A correct program ends within half of it, so a hang is found early and a slow one still
    ends by itself and shows in its counters.
    """
    cycles = OVERHEAD
    for word in program:
        plan = plan_word(word)
        if plan.unit is None:  # HALT or fault: the program ends here
            break
        # LD has no fixed time in its plan, it depends on the memory.
        cycles += OVERHEAD + (plan.busy or plan.instr.c + worst_latency + 1)
    return 2 * cycles + SLACK
