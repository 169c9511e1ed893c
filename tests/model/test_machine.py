"""The vectorized machine against a scalar one, and its behaviour at the edges."""

from __future__ import annotations

import dataclasses
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scalar_ga2 import ScalarGa2
from strategies import legal_instructions, raw_instructions

from model.chip import isa
from model.chip.isa import FaultCode, Instruction, Op
from model.chip.machine import Burst, Machine, Retire
from model.chip.operations import plan_word

LATENCIES = st.lists(st.integers(1, 20), min_size=1, max_size=7)


def words_of(*program: Instruction) -> list[int]:
    return [isa.encode(instr) for instr in program]


def filled(depth: int = 8192, seed: int = 0) -> Machine:
    """A machine whose scratchpad holds noise, so that stray reads and writes show."""
    machine = Machine(depth)
    machine.spad = noise(isa.SPAD_WORDS, seed)
    return machine


def noise(count: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 1 << 32, count, dtype=np.uint32)


def assert_same_as_scalar(program: list[int], seed: int, depth: int, latency: list[int]) -> None:
    image = noise(min(depth, 300), seed + 1)
    machine, scalar = filled(depth, seed), ScalarGa2(depth, noise(isa.SPAD_WORDS, seed).tolist())
    result = machine.run(program, image, latency)
    scalar.run(program, image.tolist(), latency)
    assert list(map(tuple, result.retires)) == scalar.retires
    assert machine.spad.tolist() == scalar.spad
    assert result.ext.tolist() == scalar.ext
    assert dataclasses.asdict(result.counters) == scalar.cycles
    assert (result.fault, result.fault_pc) == (scalar.fault, scalar.fault_pc)
    assert list(map(tuple, result.bursts)) == scalar.bursts


@settings(max_examples=200, deadline=None)
@given(
    st.lists(legal_instructions(), max_size=25),
    st.integers(0, 1000),
    st.sampled_from([1, 100, 400, 8192]),
    LATENCIES,
)
def test_legal_programs(
    program: list[Instruction], seed: int, depth: int, latency: list[int]
) -> None:
    assert_same_as_scalar(words_of(*program), seed, depth, latency)


@settings(max_examples=200, deadline=None)
@given(st.lists(raw_instructions(), max_size=6), st.integers(0, 1000), LATENCIES)
def test_arbitrary_words(program: list[Instruction], seed: int, latency: list[int]) -> None:
    assert_same_as_scalar(words_of(*program), seed, 8192, latency)


@pytest.mark.parametrize(
    "instr",
    [
        isa.ld(1, 0, 4095),
        isa.st(1, 4000, 4095),
        isa.rq(0, 0, 4095, 0xABCDEF, 47),
        isa.sm(1, 1, 4095),
        isa.vadd(1, 1, 1, 4095),
        isa.amax(4095, 0, 4095),
        isa.unpack(0, 4090, 5),
        isa.unpack(4096 - 8 * 455, 0, 455),
        isa.mm(4095, 4095, 4095, 4, 64, 4, lda=4095, ldb=4095, ldc=4095),
        isa.mm(4090, 4090, 4090, 4, 64, 4, tb=1, ldb=64, ldc=0),
    ],
)
def test_longest_and_wrapping_instructions(instr: Instruction) -> None:
    assert_same_as_scalar(words_of(instr), 5, 8192, [8])


def test_int8_operands_are_the_low_byte_only() -> None:
    machine = Machine()
    machine.spad[:4] = [0xFFFFFF7F, 0x00000080, 0x12345601, 0x000001FF]
    machine.run(words_of(isa.vadd(8, 0, 2, 2)))
    assert machine.spad[8:10].view(np.int32).tolist() == [127, -127]  # 127+1 and -128-1 saturate


def test_mm_reads_everything_before_it_writes() -> None:
    machine = Machine()
    machine.spad[:4] = [1, 2, 3, 4]
    machine.run(words_of(isa.mm(0, 0, 0, 2, 2, 2, ldb=2)))
    assert machine.spad[:4].tolist() == [7, 10, 15, 22]


def test_mm_with_no_stride_keeps_the_last_row() -> None:
    machine = Machine()
    machine.spad[:4] = [1, 2, 3, 4]
    result = machine.run(words_of(isa.mm(50, 0, 0, 2, 2, 2, ldb=2, ldc=0)))
    assert machine.spad[50:54].tolist() == [15, 22, 0, 0]
    assert result.retires[0].spad_writes == 4


