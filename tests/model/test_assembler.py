"""Assembly text to words and back."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import legal_instructions, raw_instructions

from model.chip import isa
from model.chip.assembler import AssemblyError, assemble, describe, disassemble
from model.chip.isa import Instruction
from model.chip.operation_table import OPERATIONS


def only(text: str) -> Instruction:
    (word,) = assemble(text)
    return isa.decode(word)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HALT", isa.halt()),
        ("LD dst=1 src=0x20 len=3", isa.ld(1, 32, 3)),
        ("len=3", None),
        ("ST src=1 dst=2 len=3", isa.st(1, 2, 3)),
        ("MM dst=1 A=2 B=3 M=4 K=5 N=2", isa.mm(1, 2, 3, 4, 5, 2)),
        (
            "MM N=2 K=5 M=4 B=3 A=2 dst=1 ldc=9 ldb=8 lda=7 tb=1",
            isa.mm(1, 2, 3, 4, 5, 2, tb=1, lda=7, ldb=8, ldc=9),
        ),
        ("RQ dst=1 src=2 len=3 m=0xFFFFFF s=63 relu=1", isa.rq(1, 2, 3, 0xFFFFFF, 63, 1)),
        ("RQ dst=1 src=2 len=3 m=5 s=6", isa.rq(1, 2, 3, 5, 6)),
        ("SM dst=1 src=2 len=3", isa.sm(1, 2, 3)),
        ("VADD dst=1 src1=2 src2=3 len=65535", isa.vadd(1, 2, 3, 65535)),
        ("AMAX dst=1 src=2 len=3", isa.amax(1, 2, 3)),
        ("UNPACK dst=1 src=2 len=3", isa.unpack(1, 2, 3)),
        ("  unpack\tlen=3  src=2 dst=1 ; in any case and order", isa.unpack(1, 2, 3)),
        (".word 0xA0000000000000000000000000000001", Instruction(10, x=1)),
        (".WORD 5", Instruction(0, x=5)),
    ],
)
def test_a_line_assembles_to_its_instruction(text: str, expected: Instruction | None) -> None:
    if expected is None:
        with pytest.raises(AssemblyError, match="unknown operation"):
            assemble(text)
    else:
        assert only(text) == expected


def test_comments_and_blank_lines_take_no_address() -> None:
    text = "; a program\n\n  ; more\nLD dst=0 src=0 len=1 ; load = fetch\r\n\nHALT\n"
    assert assemble(text) == [isa.encode(isa.ld(0, 0, 1)), 0]


def test_an_empty_program_has_no_words() -> None:
    assert assemble("") == []


@pytest.mark.parametrize(
    ("line", "text", "reason"),
    [
        ("MUL dst=1", "MUL", "unknown operation"),
        ("VAD dst=1", "VAD", "did you mean VADD?"),
        ("LD dst=1 src=2", "LD dst=1 src=2", "len is missing; LD takes dst src len"),
        ("MM dst=1", "MM dst=1", "takes dst A B M K N [tb] [lda] [ldb] [ldc]"),
        ("LD dst=1 src=2 length=3", "length=3", "did you mean len? known: dst, src, len"),
        ("LD dst=1 src=2 m=3", "m=3", "LD has no operand 'm'"),
        ("HALT x=1", "x=1", "known: none"),
        ("LD 1 2 3", "1", "operands are written key=value"),
        ("LD dst=1, src=2 len=3", "dst=1,", "without commas"),
        ("LD dst=1 src=2 len=-3", "len=-3", "unsigned decimal or 0x hexadecimal"),
        ("LD dst=1 src=2 len=", "len=", "unsigned decimal or 0x hexadecimal"),
        ("LD dst=1 src=2 len=1_0", "len=1_0", "unsigned decimal or 0x hexadecimal"),
        ("LD dst=1 src=2 len=0b1", "len=0b1", "unsigned decimal or 0x hexadecimal"),
        ("LD dst=1 src=2 len=65536", "len=65536", "the value must be 0..65535"),
        ("LD dst=1 src=2 len=" + "9" * 5000, "len=" + "9" * 5000, "the value must be 0..65535"),
        ("RQ dst=0 src=0 len=1 m=1 s=64", "s=64", "the value must be 0..63"),
        ("RQ dst=0 src=0 len=1 m=16777216 s=0", "m=16777216", "the value must be 0..16777215"),
        ("RQ dst=0 src=0 len=1 m=1 s=0 relu=2", "relu=2", "the value must be 0..1"),
        ("MM dst=0 A=0 B=0 M=1 K=1 N=1 lda=4096", "lda=4096", "the value must be 0..4095"),
        ("LD dst=1 dst=1 src=2 len=3", "dst=1", "given twice"),
        (".word", ".word", "takes one number"),
        (".word 1 2", ".word 1 2", "takes one number"),
        (".word 0x1" + "0" * 32, "0x1" + "0" * 32, "the value must be 0.."),
    ],
)
def test_errors_name_line_text_and_remedy(line: str, text: str, reason: str) -> None:
    with pytest.raises(AssemblyError, match=re.escape(reason)) as caught:
        assemble(f"HALT\n; comment\n{line}\nHALT\n")
    assert caught.value.line == 3
    assert caught.value.text == text
    assert str(caught.value).startswith(f"line 3: {text!r}: ")


def test_a_byte_order_mark_is_no_operation() -> None:
    assert assemble("\ufeffHALT") == assemble("\ufeff; comment\nHALT") == [0]
    with pytest.raises(AssemblyError, match="unknown operation"):
        assemble("HALT\n\ufeffHALT")


@pytest.mark.parametrize("separator", ["\x0b", "\u2028", "\x85"])
def test_only_line_feeds_end_a_comment(separator: str) -> None:
    assert assemble(f"; comment{separator}HALT\nHALT") == [0]


@given(st.integers(0, (1 << 128) - 1))
def test_every_word_survives_disassembly(word: int) -> None:
    assert assemble(disassemble(word)) == [word]


@given(raw_instructions())
def test_edge_words_survive_disassembly(instr: Instruction) -> None:
    word = isa.encode(instr)
    assert assemble(disassemble(word)) == [word]


@given(legal_instructions())
def test_proper_instructions_disassemble_to_a_mnemonic(instr: Instruction) -> None:
    text = disassemble(isa.encode(instr))
    assert text.split()[0] == isa.Op(instr.op).name
    assert only(text) == instr


def test_ignored_bits_show_as_a_literal_with_a_comment() -> None:
    word = isa.encode(isa.ld(1, 2, 3)) | 7
    assert disassemble(word) == f".word 0x{word:032x} ; LD dst=1 src=2 len=3"
    assert disassemble(15 << 124).endswith("; undefined operation 15")


def test_describe_prints_every_operand() -> None:
    text = describe(isa.mm(1, 2, 3, 4, 64, 2, tb=1, ldb=16))
    assert text == "MM dst=1 A=2 B=3 M=4 K=64 N=2 tb=1 lda=64 ldb=16 ldc=2"


@pytest.mark.parametrize("op", list(isa.Op))
def test_operands_do_not_share_bits(op: isa.Op) -> None:
    bits = [o.shift + i for o in OPERATIONS[op].operands for i in range(o.width)]
    assert len(bits) == len(set(bits))
