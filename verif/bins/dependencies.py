"""Bins of instructions that follow each other: triples, dependencies, repeats on changed data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from model.chip.operation_table import EXECUTED, OPERATIONS
from verif.bins.rows import Rows
from verif.bins.sheet import Index, Sheet, numbers

RELATIONS = ("same", "overlapping", "adjacent")


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


_NAMES = [row.name for row in OPERATIONS.values()]
_COUNT = len(_NAMES)
PAIR = numbers("operation_pair", [[f"{a}/{b}" for b in _NAMES] for a in _NAMES])
TRIPLE = numbers(
    "operation_triple",
    [
        [[[f"{a}/{b}/{c}/{how}" for how in ("apart", "dependent")] for c in _NAMES] for b in _NAMES]
        for a in _NAMES
    ],
)
DEPENDENCY = numbers(
    "dependency",
    [
        [
            [[None, *(f"{a}/{b}/{distance}/{how}" for how in RELATIONS)] for distance in (1, 2)]
            for b in _NAMES
        ]
        for a in _NAMES
    ],
)
REPEAT = numbers("repeat", _NAMES)
MOST_PAIRS = 1 << 18  # looked at in one go

SPAD, EXT = 1, 2  # memories; 0 is none
_MEMORIES = {"spad": SPAD, "ext": EXT}
# Memory of the region that an operation writes and of two that it reads, and their slots.
_MEMORY = np.zeros((3, _COUNT), dtype=np.int64)
_SLOT = np.zeros((3, _COUNT), dtype=np.int64)
for _row in EXECUTED:
    _reads = 0
    for _slot, _operand in enumerate(_row.regions):
        _which = 0
        if _operand.name != "dst":
            _which = _reads = _reads + 1
        _SLOT[_which, _row.op] = _slot
        _MEMORY[_which, _row.op] = _MEMORIES[_operand.memory]


@dataclass(frozen=True)
class Regions:
    """What instructions write (row 0) and read (rows 1 and 2), int64 (3, n) each.

    Attributes:
        memory: SPAD, EXT or 0 for nothing.
        low, high: first address, and that behind the last.
    """

    memory: Index
    low: Index
    high: Index

    @classmethod
    def of(cls, rows: Rows) -> Regions:
        """Regions of instructions; of an MM from its lowest to its highest address."""
        slots = _SLOT[:, rows.op]
        low, high = (np.take_along_axis(each, slots, axis=0) for each in rows.touched)
        return cls(_MEMORY[:, rows.op], low, high)

    def at(self, which: int, places: Index) -> tuple[Index, Index, Index]:
        """One region of some instructions."""
        return self.memory[which, places], self.low[which, places], self.high[which, places]


Region = tuple[Index, Index, Index]


def _meet(one: Region, other: Region) -> npt.NDArray[np.bool_]:
    same = (one[0] == other[0]) & (one[0] > 0)
    met: npt.NDArray[np.bool_] = same & (one[1] < other[2]) & (other[1] < one[2])
    return met


def _relation(one: Region, other: Region) -> Index:
    """Number of the relation, 1 the first of ``RELATIONS``; 0 for regions that do not touch."""
    touch = (one[0] == other[0]) & (one[0] > 0) & (one[1] <= other[2]) & (other[1] <= one[2])
    overlap = (one[1] < other[2]) & (other[1] < one[2])
    relation: Index = np.where(one[1] == other[1], 1, np.where(overlap, 2, 3)) * touch
    return relation


def follower_hits(sheet: Sheet, rows: Rows, order: Index, run: Index) -> None:
    """Mark the bins of instructions that follow each other.

    Args:
        sheet: where to mark.
        rows: the different instructions of each program.
        order: which of them were executed, one after the other, int64 (n,).
        run: the run of a program that each belongs to, int64 (n,), ascending.
    """
    op, program = rows.op[order], rows.program[order]
    behind = np.flatnonzero(run[1:] == run[:-1]) + 1
    sheet.mark(program[behind], PAIR[op[behind - 1], op[behind]])
    executed = op != 0
    behind = behind[executed[behind]]
    regions = Regions.of(rows)
    later = behind[behind > 1]
    later = later[run[later] == run[later - 2]]
    dependent = np.zeros(len(order), dtype=np.bool_)
    for distance, places in ((1, behind), (2, later)):
        before, now = order[places - distance], order[places]
        written, rewritten = regions.at(0, before), regions.at(0, now)
        close = _meet(written, rewritten)
        for which in (1, 2):
            close |= _meet(regions.at(which, before), rewritten)
            relation = _relation(written, regions.at(which, now))
            close |= (relation == 1) | (relation == 2)
            bins = DEPENDENCY[op[places - distance], op[places], distance - 1, relation]
            sheet.mark(program[places], bins)
        dependent[places] |= close
    ops = op[later - 2], op[later - 1], op[later], dependent[later].astype(np.int64)
    sheet.mark(program[later], TRIPLE[ops])
    _repeat_hits(sheet, rows, regions, order, run)


def _repeat_hits(sheet: Sheet, rows: Rows, regions: Regions, order: Index, run: Index) -> None:
    """Mark instructions that come again when what they read has been written since.

    What the earlier one wrote counts.
    """
    key = run * len(rows.op) + order
    by_key = np.argsort(key, kind="stable")
    same = np.flatnonzero(key[by_key][1:] == key[by_key][:-1])
    earlier, again = by_key[same], by_key[same + 1]
    for first, last in _chunks(again - earlier):
        which = np.repeat(np.arange(first, last), (again - earlier)[first:last])
        gap = (again - earlier)[first:last]
        back = np.arange(len(which)) - np.repeat(np.cumsum(gap) - gap, gap)
        now = order[again[which]]
        written = regions.at(0, order[earlier[which] + back])
        hit = _meet(written, regions.at(1, now)) | _meet(written, regions.at(2, now))
        sheet.mark(rows.program[now[hit]], REPEAT[rows.op[now[hit]]])


def _chunks(sizes: Index) -> Iterator[tuple[int, int]]:
    """Split into parts of up to about ``MOST_PAIRS`` in sum."""
    part = np.cumsum(sizes) // MOST_PAIRS
    edges = np.flatnonzero(np.diff(part, prepend=-1, append=-1)).tolist()
    yield from pairwise(edges)
