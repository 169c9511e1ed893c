"""A level taken for its edge, and an edge for a level."""

from __future__ import annotations

from collections.abc import Iterator

from sim.mutate.rtl.mutant import Mutant
from sim.mutate.rtl.second_order.module_view import Module


def edge(module: Module) -> Iterator[Mutant]:
    """Yield reads of a signal of one bit that look at its rising edge, or see it for too long."""
    if not module.clocked:
        return
    for read in module.reads:
        signal = module.signals[read.name]
        if signal.width != 1 or read.text != read.name or read.name == "clk":
            continue
        if read.block != "ff" and not signal.is_input:
            continue
        shadow = module.before(read.name)
        new = f"({read.name} && !{shadow.name})"
        what = f"only the rising edge of {read.name} counts"
        yield module.mutant("edge", read.span, new, what, shadow)
        new = f"({read.name} || {shadow.name})"
        what = f"{read.name} still counts in the cycle after"
        yield module.mutant("edge", read.span, new, what, shadow)
