"""A carry (or borrow) that does not reach bit b, of every adder and for every b."""

from __future__ import annotations

from collections.abc import Iterator

from sim.mutate.rtl.literals import value_of
from sim.mutate.rtl.mutant import Mutant
from sim.mutate.rtl.rules import short
from sim.mutate.rtl.second_order.module_view import SUMS, Module, Operation


def carry(module: Module) -> Iterator[Mutant]:
    """Yield the sums and differences of a module, each with one carry cut."""
    for one in module.operations:
        if one.kind in SUMS and one.info.width > 1:
            yield from _cut(module, one)


def _cut(module: Module, one: Operation) -> Iterator[Mutant]:
    sign = SUMS[one.kind]
    width, signed = one.info.width, "s" if one.info.signed else ""
    result = f"(({one.left}) {sign} ({one.right}))"
    carries = f"({one.left}) ^ ({one.right}) ^ {result}"
    undo = "-" if sign == "+" else "+"
    for bit in range(_lowest(one), width):
        mask = f"{width}'{signed}h{1 << bit:x}"
        text = f"{result} {undo} (({carries}) & {mask})"
        whole = short(f"{one.left} {sign} {one.right}")
        yield module.mutant("carry", one.span, text, f"carry into bit {bit} lost in {whole}")


def _lowest(one: Operation) -> int:
    """Return the lowest bit that a carry can reach: below a constant's lowest one is none."""
    if one.constant:
        try:
            value = value_of(one.right)
        except ValueError:
            return 1
        return (value & -value).bit_length() if value else one.info.width
    return 1
