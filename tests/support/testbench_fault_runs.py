"""Loaded by cocotb: both sets of programs with each faulty testbench, all in one simulation."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import cocotb
import faulty_drivers
import faulty_judges
import faulty_monitors
from cocotb.triggers import Timer
from cocotb.utils import get_sim_time
from pyuvm import uvm_factory, uvm_root
from testbench_conformance import SETS, items_of
from testbench_faults import FAULTS, SOUND

from verif.items.job import RESULTS_FILE, Job, job_folder
from verif.tests.base_test import BaseTest

PERIOD = 2
LIMIT = 60_000  # ns


def component(name: str) -> Any:
    """The faulty class of that name; ``without compare_...`` makes one."""
    if name.startswith("without "):
        return faulty_judges.without(name.removeprefix("without "))
    modules = (faulty_drivers, faulty_monitors, faulty_judges)
    return next(vars(module)[name] for module in modules if name in vars(module))


def plant(faulty: Any) -> None:
    """Make the factory create ``faulty`` where its base in ``verif`` is asked for."""
    base = next(c for c in faulty.__mro__ if c.__module__.startswith("verif."))
    uvm_factory().set_type_override_by_type(base, faulty)


async def settle(top: Any) -> None:
    """Bring the testbench top from wherever the last test left it to where a test starts."""
    top.clk_enable.value = 1
    top.rst.value = 1
    top.start.value = 0
    await Timer(PERIOD - int(get_sim_time("ns")) % PERIOD, unit="ns")  # midway between edges
    await Timer(100 * PERIOD, unit="ns")  # until no answer is in flight
    top.u_checker.errors.value = top.u_checker.error_mask.value = 0
    await Timer(PERIOD, unit="ns")
    top.rst.value = 0


def run(fault: str, which: str) -> Callable[[Any], Awaitable[None]]:
    faulty = component(fault) if fault != SOUND else None
    base = faulty if faulty and issubclass(faulty, BaseTest) else BaseTest

    def build_phase(self: Any) -> None:
        if faulty and faulty is not base:
            plant(faulty)
        base.build_phase(self)

    def job(folder: Path) -> Job:
        return Job(items=items_of(which), params={"coverage": False})

    async def test(top: Any) -> None:
        with open(job_folder() / RESULTS_FILE, "a", encoding="utf-8") as file:
            file.write(json.dumps({"type": "test", "name": f"{fault}/{which}"}) + "\n")
        await settle(top)
        # BaseTest reads the job's file; here each test has a job of its own.
        with patch("verif.tests.base_test.load_job", job):
            await uvm_root().run_test(type("Run", (base,), {"build_phase": build_phase}))

    return test


for _fault in (SOUND, *FAULTS):
    for _set in SETS:
        _test = cocotb.test(name=f"{_fault}/{_set}", timeout_time=LIMIT, timeout_unit="ns")
        globals()[f"{_fault} {_set}"] = _test(run(_fault, _set))
