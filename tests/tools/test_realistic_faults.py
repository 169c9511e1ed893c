"""Realistic faults: their lists fit the design, and a sample of each kind is found and named."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from planting import kept_place
from rich.console import Console

from sim.engine.design import own_design
from sim.mutate.realistic.__main__ import found, misnamed, record, report, select
from sim.mutate.realistic.detect import play_faults
from sim.mutate.realistic.faults import Fault, load_faults, plant
from sim.shared.errors import UsageError
from sim.shared.patch import Patch, PatchError
from sim.shared.results import ResultFiles

# Each of another kind; none needs luck.
SAMPLE = "ld-even-sign sm-sum-narrow spad-write-not-yet-seen shape-behind-address"
ASLEEP = (0, Fault("none", "", "", "", (Patch("ga2.sv", "", ""),)))


@pytest.fixture(scope="module")
def planted() -> Iterator[Path]:
    """The design with all faults in it."""
    with kept_place("faults") as place:
        yield plant(own_design(), load_faults(), place / "rtl")


def test_there_are_many_and_each_has_its_place(planted: Path) -> None:
    text = "".join(path.read_text() for path in planted.glob("*.sv"))
    count = len(load_faults())
    assert count >= 60
    assert all(f"awake == {number} ?" in text for number in range(1, count + 1))


def test_a_sample_is_found_and_rightly_named(planted: Path, tmp_path: Path) -> None:
    chosen = select(SAMPLE)
    console = Console(quiet=True)
    played = play_faults(console, planted, [*chosen, ASLEEP], seed=1, count=120, workers=2)
    *rows, asleep = (record(*one) for one in played)
    assert not found(asleep)
    assert [row["name"] for row in rows if not found(row)] == []
    assert [row["name"] for row in rows if misnamed(row)] == []
    with ResultFiles("faults", tmp_path) as files:
        assert report(console, files, rows) == 0
    assert json.loads((tmp_path / "faults.json").read_text())["faults"] == len(chosen)
    with ResultFiles("faults", tmp_path) as files:
        assert report(console, files, [asleep]) == 1


def test_a_patch_without_a_place_names_the_fault(tmp_path: Path) -> None:
    fault = Fault("gone", "", "carry", "", (Patch("ga2.sv", "no such text", "x"),))
    with pytest.raises(PatchError, match="fault gone: 'no such text' occurs 0 times"):
        plant(own_design(), [fault], tmp_path / "rtl")


def test_a_name_that_fits_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="NAME=ld-nothing"):
        select("ld-nothing")


def test_what_has_to_be_named_are_operations() -> None:
    known = {"", "LD", "ST", "MM", "RQ", "SM", "VADD", "AMAX", "UNPACK"}
    assert {fault.operation for fault in load_faults()} <= known
