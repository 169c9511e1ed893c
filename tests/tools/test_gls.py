"""Netlists: their programs, their sizes, and one slice of gate-level simulation."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence

import numpy as np
import pytest
from planting import kept_place

from model.chip.isa import amax, encode, halt, ld, rq, st, vadd
from model.chip.machine import Machine
from sim.engine.builds import build
from sim.engine.simulator import simulate
from sim.engine.yosys import YosysError
from sim.gates import __main__ as gates_front_end
from sim.gates.__main__ import OPTIONS, chosen
from sim.gates.items import decode_items, load_program, random_programs, through_loads
from sim.gates.netlist import (
    Netlist,
    _instances,
    block_rams,
    flip_flops,
    logic,
    synthesize,
)
from sim.shared.paths import RTL
from verif.items.job import Job
from verif.items.program_item import ProgramItem
from verif.stimulus.random_program import random_items


def memories(items: Sequence[ProgramItem]) -> list[np.ndarray]:
    """External memory after each program, on the model."""
    machine, results = Machine(), []
    for item in items:
        machine.depth = item.depth
        if item.spad is not None:
            machine.spad[:] = item.spad
        results.append(machine.run(item.program, item.image, item.read_latency).ext)
    return results


def test_loading_by_program_changes_no_result():
    plain = list(random_items(3, "typical", 20))
    loads = through_loads(plain)
    assert all(item.spad is None and item.abort_at is None for item in loads)
    kept = [
        memory
        for item, memory in zip(loads, memories(loads), strict=True)
        if not item.name.startswith("load")
    ]
    for expected, got in zip(memories(plain), kept, strict=True):
        np.testing.assert_array_equal(expected, got)


def test_the_load_program_fills_every_word():
    image = np.arange(4096, dtype=np.uint32) * 7 + 1
    machine = Machine(4096)
    item = load_program(image)
    result = machine.run(item.program, item.image, item.latency)
    assert result.counters.n_inst == 2
    np.testing.assert_array_equal(machine.spad, image)


def test_load_once_loads_once():
    loads = [item for item in random_programs(1, 12, load_once=True) if "load" in item.name]
    assert len(loads) == 1


def test_random_programs_are_as_many_as_asked_for():
    items = random_programs(1, 10)
    assert sum("load" not in item.name for item in items) == 10


def test_decode_starts_on_an_unwritten_scratchpad():
    items = decode_items(4)
    assert len(items) == 4
    assert all(item.spad is None for item in items)


def test_cells_are_told_apart():
    cells = {"SB_LUT4": 5, "SB_CARRY": 2, "SB_DFFESR": 3, "SB_DFF": 1, "SB_RAM40_4K": 4}
    assert (logic(cells), flip_flops(cells), block_rams(cells)) == (7, 4, 4)
    cells = {"$_AND_": 5, "$_DFFE_PP_": 2, "$_SDFFCE_PP0P_": 3, "ga2_scratchpad": 1}
    assert (logic(cells), flip_flops(cells), block_rams(cells)) == (5, 5, 1)


def test_instances_multiply_along_the_hierarchy():
    modules = {"ga2": {"unit": 2}, "unit": {"row": 4, "x": 1}, "row": {}}
    assert [_instances(name, modules) for name in modules] == [1, 2, 8]


def test_an_unknown_target_is_an_error():
    with pytest.raises(ValueError, match="generic ice40"):
        chosen("TARGETS", "asic", ("generic", "ice40"))


@pytest.fixture(scope="module")
def generic() -> Netlist:
    return synthesize("generic")


@pytest.fixture(scope="module")
def item() -> ProgramItem:
    """A short program that uses four units."""
    program = [
        ld(16, 0, 8),
        vadd(32, 16, 20, 4),
        rq(40, 32, 4, 1 << 22, 23),
        amax(44, 40, 4),
        st(32, 8, 4),
        st(40, 12, 5),
        halt(),
    ]
    image = np.array([5, 0xFFFFFF80, 77, 3, 9, 0xFFFFFF90, 100, 0xFFFFFFF0], dtype=np.uint32)
    return ProgramItem("short", [encode(each) for each in program], image, depth=32)


def gates(netlist: Netlist, item: ProgramItem):
    built = build("icarus", rtl=netlist.design, defines=netlist.defines, options=OPTIONS["icarus"])
    return simulate("icarus", Job("items", {}, [item]), built=built)


def test_generic_gates_run_a_program(generic, item):
    result = gates(generic, item)
    assert result.passed, result.log.read_text()
    assert result.summary["comparisons"] > 0


def test_wrong_gates_are_found(generic, item):
    text = (generic.folder / "netlist.v").read_text()
    assert "\\$_XOR_ " in text
    with kept_place("gates") as place:
        (place / "netlist.v").write_text(text.replace("\\$_XOR_ ", "\\$_XNOR_ "))
        wrong = Netlist("generic", place, generic.cells, generic.units, generic.macros)
        assert not gates(wrong, item).passed


def test_the_design_that_is_given_is_the_one_that_is_synthesized(tmp_path, monkeypatch):
    shutil.copytree(RTL, tmp_path / "rtl")
    asked = []

    def refuse(target, design):
        asked.append((target, design.path))
        raise YosysError("enough")

    monkeypatch.setattr(gates_front_end, "synthesize", refuse)
    arguments = ["gls", "--targets", "generic", "--rtl", str(tmp_path / "rtl")]
    monkeypatch.setattr(sys, "argv", arguments)
    assert gates_front_end.main() == 1
    assert asked == [("generic", tmp_path / "rtl")]
