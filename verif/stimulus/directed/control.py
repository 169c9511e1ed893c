"""Directed programs for the sequencer: ends, restarts, start pulses, ignored fields."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from model.chip import isa
from model.chip.isa import (
    FIELDS,
    Instruction,
    Op,
    amax,
    encode,
    halt,
    ld,
    mm,
    rq,
    sm,
    st,
    unpack,
    vadd,
)
from model.chip.machine import MAX_PROGRAM
from model.chip.operation_table import EXECUTED, OPERATIONS, UNDEFINED_OPS, Operation
from model.chip.timeline import timeline
from verif.items.program_item import ProgramItem
from verif.stimulus.builder import Builder
from verif.stimulus.data import pattern
from verif.stimulus.directed.faults import fault_item
from verif.stimulus.registry import directed

FAMILY = "control"


def one_of_each() -> list[Instruction]:
    """A legal instruction of every operation but HALT, each fed by data of the pattern."""
    each = [
        ld(200, 0, 12),
        mm(400, 200, 300, 3, 4, 2, ldb=2),
        rq(420, 400, 6, 1 << 20, 33),
        sm(440, 420, 6),
        vadd(460, 420, 200, 6),
        amax(480, 400, 6),
        unpack(500, 460, 2),
    ]
    listed = {i.op for i in each} | {Op.ST}
    each += [plain(row, 516, (400, 420), 4) for row in EXECUTED if row.op not in listed]
    return [*each, st(400, 40, 120)]


def plain(row: Operation, dst: int, sources: Sequence[int], length: int) -> Instruction:
    """An instruction of any operation with a length, its other operands 1."""
    places = {operand.name: base for operand, base in zip(row.sources, sources, strict=False)}
    given = {"dst": dst, "len": length, **places}
    rest = {operand.name: 1 for operand in row.operands if operand.name not in given}
    return isa.instruction(row.op, **given, **rest)


def with_junk(instruction: Instruction) -> Instruction:
    """The same instruction with every ignored bit set."""
    named = OPERATIONS[instruction.op].named_bits
    changed = {}
    for name, (_, width) in FIELDS.items():
        if name != "op":
            ignored = ((1 << width) - 1) & ~named.get(name, 0)
            changed[name] = getattr(instruction, name) | ignored
    return instruction._replace(**changed)


@directed(FAMILY)
def halt_only() -> list[ProgramItem]:
    """Programs of a HALT alone and of no word at all: two cycles, nothing counted."""
    return [
        Builder("halt_only/halt").item(),
        Builder("halt_only/empty").item(halted=False),
        Builder("halt_only/back_to_back").item(reset_before=False),
    ]


@directed(FAMILY)
def halt_with_junk() -> ProgramItem:
    """A HALT stops whatever its other fields hold, and nothing behind it runs."""
    b = Builder("halt_with_junk").keep(0, 4).add(with_junk(halt()))
    return b.keep(4, 4).item()


@directed(FAMILY)
def program_past_its_end() -> ProgramItem:
    """A program without HALT ends at the first address behind it, which reads as zero."""
    return Builder("program_past_its_end").keep(10, 5).keep(30, 3).item(halted=False)


@directed(FAMILY)
def ignored_fields() -> ProgramItem:
    """Every operation with all bits set that it does not name."""
    b = Builder("ignored_fields").ext(0, pattern(40, salt=31))
    for instruction in one_of_each():
        b.add(with_junk(instruction))
    return b.add(with_junk(halt())).item(halted=False)


@directed(FAMILY)
def ordered_pairs() -> ProgramItem:
    """Every operation right before and right after every other and itself."""
    b = Builder("ordered_pairs").ext(0, pattern(40, salt=32))
    each = one_of_each()
    for i, first in enumerate(each):
        for second in each[i:]:
            b.add(first, second)
        b.add(first)
    return b.item()


@directed(FAMILY)
def halt_after_each() -> list[ProgramItem]:
    """Each operation as the last of its program, and as the only one."""
    items = []
    for instruction in one_of_each():
        name = f"halt_after_each/{Op(instruction.op).name.lower()}"
        items.append(Builder(name).ext(0, pattern(40, salt=33)).add(instruction).item())
    return items


@directed(FAMILY)
def long_program() -> ProgramItem:
    """4,100 instructions: program counter and n_inst count past 2**12."""
    b = Builder("long_program")
    for i in range(4100):
        b.add(st(i % 4096, i, 1))
    b.out = 4100
    return b.item()


@directed(FAMILY, slow=True)
def longest_program() -> ProgramItem:
    """65,535 instructions, so that every bit of the program counter counts; then it reads zero."""
    b = Builder("longest_program")
    each = [rq(400 + i, 100 + i, 1, 1 << 20, 40) for i in range(5)]
    b.add(*each)
    b.program = (b.program * (MAX_PROGRAM // len(each)))[: MAX_PROGRAM - 1]
    return b.keep(400, 5).item(halted=False)


@directed(FAMILY)
def back_to_back() -> list[ProgramItem]:
    """Four programs without a reset between them: the scratchpad stays, the counters restart."""
    first = Builder("back_to_back/1").ext(0, pattern(16, salt=34))
    first.add(ld(100, 0, 16), vadd(200, 100, 108, 8)).keep(200, 8)
    second = Builder("back_to_back/2").add(mm(300, 100, 200, 2, 4, 2, tb=1, ldb=4))
    second.keep(300, 4).keep(200, 8)
    third = Builder("back_to_back/3").keep(96, 24)
    fourth = Builder("back_to_back/4").add(sm(400, 300, 4)).keep(400, 4).keep(100, 16)
    keep: dict[str, Any] = {"spad": None, "reset_before": False}
    return [first.item(), second.item(**keep), third.item(**keep), fourth.item(**keep)]


@directed(FAMILY)
def memory_lives_on() -> list[ProgramItem]:
    """Programs on the external memory that others left: rows are copied, written over, read."""
    first = Builder("memory_lives_on/1").ext(0, pattern(64, salt=36))
    first.add(ld(100, 0, 32), st(100, 96, 32))
    copy = Builder("memory_lives_on/2").add(ld(0, 96, 32), st(0, 160, 32), ld(40, 0, 1))
    over = Builder("memory_lives_on/3").add(ld(0, 160, 16), st(4, 168, 8), st(2, 192, 8))
    last = Builder("memory_lives_on/4").add(ld(200, 32, 160), ld(0, 128, 32), st(200, 64, 160))
    on: dict[str, Any] = {"depth": 256, "inherits": True, "reset_before": False}
    kept = on | {"spad": None}
    return [first.item(depth=256), copy.item(**on), over.item(**kept), last.item(**kept)]


@directed(FAMILY)
def reset_keeps_scratchpad() -> list[ProgramItem]:
    """A reset between programs clears counters and fault outputs; the scratchpad stays."""
    first = Builder("reset_keeps_scratchpad/1").ext(0, pattern(16, salt=35)).add(ld(100, 0, 16))
    second = Builder("reset_keeps_scratchpad/2").keep(96, 24)
    return [first.item(), second.item(spad=None, reset_before=True)]


@directed(FAMILY)
def restart_after_fault() -> list[ProgramItem]:
    """Faults of each code, each followed by a clean program: once without reset, once with."""
    causes = {
        "opcode": Instruction(13),
        "length": ld(0, 0, 0),
        "shape": mm(0, 10, 20, 1, 1, 1)._replace(f=5),
        "address": st(4096, 0, 1),
        "overlap": sm(10, 11, 5),
    }
    items = []
    for code, instruction in causes.items():
        for reset in (False, True):
            name = f"restart_after_fault/{code}_{'reset' if reset else 'start'}"
            items.append(fault_item(f"{name}_fault", instruction))
            clean = Builder(f"{name}_clean").keep(195, 30)
            items.append(clean.item(spad=None, reset_before=reset))
    return items


@directed(FAMILY)
def fault_first_and_far() -> list[ProgramItem]:
    """A fault at address 0, and one at address 300."""
    first = Builder("fault_first_and_far/first").add(Instruction(UNDEFINED_OPS[0])).keep(0, 4)
    far = Builder("fault_first_and_far/far")
    for i in range(300):
        far.add(st(i, i, 1))
    far.out = 300
    return [first.item(), far.add(ld(0, 0, 0)).keep(0, 4).item()]


@directed(FAMILY, slow=True)
def fault_in_last_word() -> list[ProgramItem]:
    """A fault in the last of 65,535 words, after 2**17 cycles of each of matrix unit and DMA."""
    b = Builder("fault_in_last_word/last_fault")
    b.add(*[mm(400, 100, 200, 4, 64, 4)] * 220)
    b.add(*[st(400 + i % 16, i % 500, 1) for i in range(MAX_PROGRAM - 1 - len(b.program))])
    # The next program starts by clearing a fault address with every bit but the lowest set.
    after = Builder("fault_in_last_word/after").keep(400, 16)
    fault = b.add(Instruction(15)).item(halted=False)
    return [fault, after.item(spad=None, reset_before=False)]


def _ends() -> Iterator[tuple[str, Instruction]]:
    yield "halt", halt()
    yield "fault", Instruction(12)


@directed(FAMILY)
def start_after_every_end() -> list[ProgramItem]:
    """A start in each of the first halted cycles, behind HALT and behind a fault: a second run."""
    items = []
    for (end, last), after in product(_ends(), range(9)):
        b = Builder(f"start_after_every_end/{after}_{end}").ext(0, pattern(30, salt=after))
        b.add(ld(10, 0, 20), rq(40, 10, 20, 1 << 22, 23), st(40, 0, 20), last)
        items.append(b.item(halted=False, restart_after=after))
    return items


@directed(FAMILY)
def start_held_over_the_end() -> list[ProgramItem]:
    """Start stays high from the first cycle into the first one after the end: a second run."""
    items = []
    for end, last in _ends():
        for length in (0, 1, 20):
            b = Builder(f"start_held_over_the_end/{length}_{end}").ext(0, pattern(30, salt=length))
            if length:
                b.add(ld(10, 0, length), st(10, 5, length))
            items.append(b.add(last).item(halted=False, restart_after=0, start_held=True))
    return items


@directed(FAMILY)
def start_while_running() -> list[ProgramItem]:
    """Start pulses in the FETCH, the ISSUE and the busy cycles of every unit change nothing."""
    program = [encode(instruction) for instruction in one_of_each()]
    slots = timeline(program, 8)
    places = {
        "fetch": [slot.fetch for slot in slots],
        "issue": [slot.fetch + 1 for slot in slots],
        "first_busy": [slot.fetch + 2 for slot in slots if slot.busy],
        "middle": [slot.fetch + 2 + slot.busy // 2 for slot in slots if slot.busy],
        "last_busy": [slot.last for slot in slots if slot.busy],
    }
    items = []
    for place, cycles in places.items():
        b = Builder(f"start_while_running/{place}").ext(0, pattern(40, salt=36))
        items.append(b.add(*one_of_each()).item(start_pulses=tuple(cycles)))
    return items
