"""Instructions of many programs as arrays, one column an instruction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from model.chip.isa import FIELDS, Op
from model.chip.operation_table import EXECUTED, MAX_K, MAX_TILE, OPERATIONS, SPAD_WORDS
from verif.bins.sheet import Index

SLOTS = 3
"""Most operands that are addresses."""
NO_OPERAND = len(OPERATIONS) * SLOTS
OPERANDS = [
    f"{row.name}.{row.regions[slot].name}" if slot < len(row.regions) else None
    for row in OPERATIONS.values()
    for slot in range(SLOTS)
]
"""Names of the operands that are addresses, ``SLOTS`` an operation."""
EXTERNAL = [
    slot < len(row.regions) and row.regions[slot].memory == "ext"
    for row in OPERATIONS.values()
    for slot in range(SLOTS)
]
"""Whether they point into the external memory."""

_FIELD = {name: place for place, name in enumerate(FIELDS)}


def _table(value: str) -> Index:
    """A property of each operand, (operations, slots)."""
    table = np.zeros((len(OPERATIONS), SLOTS), dtype=np.int64)
    for row in EXECUTED:
        for slot, operand in enumerate(row.regions):
            of = _FIELD[operand.field] if value == "field" else getattr(operand, value)
            table[row.op, slot] = of
    return table


_PLACE, _PER_LENGTH, _WORDS = _table("field"), _table("per_length"), _table("words")
_LENGTH = np.zeros((2, len(OPERATIONS)), dtype=np.int64)  # field and mask
for _row in EXECUTED:
    if _row.length:
        _LENGTH[:, _row.op] = _FIELD[_row.length.field], _row.length.mask
_NUMBER = np.array(
    [NO_OPERAND if name is None else place for place, name in enumerate(OPERANDS)]
).reshape(-1, SLOTS)


@dataclass(frozen=True)
class Products:
    """Scratchpad addresses of matrix products, padded to the largest.

    Attributes:
        a: int64 (n, 4, 64); ``b``: int64 (n, 64, 4); ``c``: int64 (n, 4, 4).
        in_a, in_b, in_c: which of them there are.
    """

    a: Index
    b: Index
    c: Index
    in_a: npt.NDArray[np.bool_]
    in_b: npt.NDArray[np.bool_]
    in_c: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Rows:
    """The different instructions that each of some programs completed, HALT among them.

    Attributes:
        program: which program, int64 (n,).
        depth: of its external memory, int64 (n,).
        words: uint64 (n, 2), low half first.
        fields: int64 (11, n), in the order of ``FIELDS``.
    """

    program: Index
    depth: Index
    words: npt.NDArray[np.uint64]
    fields: Index

    @classmethod
    def of(cls, program: Sequence[int], depth: Sequence[int], words: Sequence[int]) -> Rows:
        """Decode 128-bit words."""
        raw = b"".join([word.to_bytes(16, "little") for word in words])
        halves = np.frombuffer(raw, dtype="<u8").reshape(-1, 2)
        fields = np.empty((len(FIELDS), len(words)), dtype=np.int64)
        for place, (low, width) in enumerate(FIELDS.values()):
            bits = halves[:, low // 64] >> np.uint64(low % 64)
            if low < 64 < low + width:
                bits = bits | halves[:, 1] << np.uint64(64 - low)
            fields[place] = bits & np.uint64((1 << width) - 1)
        return cls(np.array(program, np.int64), np.array(depth, np.int64), halves, fields)

    def __getattr__(self, name: str) -> Index:
        if name not in _FIELD:
            raise AttributeError(name)
        field: Index = self.fields[_FIELD[name]]
        return field

    def take(self, places: Index) -> Rows:
        """Some of the rows."""
        fields = self.fields[:, places]
        return Rows(self.program[places], self.depth[places], self.words[places], fields)

    def places(self, *ops: int) -> Index:
        """Where instructions of these operations are."""
        return np.flatnonzero(np.isin(self.op, ops))

    @cached_property
    def length(self) -> Index:
        """Length operand in words, 0 for HALT and MM."""
        place, mask = _LENGTH[:, self.op]
        length: Index = self.fields[place, np.arange(len(self.op))] & mask
        return length

    @cached_property
    def operand(self) -> Index:
        """Number of each operand that is an address, ``NO_OPERAND`` for none, (3, n)."""
        operand: Index = _NUMBER[self.op].T
        return operand

    @cached_property
    def base(self) -> Index:
        """Its value, (3, n)."""
        base: Index = self.fields[_PLACE[self.op].T, np.arange(len(self.op))]
        return base

    @cached_property
    def end(self) -> Index:
        """Address behind its region, of MM behind its base alone, (3, n)."""
        end: Index = self.base + _PER_LENGTH[self.op].T * self.length + _WORDS[self.op].T
        return end

    @cached_property
    def matrices(self) -> Index:
        """Where the matrix products are."""
        return self.places(Op.MM)

    @cached_property
    def products(self) -> Products:
        """Addresses of the matrix products."""
        i = self.take(self.matrices)
        f, g, h, lda, ldb, ldc, transposed = (
            each[:, None, None]
            for each in (i.f, i.g, i.h, i.d & 0xFFF, i.d >> 12, i.x & 0xFFF, i.fl & 1)
        )
        m, n = np.arange(MAX_TILE)[:, None], np.arange(MAX_TILE)
        k, k_down = np.arange(MAX_K), np.arange(MAX_K)[:, None]
        within = np.where(transposed, n * ldb + k_down, k_down * ldb + n)
        mask = SPAD_WORDS - 1
        return Products(
            (i.b[:, None, None] + m * lda + k) & mask,
            (i.c[:, None, None] + within) & mask,
            (i.a[:, None, None] + m * ldc + n) & mask,
            (m < f) & (k < g),
            (k_down < g) & (n < h),
            (m < f) & (n < h),
        )

    @cached_property
    def touched(self) -> tuple[Index, Index]:
        """First address and address behind the last of each operand's region, (3, n) each.

        Of an MM they are the lowest and the highest one that it touches.
        """
        low, high = self.base.copy(), self.end.copy()
        if len(self.matrices):
            p = self.products
            for name, at, there in (("dst", p.c, p.in_c), ("A", p.a, p.in_a), ("B", p.b, p.in_b)):
                slot = OPERANDS.index(f"MM.{name}") % SLOTS
                low[slot, self.matrices] = np.where(there, at, SPAD_WORDS).min(axis=(1, 2))
                high[slot, self.matrices] = np.where(there, at, -1).max(axis=(1, 2)) + 1
        return low, high
