"""Steps on the program: fewer instructions, nothing in unused fields, smaller operands."""

from __future__ import annotations

import numpy as np

from model.chip.image import Words
from model.chip.isa import EXT_WORDS, SPAD_WORDS, decode
from model.chip.operation_table import OPERATIONS, Operand
from verif.items.program_item import ProgramItem
from verif.shrink.steps import Search, changed, lowest

REGION = 256  # words that move along with an address
SIMPLE_PLACES = (0, 16, 32, 64, 128, 256, 512, 1024)
SMALLEST = {"len": 1, "M": 1, "N": 1, "K": 1}


def drop_instructions(item: ProgramItem) -> Search[ProgramItem]:
    """Leave out runs of instructions, long ones first, from the end to the beginning."""
    size = len(item.program)
    while size:
        at = len(item.program) - size
        while at >= 0:
            rest = item.program[:at] + item.program[at + size :]
            candidate = changed(item, program=rest)
            if (yield candidate):
                item = candidate
            at -= size
        size //= 2
    return item


def clear_unused_fields(item: ProgramItem) -> Search[ProgramItem]:
    """Zero every bit that its operation ignores, so that the program has an assembly text."""
    for pc, word in enumerate(item.program):
        clean = _without_unused(word)
        if clean != word:
            candidate = _with_word(item, pc, clean)
            if (yield candidate):
                item = candidate
    return item


def simpler_operands(item: ProgramItem) -> Search[ProgramItem]:
    """Bring every operand but addresses as near to its smallest value as the failure allows."""
    for pc in range(len(item.program)):
        for operand in _operands(item.program[pc]):
            if operand.memory:
                continue
            item = yield from _smaller(item, pc, operand)
        item = yield from _without_front(item, pc)
    return item


def _without_front(item: ProgramItem, pc: int) -> Search[ProgramItem]:
    """Let a vector begin later, all its addresses moved up."""
    word = item.program[pc]
    length = next((o for o in _operands(word) if o.name == "len"), None)
    if length is None or OPERATIONS[decode(word).op].expansion > 1:
        return item
    whole = length.read(word)

    def variant(size: int) -> ProgramItem:
        later = _with_value(word, length, size)
        for operand in _operands(word):
            if operand.memory:
                address = operand.read(word) + whole - size
                later = _with_value(later, operand, address & (1 << operand.width) - 1)
        return _with_word(item, pc, later)

    return variant((yield from lowest(1, whole, variant)))


def _smaller(item: ProgramItem, pc: int, operand: Operand) -> Search[ProgramItem]:
    word = item.program[pc]
    low = SMALLEST.get(operand.name, 0)
    dense = {"ldb": "K"}.get(operand.name, operand.default)
    if isinstance(dense, str):
        # A dense stride is the default that the assembly leaves out.
        usual = OPERATIONS[decode(word).op].operand(dense).read(word)
        candidate = _with_word(item, pc, _with_value(word, operand, usual))
        if usual != operand.read(word) and (yield candidate):
            return candidate
        if usual == operand.read(word):
            return item
    value = yield from lowest(
        low,
        operand.read(word),
        lambda value: _with_word(item, pc, _with_value(word, operand, value)),
    )
    return _with_word(item, pc, _with_value(word, operand, value))


def simpler_addresses(item: ProgramItem) -> Search[ProgramItem]:
    """Move what lies at an address, in all instructions at once, to a simple lower one.

    Neighbours move together first, because a failure may need their distance.
    """
    for external in (False, True):
        for reach in (REGION, 0):
            for group in reversed(_groups(item, external, reach)):
                for place in SIMPLE_PLACES:
                    if place >= group[0]:
                        break
                    candidate = _moved(item, external, group, place)
                    if (yield candidate):
                        item = candidate
                        break
    return item


def _groups(item: ProgramItem, external: bool, reach: int) -> list[list[int]]:
    """Addresses that the program names, ascending, in runs whose gaps are at most ``reach``."""
    limit = EXT_WORDS if external else SPAD_WORDS
    wanted = "ext" if external else "spad"
    named = {
        value
        for word in item.program
        for operand in _operands(word)
        if operand.memory == wanted
        if (value := operand.read(word)) < limit
    }
    groups: list[list[int]] = []
    for address in sorted(named):
        if groups and address - groups[-1][-1] <= reach:
            groups[-1].append(address)
        else:
            groups.append([address])
    return groups


def _moved(item: ProgramItem, external: bool, group: list[int], place: int) -> ProgramItem:
    """The item with a group of addresses moved to ``place``, and the words there along with it."""
    wanted = "ext" if external else "spad"
    program = []
    for word in item.program:
        for operand in _operands(word):
            if operand.memory == wanted and (old := operand.read(word)) in group:
                word = _with_value(word, operand, old - group[0] + place)
        program.append(word)
    size = group[-1] - group[0] + REGION
    if external:
        image = _copied(item.image, group[0], place, size, item.depth)
        return changed(item, program=program, image=image)
    spad = item.spad
    if spad is not None:
        spad = _copied(spad, group[0], place, size, SPAD_WORDS)
    return changed(item, program=program, spad=spad)


def _copied(memory: Words, old: int, new: int, size: int, limit: int) -> Words:
    block = memory[old : old + size][: limit - new]
    if not block.any():
        return memory
    moved = np.zeros(max(memory.size, new + block.size), dtype=np.uint32)
    moved[: memory.size] = memory
    moved[new : new + block.size] = block
    return moved


def _operands(word: int) -> tuple[Operand, ...]:
    row = OPERATIONS.get(decode(word).op)
    return row.operands if row else ()


def _without_unused(word: int) -> int:
    clean = word >> 124 << 124
    for operand in _operands(word):
        clean |= operand.read(word) << operand.shift
    return clean


def _with_value(word: int, operand: Operand, value: int) -> int:
    mask = (1 << operand.width) - 1 << operand.shift
    return word & ~mask | value << operand.shift


def _with_word(item: ProgramItem, pc: int, word: int) -> ProgramItem:
    program = list(item.program)
    program[pc] = word
    return changed(item, program=program)
