"""The cycle model and its counters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.chip import isa
from model.chip.isa import Instruction
from model.chip.machine import Machine
from model.chip.operation_table import UNDEFINED_OPS
from model.chip.timing import Counters, LatencyError, busy_cycles, load_cycles, unit_of


@pytest.mark.parametrize(
    ("instr", "busy"),
    [
        (isa.halt(), 0),
        (isa.ld(0, 0, 1), 10),
        (isa.ld(0, 0, 4095), 4104),
        (isa.st(0, 0, 1), 3),
        (isa.st(0, 0, 100), 102),
        (isa.mm(0, 0, 0, 1, 1, 1), 1 + 1 + 1 + 1 + 7),
        (isa.mm(0, 0, 0, 4, 64, 4), 256 + 256 + 70 + 16 + 7),
        (isa.mm(0, 0, 0, 2, 16, 3), 32 + 48 + 19 + 6 + 7),
        (isa.mm(0, 0, 0, 2, 16, 3, tb=1, lda=5, ldb=6, ldc=7), 32 + 48 + 19 + 6 + 7),
        (isa.rq(0, 0, 1, 1, 1), 3),
        (isa.rq(0, 0, 16, 1, 1, relu=1), 18),
        (isa.sm(0, 0, 1), 50),
        (isa.sm(0, 0, 4095), 12332),
        (isa.vadd(0, 0, 0, 1), 4),
        (isa.vadd(0, 0, 0, 4095), 8192),
        (isa.amax(0, 0, 1), 4),
        (isa.amax(0, 0, 16), 19),
        (isa.unpack(8, 0, 1), 11),
        (isa.unpack(600, 0, 64), 641),
    ],
)
def test_busy_cycles(instr: Instruction, busy: int) -> None:
    assert busy_cycles(instr, 8) == busy


@given(st.integers(1, 4095), st.integers(1, 64))
def test_fixed_latency_adds_itself_and_one(length: int, latency: int) -> None:
    assert busy_cycles(isa.ld(0, 0, length), latency) == length + latency + 1


def arrival_of_last(latencies: list[int]) -> int:
    """Step through the requests: one a cycle, answers in order, one answer a cycle."""
    answered = latencies[0]
    for i, lat in enumerate(latencies[1:], start=1):
        answered = max(answered + 1, i + lat)
    return answered


@given(st.lists(st.integers(1, 64), min_size=1, max_size=60))
def test_varying_latency_follows_the_order_of_answers(latencies: list[int]) -> None:
    expected = arrival_of_last(latencies) + 2
    assert load_cycles(len(latencies), latencies) == expected
    assert load_cycles(len(latencies), lambda i: latencies[i]) == expected


@given(st.lists(st.integers(1, 64), min_size=1, max_size=9), st.integers(0, 50))
def test_later_loads_continue_in_the_sequence(latencies: list[int], first: int) -> None:
    used = [latencies[(first + i) % len(latencies)] for i in range(20)]
    assert load_cycles(20, latencies, first_request=first) == arrival_of_last(used) + 2


@pytest.mark.parametrize("latency", [0, -3, [4, 0], [], lambda i: i - 1])
def test_latencies_below_one_cycle_are_refused(latency: object) -> None:
    with pytest.raises(LatencyError):
        load_cycles(2, latency)  # type: ignore[arg-type]


def test_units() -> None:
    units = {op: unit_of(op) for op in isa.Op if op != isa.Op.HALT}
    assert [op.name for op in units if units[op] == "dma"] == ["LD", "ST"]
    assert [op.name for op in units if units[op] == "mm"] == ["MM"]
    vectors = [op.name for op in units if units[op] == "vec"]
    assert vectors[:5] == ["RQ", "SM", "VADD", "AMAX", "UNPACK"]
    assert len(vectors) == len(units) - 3


@pytest.mark.parametrize("op", [0, UNDEFINED_OPS[0], 15])
def test_no_unit_for_halt_and_undefined_operations(op: int) -> None:
    with pytest.raises(ValueError, match=f"operation {op} "):
        unit_of(op)


def test_undefined_operations_have_no_busy_time() -> None:
    with pytest.raises(ValueError, match=f"operation {UNDEFINED_OPS[0]} "):
        busy_cycles(Instruction(UNDEFINED_OPS[0], c=1))


def test_a_program_costs_the_sum_of_its_instructions() -> None:
    program = [
        isa.ld(0, 0, 64),
        isa.mm(100, 0, 32, 4, 8, 4),
        isa.rq(100, 100, 16, 1 << 23, 30),
        isa.st(100, 200, 16),
        isa.halt(),
    ]
    mm, dma, vec = 32 + 32 + 14 + 16 + 7, (64 + 5 + 1) + 18, 18
    counters = Machine().run([isa.encode(i) for i in program], latency=5).counters
    assert counters == Counters(mm + dma + vec + 2 * 4 + 2, mm, dma, vec, 4)


def test_an_empty_program_costs_one_halt() -> None:
    assert Machine().run([]).counters == Counters(total=2)


def test_a_fault_costs_what_a_halt_costs() -> None:
    words = [isa.encode(isa.rq(0, 0, 4, 1, 1)), isa.encode(isa.rq(1, 0, 4, 1, 1))]
    faulty = Machine().run(words)
    clean = Machine().run(words[:1])
    assert faulty.fault == isa.FaultCode.OVERLAP
    assert faulty.counters == clean.counters == Counters(2 + 6 + 2, 0, 0, 6, 1)


def test_requests_are_numbered_over_the_whole_run() -> None:
    program = [isa.encode(i) for i in (isa.ld(0, 0, 3), isa.st(0, 0, 9), isa.ld(0, 0, 2))]
    asked: list[int] = []

    def latency(request: int) -> int:
        asked.append(request)
        return [1, 2, 1, 9, 30][request]

    result = Machine().run(program, latency=latency)
    assert asked == [0, 1, 2, 3, 4]
    assert [r.busy for r in result.retires] == [3 + 2 + 1, 9 + 2, 2 + 30 + 1]
    assert Machine().run(program, latency=[1, 2, 1, 9, 30]).counters == result.counters


def test_without_a_latency_it_is_eight_cycles_from_the_first_request() -> None:
    assert load_cycles(3) == busy_cycles(isa.ld(0, 0, 3)) == 3 + 8 + 1
    varying = [2, 9, 9]
    assert load_cycles(1, varying) == busy_cycles(isa.ld(0, 0, 1), varying) == 1 + 2 + 1


def test_counters_start_at_zero() -> None:
    assert Counters() == Counters(total=0, mm=0, dma=0, vec=0, n_inst=0)
