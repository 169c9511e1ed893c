"""The table of operations: what is generated from it, and what an operation is said to lack."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from model.chip.operation_table import EXECUTED, OPERATIONS, Op
from sim.operations.generate import BEGIN, PARTS, GenerateError, generated
from sim.operations.missing import PARTS as NEEDED
from sim.operations.missing import missing, problems
from sim.shared.paths import ROOT


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "hw" / "rtl", tmp_path / "hw" / "rtl")
    bench = tmp_path / "verif" / "units" / "hdl"
    bench.mkdir(parents=True)
    shutil.copy(ROOT / "verif" / "units" / "hdl" / "unit_bench.sv", bench)
    return tmp_path


def test_nothing_is_missing_and_what_is_generated_is_current() -> None:
    assert problems() == []


@pytest.mark.parametrize("name", PARTS)
def test_a_generated_part_that_was_edited_is_named(copy: Path, name: str) -> None:
    path = copy / name
    sound = path.read_text()
    path.write_text(sound.replace(BEGIN + "\n", BEGIN + "\n  // edited\n", 1))
    assert f"{name}: does not follow the table of operations: run make operations" in problems(copy)
    assert generated(copy)[path] == sound


def test_a_part_without_its_marks_is_named(copy: Path) -> None:
    path = copy / "hw/rtl/ga2.sv"
    path.write_text(path.read_text().replace(BEGIN, "  // mine"))
    with pytest.raises(GenerateError, match=r"hw/rtl/ga2.sv: 0 marks"):
        generated(copy)
    assert problems(copy)[-1].startswith("hw/rtl/ga2.sv: 0 marks")


def test_a_port_that_no_operand_fits_is_named(copy: Path) -> None:
    path = copy / "hw/rtl/ga2_vadd.sv"
    path.write_text(path.read_text().replace("[11:0] src2", "[11:0] other"))
    with pytest.raises(GenerateError, match=r"ga2_vadd.sv: port other is no operand of VADD"):
        generated(copy)


def test_everything_a_new_operation_lacks_is_said_in_one_line_each() -> None:
    class NewOp(int):
        name = "VMUL"

    row = replace(OPERATIONS[Op.VADD], op=NewOp(15), module="ga2_vmul", busy="2*len + 4")
    lines = list(missing(row))
    assert len(lines) == len(NEEDED) - 1 == 12  # a vector operation has its unit test
    assert all(line.startswith("VMUL: no") and "\n" not in line for line in lines)
    assert "VMUL: no directed program vmul_* in verif/stimulus/directed/" in lines


def test_another_time_than_documented_is_missing_a_row() -> None:
    row = replace(OPERATIONS[Op.VADD], busy="2*len + 3")
    (line,) = missing(row)
    assert "docs/isa.md" in line


@pytest.mark.parametrize("row", EXECUTED, ids=lambda row: row.name)
def test_operands_lie_apart_and_formulas_name_operands(row: object) -> None:
    assert row in EXECUTED
    bits = [o.shift + i for o in row.operands for i in range(o.width)]  # type: ignore[attr-defined]
    assert len(bits) == len(set(bits))
    ones = {operand.name: 1 for operand in row.operands}  # type: ignore[attr-defined]
    assert row.busy_cycles(LAT=1, **ones) > 0  # type: ignore[attr-defined]
