"""Bins of instructions that follow each other: triples, dependencies, repeats on changed data."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from model.chip.isa import EXT_WORDS, Instruction, Op
from model.chip.operation_table import EXECUTED, OPERATIONS
from model.chip.operations import matrix_addresses

Hit = tuple[str, str]
Region = tuple[str, int, int]
"""Memory, first address, address behind the last."""

RELATIONS = ("same", "overlapping", "adjacent")


@dataclass(frozen=True)
class Accesses:
    """Regions that an operation reads and writes; of an MM from its lowest to its highest."""

    name: str
    reads: tuple[Region, ...]
    writes: tuple[Region, ...]


@lru_cache(maxsize=16384)
def accesses(i: Instruction) -> Accesses:
    """What an instruction that completes touches."""
    reads: list[Region] = []
    writes: list[Region] = []
    matrix: dict[str, tuple[int, int]] = {}
    if i.op == Op.MM:
        where = matrix_addresses(i)
        named = {"dst": where.c, "A": where.a, "B": where.b}
        matrix = {name: (int(a.min()), int(a.max()) + 1) for name, a in named.items()}
    for operand in OPERATIONS[i.op].regions:
        base = getattr(i, operand.field)
        low, high = matrix.get(operand.name) or (base, base + operand.size(i.length))
        written = operand.name == "dst"
        (writes if written else reads).append((operand.memory, low, high))
    return Accesses(OPERATIONS[i.op].name, tuple(reads), tuple(writes))


def dependency_bins() -> list[str]:
    """A writer, a reader at a distance of one or two instructions, and how their regions lie."""
    writers = [row.name for row in EXECUTED if row.destination]
    readers = [row.name for row in EXECUTED if row.sources]
    pairs = [(writer, reader) for writer in writers for reader in readers] + [("ST", "LD")]
    return [
        f"{writer}/{reader}/{distance}/{relation}"
        for writer, reader in pairs
        for distance in (1, 2)
        for relation in RELATIONS
    ]


@dataclass
class Followers:
    """Looks at the instructions of one program in turn."""

    _number: int = 0
    _last: list[Accesses] = field(default_factory=list)
    _seen: dict[Instruction, int] = field(default_factory=dict)
    # Number of the instruction that wrote a word last, by memory: a look back over all instructions
    # would make a long program's time quadratic. Most programs repeat nothing: what instructions
    # wrote is noted there when one comes again.
    _writer: dict[str, npt.NDArray[np.int32]] = field(default_factory=dict)
    _unnoted: list[tuple[int, tuple[Region, ...]]] = field(default_factory=list)

    def hits(self, i: Instruction, touched: Accesses) -> list[Hit]:
        """Bins of the next instruction that completes, which accesses ``touched``."""
        name, reads, writes = touched.name, touched.reads, touched.writes
        found: list[Hit] = []
        dependent = False
        for distance, before in enumerate(reversed(self._last), 1):
            for relation in _relations(before.writes, reads):
                dependent |= relation != "adjacent"
                found.append(("dependency", f"{before.name}/{name}/{distance}/{relation}"))
            dependent = dependent or _meet(before.writes, writes) or _meet(before.reads, writes)
        if len(self._last) == 2:
            names = f"{self._last[0].name}/{self._last[1].name}"
            how = "dependent" if dependent else "apart"
            found.append(("operation_triple", f"{names}/{name}/{how}"))
        earlier = self._seen.get(i)
        if earlier is not None and any(
            self._written(memory)[low:high].max() >= earlier for memory, low, high in reads
        ):
            found.append(("repeat", name))
        self._number += 1
        self._unnoted.append((self._number, writes))
        self._seen[i] = self._number
        self._last = [*self._last[-1:], touched]
        return found

    def _written(self, memory: str) -> npt.NDArray[np.int32]:
        """Who wrote each word of a memory last, int32 (65536,); 0: nobody."""
        for number, writes in self._unnoted:
            for where, low, high in writes:
                if where not in self._writer:
                    self._writer[where] = np.zeros(EXT_WORDS, dtype=np.int32)
                self._writer[where][low:high] = number
        self._unnoted.clear()
        if memory not in self._writer:
            self._writer[memory] = np.zeros(EXT_WORDS, dtype=np.int32)
        return self._writer[memory]


def _meet(some: tuple[Region, ...], others: tuple[Region, ...]) -> bool:
    for memory, low, high in some:
        for other, start, end in others:
            if memory == other and low < end and start < high:
                return True
    return False


def _relations(writes: tuple[Region, ...], reads: tuple[Region, ...]) -> list[str]:
    found = []
    for memory, low, high in writes:
        for other, start, end in reads:
            if memory != other or low > end or start > high:
                continue
            if low == start:
                found.append("same")
            elif low < end and start < high:
                found.append("overlapping")
            else:
                found.append("adjacent")
    return found
