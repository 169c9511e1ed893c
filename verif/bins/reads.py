"""What instructions read, copied before they run, and joined to look at many of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from model.chip.image import Words
from model.chip.isa import Instruction, Op
from model.chip.operation_table import OPERATIONS
from model.chip.operations import matrix_addresses
from verif.bins.sheet import Index

Bits = npt.NDArray[np.bool_]


class Read(NamedTuple):
    """An instruction about to run, and copies of the words that it reads, operand by operand."""

    instruction: Instruction
    words: tuple[Words, ...]


def read_by(i: Instruction, spad: Words) -> Read | None:
    """What the legal instruction ``i`` reads of ``spad`` (4096,); None of LD and ST."""
    if OPERATIONS[i.op].unit == "dma":
        return None
    if i.op == Op.MM:
        where = matrix_addresses(i)
        return Read(i, (spad.take(where.a), spad.take(where.b)))
    bases = [getattr(i, operand.field) for operand in OPERATIONS[i.op].sources]
    return Read(i, tuple([spad[base : base + i.length].copy() for base in bases]))


@dataclass(frozen=True)
class Segments:
    """Words that instructions read, one instruction behind the other.

    Attributes:
        program: of each instruction, int64 (n,).
        words: uint32 (sum of sizes,).
        sizes: words of each instruction, int64 (n,), 1 at least.
    """

    program: Index
    words: Words
    sizes: Index

    @classmethod
    def of(cls, program: Index, parts: Sequence[Words]) -> Segments:
        """Join what the instructions of these programs read."""
        flat = [part.ravel() for part in parts]
        sizes = np.array([part.size for part in flat], dtype=np.int64)
        return cls(program, np.concatenate(flat), sizes)

    @cached_property
    def starts(self) -> Index:
        """Where the words of each instruction begin."""
        return np.cumsum(self.sizes) - self.sizes

    @cached_property
    def programs(self) -> Index:
        """Program of each word."""
        return np.repeat(self.program, self.sizes)

    @cached_property
    def int8(self) -> Index:
        """Bits 7..0 of each word."""
        return self.words.astype(np.int8).astype(np.int64)

    def first(self, where: Bits) -> Index:
        """Index within each instruction's words of the first one that ``where`` names."""
        within = np.arange(len(where)) - np.repeat(self.starts, self.sizes)
        return np.minimum.reduceat(np.where(where, within, len(where)), self.starts)
