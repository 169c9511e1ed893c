"""Hypothesis strategies for GA-2 instructions, legal ones and ones near the edge of a fault."""

from __future__ import annotations

from hypothesis import strategies as st

from model.chip import isa
from model.chip.isa import Instruction
from model.chip.operation_table import OPERATIONS

# Values around every limit of the fault rules.
EDGES = [0, 1, 2, 4, 5, 63, 64, 65, 511, 512, 513, 2048, 4094, 4095, 4096, 4097, 65535]


def near_limits(bits: int) -> st.SearchStrategy[int]:
    limit = (1 << bits) - 1
    edges = st.sampled_from([value for value in EDGES if value <= limit])
    return st.one_of(edges, st.integers(0, min(limit, 16)), st.integers(0, limit))


def raw_instructions() -> st.SearchStrategy[Instruction]:
    """Any word, biased towards the limits of the fault rules."""
    return st.builds(
        Instruction,
        **{name: near_limits(width) for name, (_, width) in isa.FIELDS.items()},
    )


@st.composite
def legal_instructions(draw: st.DrawFn, max_length: int = 24) -> Instruction:
    """Instructions that cannot fault, with regions close together so that programs interact."""
    op = draw(st.sampled_from([op for op in isa.Op if op != isa.Op.HALT]))
    n = draw(st.integers(1, max_length))
    slots = draw(st.permutations(range(4)))
    base = draw(st.sampled_from([0, 1000, isa.SPAD_WORDS - 4 * 8 * max_length]))
    dst, src, other, _ = (base + 8 * max_length * slot for slot in slots)
    if op in (isa.Op.LD, isa.Op.ST):
        outside = draw(st.integers(0, isa.EXT_WORDS - n))
        inside = draw(st.integers(0, 200))
        return Instruction(op, a=dst, b=draw(st.sampled_from([inside, outside])), c=n)
    if op == isa.Op.MM:
        address = st.integers(0, isa.SPAD_WORDS - 1)
        stride = st.one_of(st.integers(0, 70), st.integers(0, 4095))
        return isa.mm(
            draw(address),
            draw(address),
            draw(address),
            draw(st.integers(1, 4)),
            draw(st.integers(1, 64)),
            draw(st.integers(1, 4)),
            tb=draw(st.integers(0, 1)),
            lda=draw(stride),
            ldb=draw(stride),
            ldc=draw(stride),
        )
    in_place = draw(st.booleans())
    if op == isa.Op.RQ:
        m, s = draw(st.integers(0, (1 << 24) - 1)), draw(st.integers(0, 63))
        return isa.rq(src if in_place else dst, src, n, m, s, draw(st.integers(0, 1)))
    if op == isa.Op.SM:
        return isa.sm(src if in_place else dst, src, n)
    row = OPERATIONS[op]
    if op == isa.Op.AMAX:
        return isa.amax(src + draw(st.integers(0, n)), src, n)
    if row.overlap == "same":
        dst = draw(st.sampled_from([dst, src, other] if len(row.sources) > 1 else [dst, src]))
    sources = dict(zip((operand.name for operand in row.sources), (src, other), strict=False))
    given = {"dst": dst, "len": n, **sources}
    rest = {
        operand.name: draw(st.integers(0, (1 << operand.width) - 1))
        for operand in row.operands
        if operand.name not in given
    }
    return isa.instruction(op, **given, **rest)
