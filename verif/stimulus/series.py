"""Series of instructions in random programs: repeats on changed data, crowds, marathons."""

from __future__ import annotations

from model.chip.isa import SPAD_WORDS, Instruction, Op, amax, ld, mm, rq, sm, st, vadd
from model.chip.operation_table import MAX_K, MAX_TILE, OPERATIONS
from model.chip.timing import busy_cycles
from verif.stimulus.operands import Operands

CROWD = (6, 10)  # powers of two that the program counter passes
MARATHON = (13, 17)  # powers of two that a counter of cycles passes
LONGEST_CHANGE = 8


def again(o: Operands, earlier: Instruction) -> list[Instruction]:
    """A write into what ``earlier`` reads, and ``earlier`` once more."""
    source = o.source
    read = [o for o in OPERATIONS[earlier.op].operands if o.memory and o.reads]
    operand = source.pick(read)
    base = getattr(earlier, operand.field)
    size = earlier.g if earlier.op == Op.MM else operand.size(earlier.length)
    n = source.between(1, min(size, LONGEST_CHANGE))
    made = OPERATIONS[earlier.op].destination
    if made:
        written = earlier.f * earlier.h if earlier.op == Op.MM else made.size(earlier.length)
        o.written.append((getattr(earlier, made.field), written))
    at = base + source.below(size - n + 1)
    if operand.memory == "ext":
        return [st(o.fed(n), at, n), earlier]
    at = min(at, SPAD_WORDS - n)
    if source.chance(50):
        return [ld(at, o.external(n), n), earlier]
    return [rq(at, o.apart(n, n, at), n, source.bits(24), source.below(40)), earlier]


def crowd(o: Operands) -> list[Instruction]:
    """So many cheap instructions that those behind them lie around a power of two."""
    source = o.source

    def place() -> int:
        return o.place(1)

    each = [
        source.pick(
            (
                rq(place(), place(), 1, source.bits(24), source.bits(6)),
                vadd(place(), place(), place(), 1),
                amax(place(), place(), 1),
                st(place(), o.external(1), 1),
            )
        )
        for _ in range(8)
    ]
    count = (1 << source.between(*CROWD)) - source.below(16)
    return (each * (count // len(each) + 1))[:count]


def marathon(o: Operands) -> list[Instruction]:
    """One long instruction again and again, until its unit's counter passes a power of two."""
    source = o.source
    n = source.between(3800, 4095)
    long = source.pick(
        (
            mm(o.place(16), o.place(256), o.place(256), MAX_TILE, MAX_K, MAX_TILE, ldb=MAX_TILE),
            st(SPAD_WORDS - n, o.external(n), n),
            sm(0, 0, n),
            vadd(0, 0, 0, n),
        )
    )
    cycles = 1 << source.between(*MARATHON)
    return [long] * (cycles // busy_cycles(long) + 1)
