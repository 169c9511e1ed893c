"""What each operation computes, on a scratchpad held as a numpy array.

Every function reads all its operands before anything is written, which equals the hardware's
word-by-word order because the fault rules let regions overlap only where they are identical.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from model.chip.fixed_point import requantize, saturating_add, softmax_q16
from model.chip.image import Words
from model.chip.isa import SPAD_WORDS, FaultCode, Instruction, Op, check_fault, decode
from model.chip.operation_table import Unit
from model.chip.timing import busy_cycles, unit_of

Index = npt.NDArray[np.int64]

_MASK = SPAD_WORDS - 1
_STEPS = np.arange(256, dtype=np.int64)
_NIBBLE_SHIFTS = np.arange(0, 32, 4, dtype=np.uint32)


class MatrixAddresses(NamedTuple):
    """Scratchpad addresses of an MM: A is (M, K), B is (K, N), C is (M*N,) in write order."""

    a: Index
    b: Index
    c: Index


class Plan(NamedTuple):
    """A decoded word with everything about it that does not depend on data.

    Attributes:
        instr: the decoded fields.
        fault: fault code, NONE for an instruction that executes.
        unit: counter of its busy cycles; None for HALT and faults.
        busy: busy cycles; 0 for LD, whose time depends on the memory.
        matrix: addresses of an MM, None for others.
        compute: function from scratchpad and plan to the words the vector or matrix unit writes;
            None for HALT, LD, ST and faults.
    """

    instr: Instruction
    fault: FaultCode
    unit: Unit | None
    busy: int
    matrix: MatrixAddresses | None
    compute: Callable[[Words, Plan], Words] | None


@lru_cache(maxsize=2048)
def matrix_addresses(instr: Instruction) -> MatrixAddresses:
    """Return the addresses an MM reads and writes; they wrap modulo 4,096."""
    m, k, n = _STEPS[: instr.f, None], _STEPS[: instr.g], _STEPS[: instr.h]
    column = k[:, None]
    b = n * instr.ldb + column if instr.tb else column * instr.ldb + n
    return MatrixAddresses(
        a=(instr.b + m * instr.lda + k) & _MASK,
        b=(instr.c + b) & _MASK,
        c=((instr.a + m * instr.ldc + n) & _MASK).ravel(),
    )


def low_bytes(words: Words) -> npt.NDArray[np.int8]:
    """Bits 7..0 of every word as int8: all that a unit consuming int8 looks at."""
    return words.astype(np.int8)


def _to_words(values: npt.NDArray[np.int64]) -> Words:
    return values.astype(np.uint32)  # keeps the low 32 bits, so negatives are sign-extended


def _matmul(spad: Words, plan: Plan) -> Words:
    assert plan.matrix is not None
    a = low_bytes(spad.take(plan.matrix.a)).astype(np.int32)
    b = low_bytes(spad.take(plan.matrix.b)).astype(np.int32)
    product: npt.NDArray[np.int32] = np.matmul(a, b)
    return product.ravel().view(np.uint32)


def _requantize(spad: Words, plan: Plan) -> Words:
    i = plan.instr
    acc = spad[i.b : i.b + i.c].view(np.int32)
    return _to_words(requantize(acc, i.d, i.e, i.relu))


def _softmax(spad: Words, plan: Plan) -> Words:
    i = plan.instr
    return _to_words(softmax_q16(low_bytes(spad[i.b : i.b + i.c])))


def _vadd(spad: Words, plan: Plan) -> Words:
    i = plan.instr
    n = i.length
    first = low_bytes(spad[i.b : i.b + n])
    second = low_bytes(spad[i.c : i.c + n])
    return _to_words(saturating_add(first, second))


def _argmax(spad: Words, plan: Plan) -> Words:
    i = plan.instr
    index = spad[i.b : i.b + i.c].view(np.int32).argmax()
    return np.array([index], dtype=np.uint32)


def _unpack(spad: Words, plan: Plan) -> Words:
    i = plan.instr
    packed = spad[i.b : i.b + i.c, None]
    nibbles = packed >> _NIBBLE_SHIFTS & np.uint32(15)
    return ((nibbles ^ np.uint32(8)) - np.uint32(8)).ravel()  # wraps: sign extension to 32 bits


COMPUTE: dict[int, Callable[[Words, Plan], Words]] = {
    Op.MM: _matmul,
    Op.RQ: _requantize,
    Op.SM: _softmax,
    Op.VADD: _vadd,
    Op.AMAX: _argmax,
    Op.UNPACK: _unpack,
}


@lru_cache(maxsize=8192)
def plan_word(word: int) -> Plan:
    """Decode, check and time a 128-bit word once; programs repeat words a lot.

    Raises:
        EncodingError: ``word`` is not a 128-bit unsigned number.
    """
    instr = decode(word)
    fault = check_fault(instr)
    if fault or instr.op == Op.HALT:
        return Plan(instr, fault, None, 0, None, None)
    return Plan(
        instr=instr,
        fault=fault,
        unit=unit_of(instr.op),
        busy=0 if instr.op == Op.LD else busy_cycles(instr),
        matrix=matrix_addresses(instr) if instr.op == Op.MM else None,
        compute=COMPUTE.get(instr.op),
    )
