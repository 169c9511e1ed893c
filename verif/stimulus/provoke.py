"""Instructions around the limits of the fault rules, and words that are no instruction at all."""

from __future__ import annotations

from model.chip.isa import Instruction, Op, encode
from model.chip.operation_table import EXECUTED, OPERATIONS, UNDEFINED_OPS
from verif.stimulus.instructions import MAKERS, random_instruction
from verif.stimulus.operands import Operands

_WORD = (1 << 128) - 1


def boundary_instruction(o: Operands) -> Instruction:
    """A legal instruction moved onto a limit: just inside it, or outside by one or by much."""
    source = o.source
    op = source.between(0, len(OPERATIONS))
    if op == 0:
        undefined = source.between(UNDEFINED_OPS[0], UNDEFINED_OPS[-1])
        return Instruction(undefined, a=source.bits(16), c=source.bits(12))
    if op == len(OPERATIONS):
        op = Op.MM
    instruction = MAKERS[op](o)
    for _ in range(source.weighted(((7, 1), (3, 2)))):
        instruction = _moved(o, instruction)
    return instruction


def _moved(o: Operands, i: Instruction) -> Instruction:
    source = o.source
    kind = source.below(10)
    if i.op == Op.MM:
        if kind < 6:
            field, most = source.pick((("f", 4), ("g", 64), ("h", 4)))
            values = (0, 1, most, most + 1, source.bits(8))
            return i._replace(**{field: source.pick(values)})
        return _with_base(o, i, source.pick("abc"))
    if kind < 2:
        return _with_length(o, i)
    if kind < 5:
        return _with_base(
            o, i, source.pick([operand.field for operand in OPERATIONS[i.op].regions])
        )
    return _shifted(o, i)


def _with_length(o: Operands, i: Instruction) -> Instruction:
    """Zero, or on the far side of the longest; the longest itself is rare, it takes long."""
    source = o.source
    length_operand = OPERATIONS[i.op].length
    assert length_operand is not None
    most = OPERATIONS[i.op].longest
    table = ((5, 0), (3, most + 1), (1, most), (2, 4096), (2, source.bits(16)), (1, 65535))
    length = source.weighted(table)
    field, mask = length_operand.field, length_operand.mask
    return i._replace(**{field: getattr(i, field) & ~mask | length})


def _with_base(o: Operands, i: Instruction, field: str) -> Instruction:
    """A base that ends the region on the last word, one beyond, or that does not exist."""
    source = o.source
    operand = next(o for o in OPERATIONS[i.op].regions if o.field == field)
    limit = operand.limit
    size = max(1, operand.size(i.length))
    fits = max(0, limit - size)
    values = (fits, fits, fits + 1, limit - 1, limit, source.bits(16))
    return i._replace(**{field: min(65535, source.pick(values))})


def _shifted(o: Operands, i: Instruction) -> Instruction:
    """The destination moved to overlap a source, or to just miss it."""
    source = o.source
    length = max(1, i.length)
    row = OPERATIONS[i.op]
    written = row.expansion * length
    base = i.c if len(row.sources) > 1 and source.bits(1) else i.b
    offset = source.pick((1, -1, length - 1, 1 - length, length, -written, 1 - written, 0))
    return i._replace(a=min(65535, max(0, base + offset)))


def raw_word(o: Operands) -> int:
    """Any 128-bit word: uniform, or a legal instruction with up to four bits flipped."""
    source = o.source
    if source.chance(30):
        return source.bits(128)
    word = encode(random_instruction(o))
    kind = source.below(4)
    if kind == 0:
        return word ^ (1 << source.below(128))
    if kind == 1:
        for _ in range(source.between(2, 4)):
            word ^= 1 << source.below(128)
        return word
    if kind == 2:
        # Random bits where no address, length or shape lies: still mostly legal.
        return word ^ (source.bits(128) & _HARMLESS[word >> 124])
    # All operand fields random but short enough to be legal now and then.
    mask = source.bits(128) | source.bits(128)
    return source.bits(128) & mask & _SHORT | (word >> 124) << 124


def _bits(high: int, low: int) -> int:
    return (1 << (high + 1)) - (1 << low)


_SHORT = _WORD ^ (_bits(123, 120) | _bits(107, 104) | _bits(91, 88) | _bits(67, 64))
"""Bits that keep addresses and lengths below 4,096 when everything else is random."""

_TAIL = _bits(75, 0)
_HARMLESS = [_TAIL] * 16
_HARMLESS[Op.HALT] = _bits(123, 0)
_HARMLESS[Op.MM] = _bits(75, 52) | _bits(51, 46) | _bits(21, 0)
for _row in EXECUTED:
    if _row.length and _row.length.field == "d":
        _HARMLESS[_row.op] = _bits(75, 68) | _bits(51, 0)
