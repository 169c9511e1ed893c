"""The project's main program for Verilator says of every program what cocotb's says."""

from __future__ import annotations

from pathlib import Path

import pytest
from planting import kept
from sabotage import plant
from testbench_conformance import items_of

from sim.engine.builds import Build, build
from sim.engine.simulator import simulate
from sim.shared.paths import RTL
from verif.items.job import RESULTS_FILE, Job

RECORDED = {"keep_retires": True}


def said(built: Build, job: Job) -> list[str]:
    """Everything said of the programs: verdicts, counters, fault, digests, retire records."""
    done = simulate("verilator", job, built=built)
    lines = (done.folder / RESULTS_FILE).read_text().splitlines()
    assert done.summary["cycles"] > 0
    return [line for line in lines if '"summary"' not in line]


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> tuple[Build, Build]:
    """A design with planted faults, one of them chosen by the program, under both main programs."""
    rtl = kept(plant(RTL, tmp_path_factory.mktemp("main") / "rtl"))
    ours, cocotbs = build("verilator", rtl=rtl), build("verilator", rtl=rtl, cocotb_main=True)
    assert ours.folder != cocotbs.folder
    return ours, cocotbs


@pytest.mark.parametrize("profile", ["typical", "corner", "faults"])
def test_random_programs(builds: tuple[Build, Build], profile: str) -> None:
    """They bring resets, pulses and late answers: Python waits for times, edges and words."""
    job = Job("random", {"seed": 7, "profile": profile, "count": 60, "first": 0, **RECORDED})
    ours, cocotbs = (said(built, job) for built in builds)
    assert len(ours) == 60
    assert ours == cocotbs


@pytest.mark.parametrize("which", ["sound", "broken"])
def test_all_that_can_be_complained_of(builds: tuple[Build, Build], which: str) -> None:
    job = Job("items", dict(RECORDED), items_of(which))
    ours, cocotbs = (said(built, job) for built in builds)
    assert ours == cocotbs
    assert any('"passed": false' in line for line in ours) == (which == "broken")


def test_waves_take_cocotbs(tmp_path: Path) -> None:
    """The clock that this program drives has no width: waves would not show it."""
    job = Job("items", {}, items_of("sound")[:1])
    waves = build("verilator", waves=True)
    done = simulate("verilator", job, built=waves, waves=tmp_path / "waves")
    assert done.passed
    assert done.waves
    assert done.waves.stat().st_size > 1000
    assert "main.cpp" not in (waves.folder / "build.log").read_text()
