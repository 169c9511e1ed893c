"""The check of the test plan finds what is missing, unlisted, misspelt, failed or not run."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from plan_samples import changed

from sim.engine.design import own_design
from sim.plan import __main__ as testplan
from sim.plan.__main__ import existing_tests, problems, status
from sim.shared import junit
from sim.shared.test_log import last_runs, record, record_programs, record_units
from verif.items.result import ProgramResult
from verif.plan import PLAN_FILE, load_plan
from verif.stimulus.directed import REGISTRY
from verif.typed import RecordError


@cache
def existing() -> list[str]:
    return existing_tests()


def found(path: Path) -> list[str]:
    return problems(load_plan(path), existing())


def test_the_plan_has_no_problem() -> None:
    assert found(PLAN_FILE) == []


def test_every_directed_program_and_profile_is_known() -> None:
    assert {f"directed/{name}" for name in REGISTRY} <= set(existing())
    assert "random/typical" in existing()
    assert "pytest/test_testplan.py::test_the_plan_has_no_problem" in existing()


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("directed/mm_largest_tile, ", "", "directed/mm_largest_tile is not listed"),
        ("directed/mm_largest_tile", "directed/mm_bigest", "there is no test directed/mm_bigest"),
        ("[unpack_nibble]", "[unpack_nibbles]", "there is no coverage point unpack_nibbles"),
        ("[unpack_nibble]", "[]", "feature unpack.nibbles has no coverage point"),
        ("[unpack_nibble]", "[length]", "no feature uses coverage point unpack_nibble"),
        ("tests: [directed/rq_relu", "tests: [] #", "feature rq.relu has no test"),
        ("  test_image.py: ", "  test_pictures.py: ", "pytest/test_image.py is not listed"),
        ("  test_image.py: ", "  test_pictures.py: ", "there is no test file test_pictures.py"),
    ],
)
def test_a_hole_in_the_plan_is_found(tmp_path: Path, old: str, new: str, problem: str) -> None:
    assert any(problem in line for line in found(changed(tmp_path, old, new)))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("  st.effect:", "  ld.effect:", "given twice"),
        ("    coverage: [unpack_nibble]", "    covers: [unpack_nibble]", "unknown key .covers."),
        ("1/within_latency:", "1/within:", "exception '1/within' is no bin"),
        ("    bins: [loaded, kept]", "    bins: []", "external_memory: no bins"),
    ],
)
def test_a_plan_of_another_form_is_refused(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    with pytest.raises(RecordError, match=message):
        load_plan(changed(tmp_path, old, new))


def test_bins_are_expanded() -> None:
    points = load_plan().points
    assert len(points["unpack_nibble"].bins) == 128
    assert points["mm_inner"].bins == ("1", "2", "3", "4", "5-31", "32-62", "63", "64")
    assert "1/within_latency" not in points["latency"].bins
    assert "1/within_latency" in points["latency"].excluded


def test_unit_tests_are_found_by_their_decorators(tmp_path: Path) -> None:
    (tmp_path / "test_adder.py").write_text(
        "import cocotb\n@cocotb.test()\nasync def adds(dut): ...\n"
        "@cocotb.test(timeout_time=1)\n@cocotb.parametrize(n=[1])\nasync def subtracts(dut): ...\n"
        "def helper(): ...\n"
    )
    names = existing_tests(units=tmp_path)
    assert [name for name in names if name.startswith("unit/")] == [
        "unit/test_adder::adds",
        "unit/test_adder::subtracts",
    ]


def result(provenance: str, passed: bool) -> ProgramResult:
    return ProgramResult("p", provenance=provenance, passed=passed)


def test_outcomes_are_grouped_by_test(tmp_path: Path) -> None:
    programs = [
        result("directed fault_opcode/op9", True),
        result("directed fault_opcode/op10", False),
        result("random profile=raw seed=1 index=0", True),
        result("decode window=8 step=5", True),
    ]
    record_programs("icarus", programs, tmp_path)
    runs = last_runs(tmp_path)
    assert set(runs) == {"directed/fault_opcode", "random/raw"}
    assert not runs["directed/fault_opcode"]["icarus"].passed
    assert runs["directed/fault_opcode"]["icarus"].programs == 2
    assert runs["random/raw"]["icarus"].passed


def test_the_last_outcome_counts(tmp_path: Path) -> None:
    for passed in (True, False, True):
        record("verilator", {"directed/halt_only": (passed, 3)}, tmp_path)
    record("icarus", {"directed/halt_only": (False, 3)}, tmp_path)
    runs = last_runs(tmp_path)
    assert runs["directed/halt_only"]["verilator"].passed
    assert status(["directed/halt_only"], runs, []).failed == ["directed/halt_only"]


def test_what_ran_before_an_edit_or_on_another_design_does_not_count(tmp_path: Path) -> None:
    record("icarus", {"directed/halt_only": (True, 1)}, tmp_path, "now")
    record("icarus", {"directed/halt_only": (False, 1), "random/raw": (True, 1)}, tmp_path, "then")
    record("icarus", {"random/long": (True, 1)}, tmp_path)
    runs = last_runs(tmp_path, "now")
    assert set(runs) == {"directed/halt_only"}
    assert runs["directed/halt_only"]["icarus"].passed


def test_status_asks_for_every_simulator_wanted(tmp_path: Path) -> None:
    record("verilator", {"directed/halt_only": (True, 3), "random/raw": (False, 9)}, tmp_path)
    runs = last_runs(tmp_path)
    tests = ["directed/halt_only", "random/raw", "random/long"]
    some = status(tests, runs, [])
    assert (some.passed, some.failed, some.not_run) == (tests[:1], tests[1:2], tests[2:])
    both = status(tests, runs, ["icarus", "verilator"])
    assert both.not_run == ["directed/halt_only", "random/long"]


def test_outcomes_of_pytest_and_of_unit_benches_are_read(tmp_path: Path) -> None:
    (tmp_path / "pytest-quick.xml").write_text(
        '<testsuites><testsuite><testcase classname="tests.test_isa" name="test_a[1]"/>'
        '<testcase classname="tests.test_isa" name="test_a[2]"><failure/></testcase>'
        '<testcase classname="tests.test_isa" name="test_b"><skipped/></testcase>'
        "</testsuite></testsuites>"
    )
    units = tmp_path / "units.xml"
    units.write_text(
        '<testsuites><testsuite><testcase classname="verif.units.test_mac" name="adds/n=1"/>'
        '<testcase classname="verif.units.test_mac" name="adds/n=2"/></testsuite></testsuites>'
    )
    record_units("verilator", junit.read(units), tmp_path)
    runs = last_runs(tmp_path)
    assert set(runs) == {"pytest/test_isa.py::test_a", "unit/test_mac::adds"}
    assert not runs["pytest/test_isa.py::test_a"]["python"].passed
    assert runs["unit/test_mac::adds"]["verilator"].programs == 2


@pytest.mark.parametrize(
    ("outcomes", "arguments", "code", "text"),
    [
        ({}, [], 0, "did not run"),
        ({}, ["--all-ran"], 1, "did not run  directed/halt_only"),
        ({"directed/halt_only": (False, 3)}, [], 1, "failed  directed/halt_only"),
        ({"directed/halt_only": (True, 3)}, [], 0, "1 tests passed"),
    ],
)
def test_the_command_prints_the_status(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    outcomes: dict[str, tuple[bool, int]],
    arguments: list[str],
    code: int,
    text: str,
) -> None:
    record("verilator", outcomes, tmp_path, own_design().hash)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr("sys.argv", ["testplan", "--results", str(tmp_path), *arguments])
    assert testplan.main() == code
    shown = capsys.readouterr().out
    assert text in shown
    assert "mm.address_wrap" in shown


def test_a_broken_plan_fails_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = changed(tmp_path, "[unpack_nibble]", "[]")
    monkeypatch.setattr("sys.argv", ["testplan", "--plan", str(plan), "--results", str(tmp_path)])
    assert testplan.main() == 1
    assert "has no coverage point" in capsys.readouterr().out
