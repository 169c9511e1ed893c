"""A signal that counts one cycle late, or early."""

from __future__ import annotations

from collections.abc import Iterator

from sim.mutate.rtl.mutant import Mutant
from sim.mutate.rtl.second_order.module_view import Module, Read, Update


def delay(module: Module) -> Iterator[Mutant]:
    """Yield reads of a signal's value of the cycle before, or of the next one."""
    if not module.clocked:
        return
    takes = {update.value: update for update in module.updates}
    early = _pipeline(module)
    for read in module.reads:
        signal = module.signals[read.name]
        if read.text != read.name or signal.states or read.name == "clk":
            continue
        taken = takes.get(read.span)
        if signal.width == 1 or (taken is not None and not taken.starts):
            shadow = module.before(read.name)
            what = f"{read.name} counts a cycle late in {_where(module, read)}"
            yield module.mutant("delay", read.span, shadow.name, what, shadow)
        if read.name in early and read.block == "ff":
            value = module.design.text(early[read.name].value)
            what = f"{read.name} counts a cycle early in {_where(module, read)}"
            yield module.mutant("delay", read.span, f"({value})", what)


def _where(module: Module, read: Read) -> str:
    lines = module.design.texts[module.file].splitlines()
    return " ".join(lines[module.design.line(module.file, read.span[1]) - 1].split())


def _pipeline(module: Module) -> dict[str, Update]:
    """Return flags that follow others by a cycle, whatever the state."""
    found: dict[str, list[Update]] = {}
    for update in module.updates:
        if not update.in_reset and not update.starts:
            found.setdefault(update.target, []).append(update)
    return {
        name: updates[0]
        for name, updates in found.items()
        if len(updates) == 1
        and module.signals[name].width == 1
        and updates[0].whole
        and not updates[0].guarded_by & module.registers
    }
