"""The GA-2 instruction set: fields, encoding, and the rules that make a word fault.

Every 128-bit word is legal to execute: it either does what docs/isa.md says or faults with one of
its fault codes.  ``check_fault`` is the single place in the model that decides which.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from model.chip.operation_table import (
    EXT_WORDS,
    FIELDS,
    MAX_K,
    MAX_LENGTH,
    MAX_TILE,
    OPERATIONS,
    SPAD_WORDS,
    FaultCode,
    Op,
)

__all__ = [
    "EXT_WORDS",
    "FIELDS",
    "MAX_K",
    "MAX_LENGTH",
    "MAX_TILE",
    "SPAD_WORDS",
    "WORD_BITS",
    "EncodingError",
    "FaultCode",
    "Instruction",
    "Op",
    "check_fault",
    "decode",
    "encode",
    "instruction",
]

WORD_BITS = 128

# Field and mask of the length operand, by operation code.
_LENGTH = {op: (row.length.field, row.length.mask) for op, row in OPERATIONS.items() if row.length}


class EncodingError(ValueError):
    """A field value does not fit its field."""


class Instruction(NamedTuple):
    """The eleven raw fields of one word, with properties that name their meaning per operation.

    Args:
        op: operation code 0..15, also the undefined ones.
        a: first scratchpad address (16 bits): destination, or the source of ST.
        b: second address (16 bits); external for LD and ST.
        c: length in words (16 bits), or the third address of MM and VADD.
        d: 24 bits: RQ mantissa, MM strides ``lda | ldb << 12``, VADD length in 15..0.
        e: RQ shift (6 bits).
        f: MM rows M (8 bits).
        g: MM inner length K (8 bits).
        h: MM columns N (8 bits).
        fl: 4 flag bits; bit 0 is MM ``tb`` or RQ ``relu``.
        x: 18 bits; 11..0 is MM ``ldc``.
    """

    op: int
    a: int = 0
    b: int = 0
    c: int = 0
    d: int = 0
    e: int = 0
    f: int = 0
    g: int = 0
    h: int = 0
    fl: int = 0
    x: int = 0

    @property
    def length(self) -> int:
        """Length operand in words (packed words for UNPACK); 0 for HALT, MM and undefined ops."""
        field, mask = _LENGTH.get(self.op, ("c", 0))
        value: int = getattr(self, field)
        return value & mask

    @property
    def tb(self) -> int:
        """MM: 1 when B is stored transposed."""
        return self.fl & 1

    @property
    def relu(self) -> int:
        """RQ: 1 when negative results become 0."""
        return self.fl & 1

    @property
    def lda(self) -> int:
        """MM: words between two rows of A."""
        return self.d & 0xFFF

    @property
    def ldb(self) -> int:
        """MM: words between two rows of B as stored."""
        return self.d >> 12

    @property
    def ldc(self) -> int:
        """MM: words between two rows of C."""
        return self.x & 0xFFF


def encode(instr: Instruction) -> int:
    """Return the 128-bit word of ``instr``.

    Raises:
        EncodingError: a field is negative or wider than its place in the word.
    """
    op, a, b, c, d, e, f, g, h, fl, x = map(int, instr)
    # What is left of any field to the right of its width, all ones for a negative one.
    if op >> 4 | (a | b | c) >> 16 | d >> 24 | e >> 6 | (f | g | h) >> 8 | fl >> 4 | x >> 18:
        for name, (_, width) in FIELDS.items():
            value = int(getattr(instr, name))
            if not 0 <= value < 1 << width:
                raise EncodingError(f"field {name}={value} does not fit {width} bits in {instr}")
    upper = op << 60 | a << 44 | b << 28 | c << 12 | d >> 12
    lower = (d & 0xFFF) << 52 | e << 46 | f << 38 | g << 30 | h << 22 | fl << 18 | x
    return upper << 64 | lower


@lru_cache(maxsize=8192)
def decode(word: int) -> Instruction:
    """Split a 128-bit word into its fields; the inverse of ``encode`` for every word.

    Raises:
        EncodingError: ``word`` is negative or wider than 128 bits.
    """
    if not 0 <= word < 1 << WORD_BITS:
        raise EncodingError(f"instruction word {word:#x} is not a 128-bit unsigned number")
    return Instruction(
        word >> 124,
        word >> 108 & 0xFFFF,
        word >> 92 & 0xFFFF,
        word >> 76 & 0xFFFF,
        word >> 52 & 0xFFFFFF,
        word >> 46 & 0x3F,
        word >> 38 & 0xFF,
        word >> 30 & 0xFF,
        word >> 22 & 0xFF,
        word >> 18 & 0xF,
        word & 0x3FFFF,
    )


def halt() -> Instruction:
    """HALT: the all-zero word."""
    return Instruction(Op.HALT)


def ld(dst: int, src: int, length: int) -> Instruction:
    """LD: ``spad[dst+i] = ext[src+i]``."""
    return Instruction(Op.LD, a=dst, b=src, c=length)


def st(src: int, dst: int, length: int) -> Instruction:
    """ST: ``ext[dst+i] = spad[src+i]``."""
    return Instruction(Op.ST, a=src, b=dst, c=length)


def mm(
    dst: int,
    A: int,  # noqa: N803 - operand names follow the assembly syntax
    B: int,  # noqa: N803
    M: int,  # noqa: N803
    K: int,  # noqa: N803
    N: int,  # noqa: N803
    tb: int = 0,
    lda: int | None = None,
    ldb: int = 0,
    ldc: int | None = None,
) -> Instruction:
    """MM: ``C[m][n] = sum_k A[m][k] * B[k][n]``; ``lda`` defaults to K and ``ldc`` to N.

    Raises:
        EncodingError: a stride outside 0..4095 (it would spill into its neighbour's bits).
    """
    lda = K if lda is None else lda
    ldc = N if ldc is None else ldc
    for name, value in (("lda", lda), ("ldb", ldb), ("ldc", ldc)):
        if not 0 <= value < 1 << 12:
            raise EncodingError(f"stride {name}={value} does not fit 12 bits")
    return Instruction(Op.MM, a=dst, b=A, c=B, d=lda | ldb << 12, f=M, g=K, h=N, fl=int(tb), x=ldc)


def rq(dst: int, src: int, length: int, m: int, s: int, relu: int = 0) -> Instruction:
    """RQ: ``spad[dst+i] = requantize(spad[src+i], m, s, relu)``."""
    return Instruction(Op.RQ, a=dst, b=src, c=length, d=m, e=s, fl=int(relu))


def sm(dst: int, src: int, length: int) -> Instruction:
    """SM: softmax of int8 scores to unsigned Q0.16."""
    return Instruction(Op.SM, a=dst, b=src, c=length)


def vadd(dst: int, src1: int, src2: int, length: int) -> Instruction:
    """VADD: saturating int8 sum of two vectors."""
    return Instruction(Op.VADD, a=dst, b=src1, c=src2, d=length)


def amax(dst: int, src: int, length: int) -> Instruction:
    """AMAX: index of the first maximum of signed 32-bit words."""
    return Instruction(Op.AMAX, a=dst, b=src, c=length)


def unpack(dst: int, src: int, length: int) -> Instruction:
    """UNPACK: eight sign-extended nibbles out of every packed word."""
    return Instruction(Op.UNPACK, a=dst, b=src, c=length)


def instruction(op: int, **operands: int) -> Instruction:
    """Build any defined operation from its operands by name; those with a default may be left out.

    Raises:
        EncodingError: an operand that is unknown, missing or does not fit.
    """
    row = OPERATIONS[op]
    unknown = operands.keys() - {operand.name for operand in row.operands}
    if unknown:
        raise EncodingError(f"{row.name} has no operand {sorted(unknown)[0]!r}")
    fields: dict[str, int] = {}
    values: dict[str, int] = {}
    for operand in row.operands:
        default = operand.default
        given = operands.get(operand.name, values[default] if isinstance(default, str) else default)
        if given is None:
            raise EncodingError(f"{row.name} needs the operand {operand.name}")
        if not 0 <= given < 1 << operand.width:
            raise EncodingError(f"{operand.name}={given} does not fit {operand.width} bits")
        values[operand.name] = given
        fields[operand.field] = fields.get(operand.field, 0) | given << operand.low
    return Instruction(op, **fields)


@lru_cache(maxsize=8192)
def check_fault(instr: Instruction) -> FaultCode:
    """Return the code of the first fault rule that applies, or ``FaultCode.NONE``.

    The order is OPCODE, LENGTH, SHAPE, ADDRESS, OVERLAP (docs/isa.md, "Faults").  A region is never
    empty here, so ``base + length`` beyond its memory also covers a base beyond it.
    """
    row = OPERATIONS.get(instr.op)
    if row is None:
        return FaultCode.OPCODE
    length = instr.length
    if row.length and not 0 < length <= row.longest:
        return FaultCode.LENGTH
    for operand in row.shape:
        if not 1 <= getattr(instr, operand.field) <= operand.most:
            return FaultCode.SHAPE
    for operand in row.regions:
        if getattr(instr, operand.field) + operand.size(length) > operand.limit:
            return FaultCode.ADDRESS
    if row.overlap != "free" and row.destination:
        a, written = instr.a, row.destination.size(length)
        for operand in row.sources:
            base: int = getattr(instr, operand.field)
            same = a == base and row.overlap == "same"
            if a < base + operand.size(length) and base < a + written and not same:
                return FaultCode.OVERLAP
    return FaultCode.NONE