def test_mm_rows_that_overlap_keep_the_later_writes() -> None:
    machine = Machine()
    machine.spad[:4] = [1, 2, 3, 4]
    machine.run(words_of(isa.mm(50, 0, 0, 2, 2, 2, ldb=2, ldc=1)))
    assert machine.spad[50:54].tolist() == [7, 15, 22, 0]


def test_argmax_takes_the_first_of_equal_signed_words() -> None:
    machine = Machine()
    machine.spad[:5] = [0x80000000, 0xFFFFFFFF, 5, 5, 0xFFFFFFF0]
    machine.run(words_of(isa.amax(3, 0, 5)))
    assert machine.spad[3] == 2


def test_stored_words_are_whole() -> None:
    machine = Machine()
    machine.spad[0] = 0xDEADBEEF
    assert machine.run(words_of(isa.st(0, 8191, 1))).ext[8191] == 0xDEADBEEF


def test_memory_beyond_its_depth_reads_zero_and_drops_writes() -> None:
    machine = filled(depth=10)
    before = machine.spad.copy()
    result = machine.run(words_of(isa.ld(0, 8, 4), isa.st(100, 9, 3), isa.ld(0, 500, 1)), [7] * 10)
    assert machine.spad[:4].tolist() == [0, 7, 0, 0]
    assert result.ext.tolist() == [7] * 9 + [before[100]]
    assert result.bursts == [Burst("read", 8, 4), Burst("write", 9, 3), Burst("read", 500, 1)]
    assert result.retires[1].ext_writes == 3


def test_scratchpad_survives_and_external_memory_is_reloaded() -> None:
    machine = Machine()
    first = machine.run(words_of(isa.ld(0, 0, 2), isa.st(0, 4, 2)), [1, 2])
    second = machine.run(words_of(isa.st(0, 0, 2)))
    assert first.ext[:6].tolist() == [1, 2, 0, 0, 1, 2]
    assert second.ext[:6].tolist() == [1, 2, 0, 0, 0, 0]


def test_a_fault_changes_nothing_and_ends_the_program() -> None:
    machine = filled()
    before = machine.spad.copy()
    program = words_of(isa.st(0, 0, 1), isa.unpack(0, 7, 1), isa.unpack(8, 0, 1))
    result = machine.run(program)
    assert (result.fault, result.fault_pc) == (FaultCode.OVERLAP, 1)
    assert result.retires[-1] == Retire(1, 8, FaultCode.OVERLAP, 0, 0, 0, 0)
    assert len(result.retires) == 2
    assert (machine.spad == before).all()
    assert result.ext.tolist() == [before[0], *[0] * 8191]


def test_a_word_that_halts_may_have_any_operands() -> None:
    result = Machine().run([(1 << 124) - 1, isa.encode(isa.ld(0, 0, 1))])
    assert (result.retires, result.fault, result.counters.total) == ([], FaultCode.NONE, 2)


def test_reading_past_the_program_halts() -> None:
    result = Machine().run([isa.encode(isa.amax(0, 0, 1))] * 65535)
    assert result.counters.n_inst == 65535
    assert result.counters.total == 65535 * 6 + 2


def mixed(x: int) -> int:
    x = (x ^ x >> 16) * 0x85EBCA6B % (1 << 32)
    x = (x ^ x >> 13) * 0xC2B2AE35 % (1 << 32)
    return x ^ x >> 16


def test_signature_sees_every_pair_of_sign_bits() -> None:
    machine = Machine()
    data = np.arange(8, dtype=np.uint32)
    right = machine.run(words_of(isa.ld(0, 0, 8)), data).retires[0].signature
    for one, other in combinations(range(8), 2):
        wrong = data.copy()
        wrong[[one, other]] ^= np.uint32(1 << 31)
        assert machine.run(words_of(isa.ld(0, 0, 8)), wrong).retires[0].signature != right


def test_signature_depends_on_address_value_and_order() -> None:
    machine = Machine()
    one = machine.run(words_of(isa.ld(0, 0, 2)), [1, 2]).retires[0].signature
    two = machine.run(words_of(isa.ld(1, 0, 2)), [1, 2]).retires[0].signature
    three = machine.run(words_of(isa.ld(0, 0, 2)), [2, 1]).retires[0].signature
    assert one == (mixed(1) + mixed(2 ^ 0x9E3779B1 ^ 0x85EBCA6B)) % (1 << 32)
    assert len({one, two, three}) == 3
    assert machine.run(words_of(isa.st(0, 0, 2))).retires[0].signature == 0


