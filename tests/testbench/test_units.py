"""The unit-level tests pass in both simulators, and each unit's find a fault planted in it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from planting import kept_place
from rich.console import Console

from sim.engine.design import own_design
from sim.mutate.common.finding import KILLED, Finding
from sim.mutate.common.stages import StageProgress
from sim.mutate.common.store import Store
from sim.mutate.rtl.basis import make_basis
from sim.mutate.rtl.campaign import Campaign
from sim.mutate.rtl.mutant import Edit, Form, Mutant
from sim.mutate.rtl.plan import Plan
from sim.mutate.rtl.source import read_sources
from sim.programs.units import UnitRun, run_unit, run_units, take_results, unit_names
from sim.shared.patch import patch
from sim.shared.paths import SIMULATORS
from verif.mutation.protocol import UNIT_TEST

# Per unit: the file, an expression or statement in it, and what makes it wrong in one special case.
FAULTS = [
    ("counters", "ga2_counters.sv", "n_inst_q + 32'd1", "{n_inst_q[31], n_inst_q[30:0] + 31'd1}"),
    ("counters", "ga2_counters.sv", "rst || clear", "rst"),
    (
        *("requantizer", "ga2_requantizer.sv", "(((product << 1) >> s) + 57'd1) >> 1"),
        "(((product << 1) >> s) + 57'(!negative)) >> 1",
    ),
    ("requantizer", "ga2_requantizer.sv", "rounded > 57'd127", "rounded > 57'd128"),
    ("requantizer", "ga2_requant.sv", "left_q != 12'd1", "left_q != 12'd1 && left_q != 12'h800"),
    ("divider", "ga2_divider.sv", "partial_q >= {1'b0, divisor}", "partial_q > {1'b0, divisor}"),
    ("divider", "ga2_divider.sv", "left_q <= 6'd40;", "left_q <= 6'd39;"),
    ("softmax", "ga2_softmax.sv", "max_q <= -8'sd128;", "max_q <= -8'sd127;"),
    ("softmax", "ga2_softmax.sv", "39'h20_0000", "39'h1F_FFFF"),
    (
        *("softmax", "ga2_exp_table.sv", "Table[{d, 4'd0}+:16]"),
        "d == 8'd1 ? 16'hF07D : Table[{d, 4'd0}+:16]",
    ),
    ("matmul", "ga2_mac_row.sv", "$signed(b_q[31:24])", "$signed({1'b0, b_q[30:24]})"),
    ("matmul", "ga2_matmul.sv", "first ? 6'd0 : wave_q[5:0]", "wave_q[5:0]"),
    (
        *("matmul", "ga2_matmul.sv", "in_load_b && !tb ? ldb : 12'd1"),
        "in_load_b && !tb && m[0] ? ldb : 12'd1",
    ),
    ("dma", "ga2_load.sv", "resp_valid && resp_left_q != req_left_q", "resp_valid"),
    ("dma", "ga2_store.sv", "wr_addr_q + 16'd1", "{wr_addr_q[15:8], wr_addr_q[7:0] + 8'd1}"),
    (
        *("scratchpad", "ga2_scratchpad.sv", "mem[waddr] <= wdata;"),
        "mem[{waddr[11:1], |waddr[11:9] || waddr[0]}] <= wdata;",
    ),
    (
        *("scratchpad", "ga2_scratchpad.sv", "if (ren) rdata_q <= mem[raddr];"),
        "rdata_q <= mem[raddr];",
    ),
    ("vector", "ga2_vadd.sv", "sum_q < -9'sd127", "sum_q < -9'sd128"),
    ("vector", "ga2_amax.sv", "$signed(rdata) > best_q", "$signed(rdata) >= best_q"),
    ("vector", "ga2_unpack.sv", "{4'd0, word_q[31:4]}", "{4'd0, word_q[30:4]}"),
    (
        *("fault_checker", "ga2_fault_checker.sv", "end_a > 20'(ga2_pkg::SpadWords)"),
        "end_a >= 20'(ga2_pkg::SpadWords)",
    ),
    ("fault_checker", "ga2_fault_checker.sv", "g > 8'd64", "g > 8'd65"),
    ("fault_checker", "ga2_fault_checker.sv", "a != b || expands", "a != b"),
]


@pytest.fixture(scope="module", params=SIMULATORS)
def runs(request: pytest.FixtureRequest) -> dict[str, UnitRun]:
    """What came of all units' tests in one simulator."""
    return run_units(request.param, unit_names())


@pytest.mark.parametrize("unit", unit_names())
def test_unit(unit: str, runs: dict[str, UnitRun]) -> None:
    run = runs[unit]
    assert not run.error, run.error
    assert not run.failures, run.failures
    assert len(run.tests) >= 3


def test_every_unit_has_planted_faults() -> None:
    assert {unit for unit, *_ in FAULTS} == set(unit_names())


def mutant(unit: str, file: str, sound: str, wrong: str, texts: Mapping[str, str]) -> Mutant:
    """A whole expression or, with a semicolon, a statement of the design becomes another one."""
    patch(texts[file], sound, wrong, file)  # raises when it is not there exactly once
    start = texts[file].index(sound)
    form = Form.STMT if sound.endswith(";") else Form.EXPR
    return Mutant(unit, file, 0, wrong, (Edit(file, start, start + len(sound), wrong, form),))


@pytest.fixture(scope="module")
def findings() -> dict[str, Finding]:
    """What a mutation campaign's unit tests say of each fault, all in one build of the bench.

    The design itself is judged before them, which fails the campaign when it does not pass.
    """
    design = own_design()
    texts = read_sources(design)
    mutants = {number: mutant(*fault, texts) for number, fault in enumerate(FAULTS, 1)}
    keys = {number: one.description for number, one in mutants.items()}
    plan = Plan(design, texts, mutants, keys, [], make_basis(design, texts, []), [])
    with kept_place("unit") as place:
        store = Store(place / "state.jsonl", plan.basis.of)
        progress = StageProgress(Console(quiet=True), quiet=True)
        Campaign(plan, store, place, 1, progress)._unit_tests()
    return dict(store.findings)


@pytest.mark.parametrize(("unit", "file", "sound", "wrong"), FAULTS)
def test_finds_planted_fault(
    unit: str, file: str, sound: str, wrong: str, findings: dict[str, Finding]
) -> None:
    found = findings[wrong]
    assert found.status == KILLED, f"no test of {unit} noticed {wrong!r} in {file}"
    assert found.checks == (UNIT_TEST,), found
    assert found.test.startswith(f"unit/{unit}::"), found


def test_no_results_is_a_failure(tmp_path: Path) -> None:
    run = UnitRun()
    take_results({"dma": run}, tmp_path / "results.xml")
    assert not run.passed


def test_zero_tests_is_a_failure(tmp_path: Path) -> None:
    results = tmp_path / "results.xml"
    results.write_text("<testsuites><testsuite name='all'/></testsuites>")
    run = UnitRun()
    take_results({"dma": run}, results)
    assert not run.passed


def test_missing_module_is_a_failure() -> None:
    run = run_unit("icarus", "no_such_unit")
    assert run.error
    assert not run.passed
