"""Bins of a faulting instruction, from a restatement of the fault rules cause by cause.

The model decides which code a fault gets; here every violated rule is listed, so that coverage
knows which cause was exercised and which code took precedence over which.
"""

from __future__ import annotations

from collections.abc import Iterator

from model.chip.isa import EXT_WORDS, MAX_LENGTH, SPAD_WORDS, FaultCode, Instruction, Op
from verif.bins.fields import Hit

Violation = tuple[FaultCode, str]


def violations(i: Instruction) -> Iterator[Violation]:
    """Every fault rule that ``i`` violates, as (code, cause)."""
    if i.op > Op.UNPACK:
        yield FaultCode.OPCODE, str(i.op)
        return
    if i.op == Op.HALT:
        return
    name = Op(i.op).name
    if i.op == Op.MM:
        for dimension, value, most in (("M", i.f, 4), ("K", i.g, 64), ("N", i.h, 4)):
            if value == 0 or value > most:
                yield FaultCode.SHAPE, f"{dimension}_{'above' if value else 'zero'}"
        for operand, base in (("dst", i.a), ("A", i.b), ("B", i.c)):
            if base >= SPAD_WORDS:
                yield FaultCode.ADDRESS, f"MM.{operand}_base"
        return
    n = i.length
    written = 8 * n if i.op == Op.UNPACK else n
    if n == 0 or written > MAX_LENGTH:
        yield FaultCode.LENGTH, f"{name}_{'above' if n else 'zero'}"
    for operand, base, size, limit in _regions(i, n, written):
        if base >= limit:
            yield FaultCode.ADDRESS, f"{name}.{operand}_base"
        elif base + size > limit:
            yield FaultCode.ADDRESS, f"{name}.{operand}_end"
    yield from _clashes(i, name, n, written)


def _regions(i: Instruction, n: int, written: int) -> Iterator[tuple[str, int, int, int]]:
    if i.op in (Op.LD, Op.ST):
        yield "dst" if i.op == Op.LD else "src", i.a, n, SPAD_WORDS
        yield "ext", i.b, n, EXT_WORDS
        return
    yield "dst", i.a, 1 if i.op == Op.AMAX else written, SPAD_WORDS
    yield "src1" if i.op == Op.VADD else "src", i.b, n, SPAD_WORDS
    if i.op == Op.VADD:
        yield "src2", i.c, n, SPAD_WORDS


def _clashes(i: Instruction, name: str, n: int, written: int) -> Iterator[Violation]:
    if i.op == Op.UNPACK:
        if i.a < i.b + n and i.b < i.a + written:
            yield FaultCode.OVERLAP, f"{name}_{'above' if i.a > i.b else 'below'}"
    elif i.op in (Op.RQ, Op.SM, Op.VADD):
        sources = {"_src1": i.b, "_src2": i.c} if i.op == Op.VADD else {"": i.b}
        for suffix, base in sources.items():
            if 0 < abs(i.a - base) < n:
                yield FaultCode.OVERLAP, f"{name}{suffix}_{'above' if i.a > base else 'below'}"


def fault_hits(i: Instruction, pc: int) -> Iterator[Hit]:
    """Bins of the faulting instruction ``i`` at address ``pc``."""
    found = list(violations(i))
    code = min(code for code, _ in found)
    operation = Op(i.op).name if i.op <= Op.UNPACK else str(i.op)
    yield "fault", f"{code.name}/{operation}"
    yield "fault_place", "first" if pc == 0 else "later"
    for other, cause in found:
        if other == code:
            yield "fault_cause", f"{code.name}/{cause}"
        else:
            yield "fault_priority", f"{code.name}_over_{other.name}/{operation}"
