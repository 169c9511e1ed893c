"""The one table of operations: fields, operands, fault rules, time and counter of each.

Encoding, assembler, fault rules, cycle model, coverage bins, random programs, shrinking and the
test plan read it; ``make operations`` writes the parts of the RTL that follow from it and says what
an operation still lacks.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from types import CodeType
from typing import Literal

SPAD_WORDS = 4096
EXT_WORDS = 65536
MAX_LENGTH = 4095
MAX_TILE = 4  # rows and columns of the MAC array
MAX_K = 64  # depth of its operand memories

Unit = Literal["mm", "dma", "vec"]

# Field name -> (lowest bit, width), most significant field first.
FIELDS: dict[str, tuple[int, int]] = {
    "op": (124, 4),
    "a": (108, 16),
    "b": (92, 16),
    "c": (76, 16),
    "d": (52, 24),
    "e": (46, 6),
    "f": (38, 8),
    "g": (30, 8),
    "h": (22, 8),
    "fl": (18, 4),
    "x": (0, 18),
}


class Op(IntEnum):
    """Defined operation codes, without a gap; the codes above fault."""

    HALT = 0
    LD = 1
    ST = 2
    MM = 3
    RQ = 4
    SM = 5
    VADD = 6
    AMAX = 7
    UNPACK = 8


UNDEFINED_OPS = range(len(Op), 16)


class FaultCode(IntEnum):
    """Value of the ``fault_code`` output; a lower code wins when several rules apply."""

    NONE = 0
    OPCODE = 1
    LENGTH = 2
    SHAPE = 3
    ADDRESS = 4
    OVERLAP = 5


_NO_GLOBALS: dict[str, object] = {"__builtins__": {}}


@dataclass(frozen=True)
class Operand:
    """An operand: ``width`` bits of ``field`` from bit ``low`` of the field.

    Attributes:
        name: in assembly and in the unit's ports.
        default: a number, the name of the operand it is copied from, or None when required.
        memory: that it is an address of: "spad", "ext", or "" for no address.
        per_length, words: its region has ``per_length * len + words`` words.
        reads: what its unit sees of a word it reads: "word", "int32" or "int8"; "" when it writes.
        most: largest value that is no SHAPE fault; 0 is no limit.
    """

    name: str
    field: str
    width: int
    low: int = 0
    default: int | str | None = None
    memory: Literal["spad", "ext", ""] = ""
    per_length: int = 1
    words: int = 0
    reads: Literal["word", "int32", "int8", ""] = ""
    most: int = 0

    @cached_property
    def shift(self) -> int:
        """Lowest bit of the operand in the instruction word."""
        return FIELDS[self.field][0] + self.low

    @cached_property
    def mask(self) -> int:
        """Bits of its field that it takes."""
        return (1 << self.width) - 1 << self.low

    @cached_property
    def limit(self) -> int:
        """Words of the memory it points into."""
        return EXT_WORDS if self.memory == "ext" else SPAD_WORDS

    def read(self, word: int) -> int:
        """Extract the operand from an instruction word."""
        return word >> self.shift & (1 << self.width) - 1

    def of(self, instruction: object) -> int:
        """Extract the operand from the fields of an instruction."""
        value: int = getattr(instruction, self.field)
        return (value & self.mask) >> self.low

    def size(self, length: int) -> int:
        """Words of its region in an instruction of ``length``."""
        return self.per_length * length + self.words


@dataclass(frozen=True)
class Operation:
    """One row of the table.

    Attributes:
        about: its effect, in one line.
        unit: counter of its busy cycles; None for HALT.
        busy: busy cycles as a formula of its operands and of LAT, the read latency.
        overlap: of the destination with a source: "free"; "same" allows identical regions only;
            "never" none.
        weight: how often random programs draw it, of about a hundred.
        module, parameters: of the RTL that executes it, as ``ga2_x #(parameters)``.
    """

    op: Op
    about: str
    operands: tuple[Operand, ...] = ()
    unit: Unit | None = None
    busy: str = "0"
    overlap: Literal["free", "same", "never"] = "free"
    weight: int = 0
    module: str = ""
    parameters: str = ""

    @cached_property
    def name(self) -> str:
        """Its mnemonic."""
        return self.op.name

    @cached_property
    def length(self) -> Operand | None:
        """The operand that gives its length, if it has one."""
        return next((o for o in self.operands if o.name == "len"), None)

    @cached_property
    def regions(self) -> tuple[Operand, ...]:
        """Operands that are addresses."""
        return tuple(o for o in self.operands if o.memory)

    @cached_property
    def sources(self) -> tuple[Operand, ...]:
        """Scratchpad regions that it reads."""
        return tuple(o for o in self.regions if o.memory == "spad" and o.reads)

    @cached_property
    def destination(self) -> Operand | None:
        """The scratchpad region that it writes, if any."""
        written = (o for o in self.regions if o.memory == "spad" and not o.reads)
        return next(written, None)

    @cached_property
    def shape(self) -> tuple[Operand, ...]:
        """Operands whose values a SHAPE fault limits."""
        return tuple(o for o in self.operands if o.most)

    @cached_property
    def expansion(self) -> int:
        """Words written for a word of its length, at least 1."""
        return max((o.per_length for o in self.regions), default=1) or 1

    @cached_property
    def longest(self) -> int:
        """Largest length that is no LENGTH fault."""
        return MAX_LENGTH // self.expansion

    @property
    def longest_that_fits(self) -> int:
        """Largest length that does not fault at all."""
        apart = self.expansion + 1 if self.overlap == "never" else self.expansion
        return min(MAX_LENGTH, SPAD_WORDS // apart)

    @cached_property
    def named_bits(self) -> dict[str, int]:
        """Bits of each field that it reads, by field; the others are ignored."""
        named: dict[str, int] = {}
        for operand in self.operands:
            named[operand.field] = named.get(operand.field, 0) | operand.mask
        return named

    def operand(self, name: str) -> Operand:
        """The operand of this name. Raises KeyError."""
        for operand in self.operands:
            if operand.name == name:
                return operand
        raise KeyError(f"{self.name} has no operand {name!r}")

    @cached_property
    def _busy_code(self) -> CodeType:
        return compile(self.busy, f"<busy time of {self.name}>", "eval")

    @cached_property
    def timed(self) -> tuple[Operand, ...]:
        """The operands that its busy cycles depend on."""
        return tuple(o for o in self.operands if o.name in self._busy_code.co_names)

    def busy_cycles(self, **values: int) -> int:
        """Busy cycles for these values of its operands, and of LAT where its formula has it."""
        cycles: int = eval(self._busy_code, _NO_GLOBALS, values)
        return cycles


def _address(name: str, place: str, **more: object) -> Operand:
    return Operand(name, place, 16, memory="spad", **more)  # type: ignore[arg-type]


_DST = _address("dst", "a")
_LEN = Operand("len", "c", 16)

_ROWS = (
    Operation(Op.HALT, "end of the program"),
    Operation(
        Op.LD,
        "spad[dst+i] = ext[src+i]",
        (_DST, Operand("src", "b", 16, memory="ext", reads="word"), _LEN),
        unit="dma",
        busy="len + LAT + 1",
        weight=14,
        module="ga2_load",
    ),
    Operation(
        Op.ST,
        "ext[dst+i] = spad[src+i]",
        (_address("src", "a", reads="word"), Operand("dst", "b", 16, memory="ext"), _LEN),
        unit="dma",
        busy="len + 2",
        weight=10,
        module="ga2_store",
    ),
    Operation(
        Op.MM,
        "C[m][n] = sum over k of A[m][k] * B[k][n]",
        (
            _address("dst", "a", per_length=0, words=1),  # only the base is checked
            _address("A", "b", per_length=0, words=1, reads="int8"),
            _address("B", "c", per_length=0, words=1, reads="int8"),
            Operand("M", "f", 8, most=MAX_TILE),
            Operand("K", "g", 8, most=MAX_K),
            Operand("N", "h", 8, most=MAX_TILE),
            Operand("tb", "fl", 1, default=0),
            Operand("lda", "d", 12, default="K"),
            Operand("ldb", "d", 12, low=12, default=0),
            Operand("ldc", "x", 12, default="N"),
        ),
        unit="mm",
        busy="M*K + K*N + (K + M + N - 2) + M*N + 7",
        weight=16,
        module="ga2_matmul",
    ),
    Operation(
        Op.RQ,
        "spad[dst+i] = requantize(spad[src+i], m, s, relu)",
        (
            _DST,
            _address("src", "b", reads="int32"),
            _LEN,
            Operand("m", "d", 24),
            Operand("s", "e", 6),
            Operand("relu", "fl", 1, default=0),
        ),
        unit="vec",
        busy="len + 2",
        overlap="same",
        weight=16,
        module="ga2_requant",
    ),
    Operation(
        Op.SM,
        "softmax of int8 scores to unsigned Q0.16",
        (_DST, _address("src", "b", reads="int8"), _LEN),
        unit="vec",
        busy="3*len + 47",
        overlap="same",
        weight=10,
        module="ga2_softmax",
    ),
    Operation(
        Op.VADD,
        "spad[dst+i] = clamp(spad[src1+i] + spad[src2+i])",
        (
            _DST,
            _address("src1", "b", reads="int8"),
            _address("src2", "c", reads="int8"),
            Operand("len", "d", 16),
        ),
        unit="vec",
        busy="2*len + 2",
        overlap="same",
        weight=14,
        module="ga2_vadd",
    ),
    Operation(
        Op.AMAX,
        "spad[dst] = index of the first maximum of spad[src..]",
        (_address("dst", "a", per_length=0, words=1), _address("src", "b", reads="int32"), _LEN),
        unit="vec",
        busy="len + 3",
        weight=10,
        module="ga2_amax",
    ),
    Operation(
        Op.UNPACK,
        "eight sign-extended nibbles of each packed word",
        (_address("dst", "a", per_length=8), _address("src", "b", reads="word"), _LEN),
        unit="vec",
        busy="10*len + 1",
        overlap="never",
        weight=10,
        module="ga2_unpack",
    ),
)

OPERATIONS: dict[int, Operation] = {int(row.op): row for row in _ROWS}
assert list(OPERATIONS) == list(range(len(Op))), "every operation has one row, in order"

EXECUTED: tuple[Operation, ...] = tuple(row for row in _ROWS if row.unit)
"""All operations but HALT."""

VECTORS: tuple[Operation, ...] = tuple(row for row in EXECUTED if row.length)
"""Operations with a length."""
