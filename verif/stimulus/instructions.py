"""Random legal instructions, one function an operation where they differ."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from model.chip.isa import (
    SPAD_WORDS,
    FaultCode,
    Instruction,
    Op,
    amax,
    check_fault,
    instruction,
    ld,
    mm,
    rq,
    st,
    unpack,
)
from model.chip.operation_table import EXECUTED, MAX_K, OPERATIONS, Operation
from verif.stimulus.contents import BLOCK
from verif.stimulus.operands import Operands

LONG_ONES = 30  # percent of the results that continue others


def load(o: Operands) -> Instruction:
    """LD from anywhere in the external memory."""
    n = o.length()
    dst = o.place(n)
    o.written.append((dst, n))
    return ld(dst, o.external(n), n)


def store(o: Operands) -> Instruction:
    """ST of an earlier result."""
    n = o.length()
    return st(o.fed(n), o.external(n), n)


def matmul(o: Operands) -> Instruction:
    """MM of any shape, dense or strided."""
    source = o.source
    m, n, k = source.between(1, 4), source.between(1, 4), o.inner()
    if source.chance(4):
        return squares(o, m, n)
    tb = source.bits(1)
    first, second = o.fed(min(m * k, 256)), o.fed(min(k * n, 256))
    overlay = source.below(10)
    dst = first if overlay == 0 else second if overlay == 1 else o.place(m * n)
    lda, ldb, ldc = o.stride(k), o.stride(k if tb else n), o.stride(n)
    o.written.append((dst, m * n))
    o.sums.append((dst, m * n))
    return mm(dst, first, second, m, k, n, tb=tb, lda=lda, ldb=ldb, ldc=ldc)


def squares(o: Operands, m: int, n: int) -> Instruction:
    """MM of one block of 64 words by itself: the largest sums when all its words are the same."""
    block = BLOCK * o.source.below(SPAD_WORDS // BLOCK)
    dst = o.place(m * n)
    o.written.append((dst, m * n))
    o.sums.append((dst, m * n))
    return mm(dst, block, block, m, MAX_K, n, tb=1, lda=0, ldb=0)


def requantize(o: Operands) -> Instruction:
    """RQ, mostly of sums that an MM made."""
    n = o.length()
    src = o.fed(n, o.sums or None)
    dst = o.target(n, src)
    mantissa, shift = o.scale()
    o.written.append((dst, n))
    return rq(dst, src, n, mantissa, shift, relu=int(o.source.chance(30)))


def vector(row: Operation, o: Operands) -> Instruction:
    """Any operation with as many results as its length; two sources may be the same or overlap."""
    n = o.length()
    places = {"len": n}
    first, *others = row.sources
    places[first.name] = start = o.fed(n)
    for operand in others:
        kind = o.source.below(8)
        if kind == 0:
            places[operand.name] = start
        elif kind == 1:
            places[operand.name] = min(SPAD_WORDS - n, start + o.source.below(n))
        else:
            places[operand.name] = o.fed(n)
    dst = o.target(n, *(places[operand.name] for operand in row.sources))
    o.written.append((dst, n))
    for operand in row.operands:
        if operand.name not in places and operand.name != "dst":
            places[operand.name] = o.source.bits(operand.width)
    return instruction(row.op, dst=dst, **places)


def argmax(o: Operands) -> Instruction:
    """AMAX, sometimes with its result inside its source."""
    n = o.length()
    src = o.fed(n)
    dst = src + o.source.below(n) if o.source.chance(20) else o.place(1)
    o.written.append((dst, 1))
    return amax(dst, src, n)


def expand(o: Operands) -> Instruction:
    """UNPACK, mostly shorter than other vectors because it makes eight words of one."""
    n = o.length(OPERATIONS[Op.UNPACK].longest_that_fits)
    if not o.source.chance(25):
        n = max(1, n // 4)
    # A long result leaves room for its source at the ends only.
    src = o.fed(n) if n < 128 else o.source.pick((0, SPAD_WORDS - n))
    if o.source.chance(25):
        dst = o.source.pick((src + n, src - 8 * n))
        if not 0 <= dst <= SPAD_WORDS - 8 * n:
            dst = o.apart(8 * n, n, src)
    else:
        dst = o.apart(8 * n, n, src)
    o.written.append((dst, 8 * n))
    return unpack(dst, src, n)


_MAKERS: dict[int, Callable[[Operands], Instruction]] = {
    Op.LD: load,
    Op.ST: store,
    Op.MM: matmul,
    Op.RQ: requantize,
    Op.AMAX: argmax,
    Op.UNPACK: expand,
}

MAKERS: dict[int, Callable[[Operands], Instruction]] = {
    row.op: _MAKERS.get(row.op, partial(vector, row)) for row in EXECUTED
}


def random_instruction(o: Operands) -> Instruction:
    """An instruction of an operation drawn by the profile's weights.

    It is legal except when its operands crowd the scratchpad so that no legal place was found.
    """
    op = o.source.pick(o.profile.op_ladder)
    continues = bool(o.written) and o.source.chance(o.profile.continues)
    o.long = continues and o.source.chance(LONG_ONES)
    made = MAKERS[op](o)
    o.long = False
    if op != Op.ST:
        if continues:
            made = continued(o, made)
        base, size = o.written[-1]
        o.ends[op] = base + size
    return made


def continued(o: Operands, made: Instruction) -> Instruction:
    """Move the results to where those of the last of its kind end, or the last of all; if legal."""
    base, size = o.written[-2]
    end = o.ends.get(made.op, base + size) if o.source.chance(75) else base + size
    moved = made._replace(a=end)
    if end >= SPAD_WORDS or check_fault(moved) != FaultCode.NONE:
        return made
    o.written[-1] = (end, o.written[-1][1])
    if made.op == Op.MM:
        o.sums[-1] = o.written[-1]
    return moved
