"""The unit-level tests pass in both simulators, and each unit's find a fault planted in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from planting import change, design_copy, kept_place

from sim.programs.units import UnitRun, run_unit, take_results, unit_names
from sim.shared.paths import RTL, SIMULATORS

# Per unit: the file, what is there, and what makes it wrong in one special case.
FAULTS = [
    ("counters", "ga2_counters.sv", "n_inst_q + 32'd1", "{n_inst_q[31], n_inst_q[30:0] + 31'd1}"),
    ("counters", "ga2_counters.sv", "wire reset = rst || clear;", "wire reset = rst;"),
    ("requantizer", "ga2_requantizer.sv", ">> s) + 57'd1) >> 1", ">> s) + 57'(!negative)) >> 1"),
    ("requantizer", "ga2_requantizer.sv", "rounded > 57'd127", "rounded > 57'd128"),
    ("requantizer", "ga2_requant.sv", "left_q != 12'd1", "left_q != 12'd1 && left_q != 12'h800"),
    ("divider", "ga2_divider.sv", "partial_q >= {1'b0, divisor}", "partial_q > {1'b0, divisor}"),
    ("divider", "ga2_divider.sv", "left_q <= 6'd40", "left_q <= 6'd39"),
    ("softmax", "ga2_softmax.sv", "max_q <= -8'sd128;", "max_q <= -8'sd127;"),
    ("softmax", "ga2_softmax.sv", "39'h20_0000", "39'h1F_FFFF"),
    ("softmax", "ga2_exp_table.sv", "16'hF07C", "16'hF07D"),
    ("matmul", "ga2_mac_row.sv", "$signed(b_q[31:24])", "$signed({1'b0, b_q[30:24]})"),
    ("matmul", "ga2_matmul.sv", "first ? 6'd0 : wave_q", "wave_q"),
    ("matmul", "ga2_matmul.sv", "in_load_b && !tb ? ldb", "in_load_b && !tb && m[0] ? ldb"),
    ("dma", "ga2_load.sv", "resp_valid && resp_left_q != req_left_q", "resp_valid"),
    ("dma", "ga2_store.sv", "wr_addr_q + 16'd1", "{wr_addr_q[15:8], wr_addr_q[7:0] + 8'd1}"),
    (
        "scratchpad",
        "ga2_scratchpad.sv",
        "mem[waddr] <=",
        "mem[{waddr[11:1], |waddr[11:9] || waddr[0]}] <=",
    ),
    ("scratchpad", "ga2_scratchpad.sv", "if (ren) rdata_q", "rdata_q"),
    ("vector", "ga2_vadd.sv", "sum_q < -9'sd127", "sum_q < -9'sd128"),
    ("vector", "ga2_amax.sv", "$signed(rdata) > best_q", "$signed(rdata) >= best_q"),
    ("vector", "ga2_unpack.sv", "word_q[31:4]", "word_q[30:4]"),
    ("fault_checker", "ga2_fault_checker.sv", "end_a > 20'(", "end_a >= 20'("),
    ("fault_checker", "ga2_fault_checker.sv", "g > 8'd64", "g > 8'd65"),
    ("fault_checker", "ga2_fault_checker.sv", "(a != b || expands)", "(a != b)"),
]


@pytest.mark.parametrize("sim", SIMULATORS)
@pytest.mark.parametrize("unit", unit_names())
def test_unit(unit: str, sim: str) -> None:
    run = run_unit(sim, unit)
    assert not run.error, run.error
    assert not run.failures, f"{sim}, {unit}: {run.failures}"
    assert len(run.tests) >= 3


def test_every_unit_has_planted_faults() -> None:
    assert {unit for unit, *_ in FAULTS} == set(unit_names())


@pytest.mark.parametrize(("unit", "file", "sound", "wrong"), FAULTS)
def test_finds_planted_fault(unit: str, file: str, sound: str, wrong: str) -> None:
    with kept_place("unit") as place:
        rtl = design_copy(RTL, place / "rtl")
        change(rtl, file, sound, wrong)
        run = run_unit("icarus", unit, rtl=rtl)
    assert not run.error, run.error
    assert run.failures, f"no test of {unit} noticed {wrong!r} in {file}"


def test_no_results_is_a_failure(tmp_path: Path) -> None:
    run = UnitRun()
    take_results(run, tmp_path / "results.xml")
    assert not run.passed


def test_zero_tests_is_a_failure(tmp_path: Path) -> None:
    results = tmp_path / "results.xml"
    results.write_text("<testsuites><testsuite name='all'/></testsuites>")
    run = UnitRun()
    take_results(run, results)
    assert not run.passed


def test_missing_module_is_a_failure() -> None:
    run = run_unit("icarus", "no_such_unit")
    assert run.error
    assert not run.passed
