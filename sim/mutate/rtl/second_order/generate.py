"""All second-order mutants of a design."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sim.mutate.rtl.mutant import Mutant
from sim.mutate.rtl.second_order.carry import carry
from sim.mutate.rtl.second_order.coincidence import coincidence
from sim.mutate.rtl.second_order.delay import delay
from sim.mutate.rtl.second_order.edge import edge
from sim.mutate.rtl.second_order.enable import enable
from sim.mutate.rtl.second_order.module_view import Module, modules
from sim.mutate.rtl.second_order.narrow import narrow
from sim.mutate.rtl.second_order.previous import previous
from sim.mutate.rtl.second_order.rare import rare
from sim.mutate.rtl.second_order.stale import stale
from sim.mutate.rtl.source import ParsedDesign

Class = Callable[[Module], Iterator[Mutant]]
CLASSES: tuple[Class, ...] = (
    carry, narrow, enable, stale, rare, delay, edge, previous, coincidence,
)  # fmt: skip
"""A mutant's kind is the name of its class."""


def second_order(design: ParsedDesign) -> list[Mutant]:
    """Return the mutants of all classes, module by module."""
    return [mutant for module in modules(design) for made in CLASSES for mutant in made(module)]
