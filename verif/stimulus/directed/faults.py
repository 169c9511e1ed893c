"""Directed programs for faults: each code from each cause, priorities, and the legal neighbours.

A faulting program does some work, faults, and carries stores behind the fault that must not
happen. The causes are data, so that the test plan and the coverage can name them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from model.chip.isa import (
    SPAD_WORDS,
    FaultCode,
    Instruction,
    Op,
    instruction,
    ld,
    mm,
    rq,
    sm,
    unpack,
    vadd,
)
from model.chip.operation_table import OPERATIONS, UNDEFINED_OPS, VECTORS
from verif.items.program_item import ProgramItem
from verif.stimulus.builder import Builder
from verif.stimulus.data import pattern
from verif.stimulus.registry import register

FAMILY = "faults"

BASES = (SPAD_WORDS, SPAD_WORDS + 1, 1 << 13, 1 << 15, 65535)
"""Scratchpad bases that do not exist."""


@dataclass(frozen=True)
class Cause:
    """One way to fault: the code it must give, a word for the cause, the instruction."""

    code: FaultCode
    why: str
    instruction: Instruction


def _vector(op: Op, length: int) -> Instruction:
    """A vector or DMA instruction of ``length`` with operands that would fit a short one."""
    if len(OPERATIONS[op].sources) > 1:
        return instruction(op, dst=100, src1=200, src2=300, len=length)
    return Instruction(op, a=100, b=1000, c=length)


def _opcodes() -> Iterator[Cause]:
    for op in UNDEFINED_OPS:
        yield Cause(FaultCode.OPCODE, f"op{op}", Instruction(op, a=5, b=20, c=1))
    first = UNDEFINED_OPS[0]
    yield Cause(FaultCode.OPCODE, f"op{first}_all_ones", Instruction(first, *[0xF] * 10))
    yield Cause(FaultCode.OPCODE, "op15_zero", Instruction(15))


def _lengths(op: Op) -> Iterator[Cause]:
    row = OPERATIONS[op]
    longest = row.longest
    too_long = [longest + 1, 4096, 4097, 8192, 1 << 14, 1 << 15, 65535]
    for length in (0, *dict.fromkeys(too_long)):
        yield Cause(FaultCode.LENGTH, f"length{length}", _vector(op, length))
    if row.length and row.length.field == "d":
        # Only d[15:0] is the length: bits above do not make a zero length legal.
        zero = _vector(op, 0)._replace(d=0xFF0000)
        yield Cause(FaultCode.LENGTH, "length0_upper_bits", zero)


def _shapes() -> Iterator[Cause]:
    for m in (0, 5, 8, 255):
        yield Cause(FaultCode.SHAPE, f"m{m}", mm(100, 0, 50, 1, 4, 4)._replace(f=m))
    for n in (0, 5, 8, 255):
        yield Cause(FaultCode.SHAPE, f"n{n}", mm(100, 0, 50, 4, 4, 1)._replace(h=n))
    for k in (0, 65, 128, 255):
        yield Cause(FaultCode.SHAPE, f"k{k}", mm(100, 0, 50, 4, 1, 4)._replace(g=k))


def _addresses(op: Op) -> Iterator[Cause]:
    """Each operand of ``op`` with a base that does not exist, and ending one word too far."""
    n = 10
    base = mm(0, 100, 300, 2, 3, 4, ldb=4) if op == Op.MM else _vector(op, n)
    for operand in OPERATIONS[op].regions:
        field = operand.field
        if operand.memory == "spad":
            for value in BASES:
                yield Cause(FaultCode.ADDRESS, f"{field}{value}", base._replace(**{field: value}))
        if operand.per_length:
            limit = operand.limit
            over = limit - operand.size(n) + 1
            yield Cause(FaultCode.ADDRESS, f"{field}_one_over", base._replace(**{field: over}))
            last = base._replace(**{field: limit - 1})
            yield Cause(FaultCode.ADDRESS, f"{field}_last_word", last)
    if op != Op.MM and len(OPERATIONS[op].sources) < 2:
        longest = base._replace(a=9, b=8, c=511) if op == Op.UNPACK else base._replace(b=2, c=4095)
        yield Cause(FaultCode.ADDRESS, "longest", longest)


def _overlaps(op: Op) -> Iterator[Cause]:
    code = FaultCode.OVERLAP
    n = 10
    shifts = (1, 2, n // 2, n - 1)
    if OPERATIONS[op].overlap == "same" and len(OPERATIONS[op].sources) < 2:
        for shift in shifts:
            for sign in (1, -1):
                clash = Instruction(op, a=200 + sign * shift, b=200, c=n, d=1)
                yield Cause(code, f"dst{sign * shift:+d}", clash)
    elif len(OPERATIONS[op].sources) > 1:
        both = partial(instruction, op, len=n)
        for shift in shifts:
            for sign in (1, -1):
                d = sign * shift
                yield Cause(code, f"src1{d:+d}", both(dst=200 + d, src1=200, src2=400))
                yield Cause(code, f"src2{d:+d}", both(dst=200 + d, src1=400, src2=200))
        over_first, over_second = (
            both(dst=200, src1=200, src2=209),
            both(dst=200, src1=191, src2=200),
        )
        yield Cause(code, "in_place_src1_clash_src2", over_first)
        yield Cause(code, "in_place_src2_clash_src1", over_second)
    else:
        for src in (200, 201, 239, 279, 191, 195):
            yield Cause(code, f"src_at{src - 200:+d}", unpack(200, src, n))
        yield Cause(code, "one_word_first", unpack(200, 200, 1))
        yield Cause(code, "one_word_last", unpack(200, 207, 1))
        yield Cause(code, "longest", unpack(1, 3600, 456))


def _priorities() -> Iterator[Cause]:
    """Instructions to which several rules apply: the lower code wins."""
    code = FaultCode
    two_sources = [row.op for row in VECTORS if len(row.sources) > 1]
    yield Cause(
        code.OPCODE, "opcode_over_all", Instruction(UNDEFINED_OPS[1], a=65535, b=65535, c=0, f=9)
    )
    for op in (row.op for row in VECTORS if len(row.sources) < 2):
        name = op.name.lower()
        zero, long = Instruction(op, a=5000, b=65535), Instruction(op, a=0, b=65535, c=5000)
        yield Cause(code.LENGTH, f"length_over_address_{name}_zero", zero)
        yield Cause(code.LENGTH, f"length_over_address_{name}_long", long)
    for op in two_sources:
        name = op.name.lower()
        clash = partial(instruction, op, src2=0)
        far, near = clash(dst=5000, src1=0, len=4096), clash(dst=1, src1=0, len=4096)
        yield Cause(code.LENGTH, f"length_over_address_{name}", far)
        yield Cause(code.LENGTH, f"length_over_overlap_{name}", near)
        over = clash(dst=4090, src1=4091, len=10)
        yield Cause(code.ADDRESS, f"address_over_overlap_{name}", over)
    yield Cause(code.LENGTH, "length_over_overlap_rq", rq(1, 0, 4096, 1, 0))
    yield Cause(code.LENGTH, "length_over_overlap_sm", sm(1, 0, 4096))
    yield Cause(code.LENGTH, "length_over_overlap_unpack", unpack(0, 0, 512))
    yield Cause(code.SHAPE, "shape_over_address", mm(0, 0, 0, 1, 1, 1)._replace(a=4096, f=0))
    yield Cause(code.SHAPE, "shape_over_address_k", mm(0, 0, 0, 1, 1, 1)._replace(c=9999, g=65))
    yield Cause(code.ADDRESS, "address_over_overlap_rq", rq(4090, 4089, 10, 1, 0))
    yield Cause(code.ADDRESS, "address_over_overlap_sm", sm(4087, 4086, 10))
    yield Cause(code.ADDRESS, "address_over_overlap_unpack", unpack(4080, 4085, 4))


def fault_item(name: str, faulty: Instruction, lead: int = 0) -> ProgramItem:
    """A program that works, faults on ``faulty``, and must not reach what stands behind.

    ``lead`` is the number of instructions before the fault, on top of a load and a store.
    """
    b = Builder(name).ext(0, pattern(24, salt=21))
    b.add(ld(200, 0, 20))
    for i in range(lead):
        b.add(vadd(1000 + 8 * i, 200, 208, 8))
    b.keep(198, 24)
    b.add(faulty)
    b.keep(200, 20)
    return b.add(ld(100, 0, 4)).keep(90, 30).item()


def _items(name: str, causes: Sequence[Cause]) -> list[ProgramItem]:
    return [
        fault_item(f"{name}/{cause.why}", cause.instruction, lead=i % 3)
        for i, cause in enumerate(causes)
    ]


def fault_groups() -> dict[str, list[Cause]]:
    """All causes by program name: ``fault_<code>_<operation>``, and ``fault_priority``."""
    groups = {"fault_opcode": list(_opcodes())}
    for op in (row.op for row in VECTORS):
        groups[f"fault_length_{op.name.lower()}"] = list(_lengths(op))
    groups["fault_shape_mm"] = list(_shapes())
    for op in list(Op)[1:]:
        groups[f"fault_address_{op.name.lower()}"] = list(_addresses(op))
    for op in (row.op for row in VECTORS if row.overlap != "free"):
        groups[f"fault_overlap_{op.name.lower()}"] = list(_overlaps(op))
    groups["fault_priority"] = list(_priorities())
    return groups


def _register_groups() -> None:
    for name, causes in fault_groups().items():
        code = causes[0].code.name
        about = f"{code} faults from {len(causes)} causes"
        if name == "fault_priority":
            about = f"{len(causes)} instructions to which several fault rules apply"
        register(name, FAMILY, about, partial(_items, name, causes))


_register_groups()
