"""A register that is not updated when two events meet."""

from __future__ import annotations

from collections.abc import Iterator

from sim.mutate.rtl.mutant import Mutant
from sim.mutate.rtl.rules import short
from sim.mutate.rtl.second_order.module_view import Module


def stale(module: Module) -> Iterator[Mutant]:
    """Yield assignments that do not happen in a cycle in which something else does, too.

    Something else is an input or a flag of the module; in the cycle that starts a unit only an
    input, because the unit is idle.
    """
    for update in module.updates:
        if update.in_reset:
            continue
        for event in module.events:
            if event.name in update.guarded_by | {update.target}:
                continue
            if not event.is_input and (update.starts or event.name not in module.registers):
                continue
            text = f"begin if (!{event.name}) {update.text} end"
            what = f"not updated when {event.name}: {short(update.text)}"
            yield module.mutant("stale", update.span, text, what)