def test_trace_sees_operands_before_the_instruction_runs() -> None:
    machine = Machine()
    seen: list[tuple[int, dict[str, list]]] = []

    def trace(pc: int, instr: Instruction) -> None:
        seen.append((pc, {k: v.tolist() for k, v in machine.operands(instr).items()}))

    program = words_of(
        isa.ld(0, 0, 4),
        isa.mm(4, 0, 2, 2, 1, 2, lda=1),
        isa.vadd(0, 0, 4, 2),
        isa.rq(0, 1, 1, 1, 0),
        isa.sm(0, 0, 1),
        isa.amax(0, 3, 1),
        isa.unpack(100, 3, 1),
        isa.st(3, 0, 1),
        isa.ld(0, 0, 0),
    )
    machine.run(program, [1, 0x102, 3, 0xFFFFFF04], trace=trace)
    assert seen == [
        (0, {"src": [1, 0x102, 3, 0xFFFFFF04]}),
        (1, {"A": [[1], [2]], "B": [[3, 4]]}),
        (2, {"src1": [1, 2], "src2": [3, 4]}),
        (3, {"src": [6]}),
        (4, {"src": [6]}),
        (5, {"src": [-252]}),
        (6, {"src": [0xFFFFFF04]}),
        (7, {"src": [0xFFFFFF04]}),
        (8, {}),
    ]


def test_operands_are_as_wide_as_their_unit_looks() -> None:
    machine = Machine()
    machine.spad[:4] = 0xFFFF01FE
    seen = {}
    for instr in (
        isa.st(0, 0, 1),
        isa.mm(8, 0, 0, 1, 1, 1),
        isa.rq(0, 0, 1, 1, 1),
        isa.sm(0, 0, 1),
        isa.vadd(0, 0, 3, 1),
        isa.amax(8, 0, 1),
        isa.unpack(8, 0, 1),
    ):
        values = machine.operands(instr).values()
        seen[Op(instr.op).name] = [(str(v.dtype), v.ravel().tolist()) for v in values]
    byte, signed, word = ("int8", [-2]), ("int32", [-65026]), ("uint32", [0xFFFF01FE])
    assert seen == {
        **{"ST": [word], "MM": [byte, byte], "RQ": [signed], "SM": [byte]},
        **{"VADD": [byte, byte], "AMAX": [signed], "UNPACK": [word]},
    }
    assert machine.operands(isa.halt()) == machine.operands(Instruction(15)) == {}


def test_records_of_a_run_cannot_be_changed() -> None:
    result = Machine().run(words_of(isa.ld(0, 0, 1)))
    with pytest.raises(AttributeError):
        result.retires[0].busy = 0  # type: ignore[misc]
    with pytest.raises(AttributeError):
        result.bursts[0].length = 0  # type: ignore[misc]


def test_plans_are_shared_and_so_cannot_be_changed() -> None:
    plan = plan_word(isa.encode(isa.mm(0, 0, 0, 1, 1, 1)))
    assert plan_word(isa.encode(plan.instr)) is plan
    with pytest.raises(AttributeError):
        plan.busy = 0  # type: ignore[misc]
    with pytest.raises(AttributeError):
        plan.matrix.a = plan.matrix.b  # type: ignore[misc, union-attr]


def test_a_plan_has_no_busy_time_where_nothing_or_the_memory_decides() -> None:
    for instr in (isa.halt(), Instruction(15), isa.ld(0, 0, 1)):
        plan = plan_word(isa.encode(instr))
        assert (plan.busy, plan.matrix, plan.compute) == (0, None, None)


def test_operands_are_copies() -> None:
    machine = Machine()
    for instr in (isa.st(0, 0, 4), isa.rq(0, 0, 4, 1, 1), isa.unpack(8, 0, 4), isa.ld(0, 0, 4)):
        values = machine.operands(instr)["src"]
        values[:] = 1
        assert not machine.spad.any()
        assert not machine.ext.any()


@pytest.mark.parametrize("depth", [0, -1, 65537])
def test_depth_must_be_addressable(depth: int) -> None:
    with pytest.raises(ValueError, match=f"depth {depth} "):
        Machine(depth)


def test_without_a_depth_the_memory_has_8192_words() -> None:
    assert Machine().run([]).ext.size == Machine().ext.size == 8192


def test_full_depth_reaches_the_last_word() -> None:
    result = Machine(65536).run(words_of(isa.ld(0, 0, 1), isa.st(0, 65535, 1)), [9])
    assert result.ext[65535] == 9


def test_what_cannot_be_loaded_is_refused() -> None:
    machine = Machine(4)
    for image in ([0] * 5, [[0]], 0):
        with pytest.raises(ValueError, match="image of shape"):
            machine.run([], image)
    with pytest.raises(ValueError, match="65536 words"):
        machine.run([0] * 65536)
    with pytest.raises(isa.EncodingError):
        machine.run([1 << 128])
