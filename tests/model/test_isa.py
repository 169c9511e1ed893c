"""Encoding, decoding and the fault rules."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scalar_ga2 import fault_of, unpack_fields
from strategies import legal_instructions, raw_instructions

from model.chip import isa
from model.chip.isa import FaultCode, Instruction
from model.chip.operation_table import OPERATIONS, UNDEFINED_OPS

NONE, OPCODE, LENGTH, SHAPE, ADDRESS, OVERLAP = FaultCode


@given(raw_instructions())
def test_decode_inverts_encode(instr: Instruction) -> None:
    assert isa.decode(isa.encode(instr)) == instr


@given(st.integers(0, (1 << 128) - 1))
def test_encode_inverts_decode_for_every_word(word: int) -> None:
    assert isa.encode(isa.decode(word)) == word


@given(st.integers(0, (1 << 128) - 1))
def test_fields_lie_where_the_layout_says(word: int) -> None:
    decoded = isa.decode(word)
    assert {name: getattr(decoded, name) for name in isa.FIELDS} == unpack_fields(word)


def test_fields_tile_the_word() -> None:
    covered = [bit for low, width in isa.FIELDS.values() for bit in range(low, low + width)]
    assert sorted(covered) == list(range(128))


def test_halt_is_the_zero_word() -> None:
    assert isa.encode(isa.halt()) == 0


@pytest.mark.parametrize(
    ("instr", "word"),
    [
        (isa.ld(dst=1, src=2, length=3), 0x1_0001_0002_0003_000000_0_0000_0000_0000),
        (isa.vadd(1, 2, 3, 4), 0x6_0001_0002_0003_000004_0_0000_0000_0000),
        (
            isa.rq(1, 2, 3, m=0x800000, s=31, relu=1),
            (0x4000100020003800000 << 52) | 31 << 46 | 1 << 18,
        ),
        (
            isa.mm(1, 2, 3, M=4, K=5, N=2, tb=1, lda=6, ldb=7, ldc=8),
            (0x3000100020003007006 << 52) | 4 << 38 | 5 << 30 | 2 << 22 | 1 << 18 | 8,
        ),
    ],
)
def test_known_words(instr: Instruction, word: int) -> None:
    assert isa.encode(instr) == word


def test_mm_strides_default_to_packed_rows() -> None:
    instr = isa.mm(0, 0, 0, M=2, K=30, N=3)
    assert (instr.lda, instr.ldb, instr.ldc, instr.tb) == (30, 0, 3, 0)


@pytest.mark.parametrize("name", list(isa.FIELDS))
@pytest.mark.parametrize("beyond", [False, True])
def test_encode_refuses_values_that_do_not_fit(name: str, beyond: bool) -> None:
    value = 1 << isa.FIELDS[name][1] if beyond else -1
    fields = {"op": 1, name: value}
    with pytest.raises(isa.EncodingError, match=f"{name}={value} "):
        isa.encode(Instruction(**fields))


@pytest.mark.parametrize("stride", ["lda", "ldb", "ldc"])
def test_mm_refuses_a_stride_that_would_spill_into_its_neighbour(stride: str) -> None:
    with pytest.raises(isa.EncodingError, match=f"{stride}=4096"):
        isa.mm(0, 0, 0, 1, 1, 1, **{stride: 4096})


@pytest.mark.parametrize("word", [-1, 1 << 128])
def test_decode_refuses_more_than_128_bits(word: int) -> None:
    with pytest.raises(isa.EncodingError, match="128-bit"):
        isa.decode(word)


@settings(max_examples=400, deadline=None)
@given(raw_instructions())
def test_faults_agree_with_explicit_address_sets(instr: Instruction) -> None:
    assert isa.check_fault(instr) == fault_of(unpack_fields(isa.encode(instr)))


@given(legal_instructions())
def test_generated_legal_instructions_do_not_fault(instr: Instruction) -> None:
    assert isa.check_fault(instr) == NONE


FAULT_CASES = [
    # Undefined operations, whatever else is wrong.
    *[(Instruction(op, c=0), OPCODE) for op in UNDEFINED_OPS],
    (isa.halt(), NONE),
    (Instruction(0, a=65535, c=65535, f=9), NONE),
    # Lengths.
    (isa.ld(0, 0, 0), LENGTH),
    (isa.ld(0, 0, 4095), NONE),
    (isa.ld(0, 0, 4096), LENGTH),
    (isa.st(65535, 65535, 0), LENGTH),
    (isa.rq(5000, 0, 4096, 1, 0), LENGTH),
    (isa.sm(0, 0, 4096), LENGTH),
    (isa.amax(0, 0, 4096), LENGTH),
    (isa.vadd(0, 0, 0, 4095), NONE),
    (isa.vadd(0, 0, 0, 4096), LENGTH),
    (isa.vadd(0, 0, 0, 0), LENGTH),
    (Instruction(isa.Op.VADD, d=0xFF0001), NONE),  # bits 23..16 of d are no part of the length
    (isa.unpack(0, 4090, 511), ADDRESS),
    (isa.unpack(8, 0, 512), LENGTH),
    # Shapes come before addresses.
    *[(isa.mm(5000, 0, 0, m, k, n), SHAPE) for m, k, n in [(0, 1, 1), (5, 1, 1), (1, 0, 1)]],
    *[(isa.mm(5000, 0, 0, m, k, n), SHAPE) for m, k, n in [(1, 65, 1), (1, 1, 0), (1, 1, 5)]],
    # Addresses.
    (isa.ld(4095, 65535, 1), NONE),
    (isa.ld(4096, 0, 1), ADDRESS),
    (isa.ld(4095, 0, 2), ADDRESS),
    (isa.ld(0, 65535, 2), ADDRESS),
    (isa.st(0, 65535, 2), ADDRESS),
    (isa.st(4095, 0, 2), ADDRESS),
    (isa.mm(4095, 4095, 4095, 4, 64, 4), NONE),  # derived addresses wrap
    (isa.mm(4096, 0, 0, 1, 1, 1), ADDRESS),
    (isa.mm(0, 4096, 0, 1, 1, 1), ADDRESS),
    (isa.mm(0, 0, 4096, 1, 1, 1), ADDRESS),
    (isa.rq(0, 4000, 97, 1, 0), ADDRESS),
    (isa.rq(4000, 0, 97, 1, 0), ADDRESS),
    (isa.vadd(0, 0, 4000, 97), ADDRESS),
    (isa.amax(4095, 0, 4095), NONE),
    (isa.amax(4096, 0, 1), ADDRESS),
    (isa.amax(0, 4095, 2), ADDRESS),
    (isa.unpack(4089, 0, 1), ADDRESS),
    (isa.unpack(4088, 0, 1), NONE),
    # Overlap: identical is fine except for UNPACK, touching is fine, and addresses come first.
    (isa.rq(100, 100, 8, 1, 0), NONE),
    (isa.rq(101, 100, 8, 1, 0), OVERLAP),
    (isa.rq(108, 100, 8, 1, 0), NONE),
    (isa.rq(92, 100, 8, 1, 0), NONE),
    (isa.sm(93, 100, 8), OVERLAP),
    (isa.sm(4090, 4089, 7), ADDRESS),
    (isa.vadd(100, 100, 100, 8), NONE),
    (isa.vadd(100, 101, 200, 8), OVERLAP),
    (isa.vadd(100, 200, 99, 8), OVERLAP),
    (isa.vadd(100, 100, 107, 8), OVERLAP),
    (isa.vadd(100, 200, 203, 8), NONE),  # sources may overlap each other
    *[(isa.vadd(100, touching, 300, 8), NONE) for touching in (92, 108)],
    *[(isa.vadd(100, 300, touching, 8), NONE) for touching in (92, 108)],
    *[(isa.vadd(100, 300, inside, 8), OVERLAP) for inside in (93, 107)],
    *[(isa.vadd(100, inside, 300, 8), OVERLAP) for inside in (93, 107)],
    *[(isa.sm(100, inside, 8), OVERLAP) for inside in (93, 107)],
    (isa.unpack(0, 0, 1), OVERLAP),
    (isa.unpack(0, 7, 1), OVERLAP),
    (isa.unpack(0, 8, 1), NONE),
    (isa.unpack(1, 0, 1), NONE),
    (isa.amax(103, 100, 8), NONE),  # the index may land inside its source
]


@pytest.mark.parametrize(("instr", "code"), FAULT_CASES)
def test_first_rule_that_applies_gives_the_code(instr: Instruction, code: FaultCode) -> None:
    assert isa.check_fault(instr) == code


@given(raw_instructions(), st.data())
def test_ignored_fields_change_nothing(instr: Instruction, data: st.DataObject) -> None:
    known = OPERATIONS.get(instr.op)
    used = set(known.named_bits) if known else set()
    junk = {
        name: data.draw(st.integers(0, (1 << width) - 1))
        for name, (_, width) in isa.FIELDS.items()
        if name not in used and name != "op"
    }
    kept = {name: getattr(instr, name) for name in isa.FIELDS if name not in junk}
    assert isa.check_fault(Instruction(**kept, **junk)) == isa.check_fault(instr)
