"""A value of the previous instruction that is used again."""

from __future__ import annotations

from collections.abc import Iterator

from sim.mutate.rtl.mutant import Mutant
from sim.mutate.rtl.rules import short
from sim.mutate.rtl.second_order.module_view import START, Module, Signal

RETIRE, OPERATION = "retire", "op"
"""By convention of this design: the last cycle of an instruction, and what it does."""

RAN = Signal("ran_q", 1, False, (), False)


def previous(module: Module) -> Iterator[Mutant]:
    """Yield operands that are those of the instruction before, always or by its operation."""
    if not module.clocked:
        return
    if RETIRE in module.signals and OPERATION in module.signals:
        yield from _operands(module)
    ran = module.shadow(RAN.name, RAN, "1'b1", START)
    for update in module.updates:
        if not update.starts or update.in_reset:
            continue
        text = f"begin if (!{ran.name}) {update.text} end"
        what = f"only at the first start: {short(update.text)}"
        yield module.mutant("previous", update.span, text, what, ran)
    inputs = {name for name, signal in module.signals.items() if signal.is_input}
    for read in module.reads:
        if read.name in inputs and any(guard.text == START for guard in read.guards):
            last = module.shadow(f"last_{read.name}_q", module.signals[read.name], read.name, START)
            what = f"{read.name} of the start before"
            text = last.name + read.text[len(read.name) :]
            yield module.mutant("previous", read.span, text, what, last)


def _operands(module: Module) -> Iterator[Mutant]:
    """Yield the connections of units to fields of the instruction, taken from the one before."""
    operation = module.signals[OPERATION]
    last_op = module.shadow(f"last_{OPERATION}_q", operation, OPERATION, RETIRE)
    for read in module.reads:
        signal = module.signals[read.name]
        if read.block != "port" or signal.width < 2:
            continue
        last = module.shadow(f"last_{read.name}_q", signal, read.name, RETIRE)
        new = last.name + read.text[len(read.name) :]
        yield module.mutant("previous", read.span, new, f"{read.text} of the instruction before",
                            last)  # fmt: skip
        for sign, words in (("==", "the same"), ("!=", "another")):
            text = f"({OPERATION} {sign} {last_op.name}) ? {new} : {read.text}"
            what = f"{read.text} of the instruction before when that was {words} operation"
            yield module.mutant("previous", read.span, text, what, last, last_op)
