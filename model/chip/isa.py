"""The GA-2 instruction set: fields, encoding, and the rules that make a word fault.

Every 128-bit word is legal to execute: it either does what docs/isa.md says or faults with one of
the codes below.  ``check_fault`` is the single place in the model that decides which.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

SPAD_WORDS = 4096
EXT_WORDS = 65536
WORD_BITS = 128
MAX_LENGTH = 4095
MAX_TILE = 4  # rows and columns of the MAC array
MAX_K = 64  # depth of its operand memories


class Op(IntEnum):
    """Defined operation codes; 9..15 fault."""

    HALT = 0
    LD = 1
    ST = 2
    MM = 3
    RQ = 4
    SM = 5
    VADD = 6
    AMAX = 7
    UNPACK = 8


class FaultCode(IntEnum):
    """Value of the ``fault_code`` output; a lower code wins when several rules apply."""

    NONE = 0
    OPCODE = 1
    LENGTH = 2
    SHAPE = 3
    ADDRESS = 4
    OVERLAP = 5


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


class EncodingError(ValueError):
    """A field value does not fit its field."""


@dataclass(frozen=True, slots=True)
class Instruction:
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
        if self.op == Op.VADD:
            return self.d & 0xFFFF
        return 0 if self.op in (Op.HALT, Op.MM) or self.op > Op.UNPACK else self.c

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
    word = 0
    for name, (low, width) in FIELDS.items():
        value = int(getattr(instr, name))
        if not 0 <= value < 1 << width:
            raise EncodingError(f"field {name}={value} does not fit {width} bits in {instr}")
        word |= value << low
    return word


@lru_cache(maxsize=8192)
def decode(word: int) -> Instruction:
    """Split a 128-bit word into its fields; the inverse of ``encode`` for every word.

    Raises:
        EncodingError: ``word`` is negative or wider than 128 bits.
    """
    if not 0 <= word < 1 << WORD_BITS:
        raise EncodingError(f"instruction word {word:#x} is not a 128-bit unsigned number")
    return Instruction(
        op=word >> 124,
        a=word >> 108 & 0xFFFF,
        b=word >> 92 & 0xFFFF,
        c=word >> 76 & 0xFFFF,
        d=word >> 52 & 0xFFFFFF,
        e=word >> 46 & 0x3F,
        f=word >> 38 & 0xFF,
        g=word >> 30 & 0xFF,
        h=word >> 22 & 0xFF,
        fl=word >> 18 & 0xF,
        x=word & 0x3FFFF,
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


def _overlap(base1: int, len1: int, base2: int, len2: int) -> bool:
    return base1 < base2 + len2 and base2 < base1 + len1


def _check_mm(instr: Instruction) -> FaultCode:
    if not (1 <= instr.f <= MAX_TILE and 1 <= instr.h <= MAX_TILE and 1 <= instr.g <= MAX_K):
        return FaultCode.SHAPE
    if instr.a >= SPAD_WORDS or instr.b >= SPAD_WORDS or instr.c >= SPAD_WORDS:
        return FaultCode.ADDRESS
    return FaultCode.NONE


def check_fault(instr: Instruction) -> FaultCode:
    """Return the code of the first fault rule that applies, or ``FaultCode.NONE``.

    The order is OPCODE, LENGTH, SHAPE, ADDRESS, OVERLAP (docs/isa.md, "Faults").  A scratchpad
    region is never empty here, so ``base + length > 4096`` also covers a base above 4,095.
    """
    op = instr.op
    if op > Op.UNPACK:
        return FaultCode.OPCODE
    if op == Op.HALT:
        return FaultCode.NONE
    if op == Op.MM:
        return _check_mm(instr)

    a, b = instr.a, instr.b
    length = instr.length
    written = 8 * length if op == Op.UNPACK else length
    if length == 0 or written > MAX_LENGTH:
        return FaultCode.LENGTH

    if op in (Op.LD, Op.ST):
        outside = a + length > SPAD_WORDS or b + length > EXT_WORDS
        return FaultCode.ADDRESS if outside else FaultCode.NONE
    if op == Op.AMAX:
        outside = a >= SPAD_WORDS or b + length > SPAD_WORDS
        return FaultCode.ADDRESS if outside else FaultCode.NONE

    if a + written > SPAD_WORDS or b + length > SPAD_WORDS:
        return FaultCode.ADDRESS
    if op == Op.UNPACK:
        clash = _overlap(a, written, b, length)
    elif op == Op.VADD:
        if instr.c + length > SPAD_WORDS:
            return FaultCode.ADDRESS
        clash = 0 < abs(a - b) < length or 0 < abs(a - instr.c) < length
    else:  # RQ, SM: in place is fine, a partial overlap is not
        clash = 0 < abs(a - b) < length
    return FaultCode.OVERLAP if clash else FaultCode.NONE
