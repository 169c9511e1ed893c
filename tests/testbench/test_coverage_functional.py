"""Functional coverage: the database of the plan's bins, its merging, and a slice in simulation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from plan_samples import changed
from pyuvm import uvm_root
from rich.console import Console

from model.chip.assembler import assemble
from sim.coverage import functional
from sim.coverage.collect import data_files, simulation
from sim.coverage.dat import read_all
from sim.coverage.functional import FunctionalDataError, merge, read_export
from sim.coverage.workloads import Workload, workloads
from sim.engine.job_result import JobResult
from sim.engine.play import play
from sim.engine.simulator import simulate
from verif.bins.program import BinRunner, Deeds, mark_all
from verif.bins.sheet import Hit
from verif.env.bin_database import EXCLUDED, PLANNED, BinDatabase
from verif.env.coverage import Coverage, UnplannedBinError
from verif.env.predictor import predict
from verif.items.job import COVERAGE_FILE, Job
from verif.items.program_item import ProgramItem
from verif.plan import PLAN_FILE, Plan, load_plan
from verif.stimulus.directed import REGISTRY
from verif.stimulus.profiles import PROFILES
from verif.stimulus.random_program import random_items

EXCEPTION = ("latency", "1/within_latency")


@pytest.fixture(scope="module")
def plan() -> Plan:
    return load_plan()


def export(plan: Plan, counts: dict[Hit, int], path: Path) -> Path:
    assert BinDatabase(plan).add(counts) == []
    BinDatabase.export(BinDatabase.__new__(BinDatabase), path)
    return path


def model_hits(items: list[ProgramItem]) -> list[set[Hit]]:
    runner = BinRunner()
    return [runner.run(item)[1] for item in items]


def test_the_database_has_every_bin_of_the_plan(plan: Plan, tmp_path: Path) -> None:
    groups = read_export(export(plan, {}, tmp_path / "none.xml"))
    assert {name: tuple(bins) for name, bins in groups[PLANNED].items()} == {
        name: point.bins for name, point in plan.points.items()
    }
    assert groups[EXCLUDED] == {EXCEPTION[0]: {EXCEPTION[1]: 0}}


def test_counts_come_back_and_runs_add_up(plan: Plan, tmp_path: Path) -> None:
    first = {("operation", "LD"): 3, ("rq_shift", "0"): 1}
    second = {("operation", "LD"): 4, ("operation", "ST"): 1}
    paths = [
        export(plan, counts, tmp_path / f"{n}.xml") for n, counts in enumerate((first, second))
    ]
    merge(paths, tmp_path / "merged.xml")
    coverage = functional.measure(tmp_path / "merged.xml", plan)
    operation = coverage.points["operation"]
    assert (operation.hits["LD"], operation.hits["ST"], operation.hits["MM"]) == (7, 1, 0)
    assert operation.holes == ["HALT", "MM", "RQ", "SM", "VADD", "AMAX", "UNPACK"]
    assert coverage.points["rq_shift"].holes == [str(shift) for shift in range(1, 64)]
    assert coverage.hit == 3


def test_a_hit_of_an_exception_refutes_it(plan: Plan, tmp_path: Path) -> None:
    coverage = functional.measure(export(plan, {EXCEPTION: 2}, tmp_path / "a.xml"), plan)
    assert coverage.problems == [
        "exception no longer needed: latency 1/within_latency was hit by 2 programs"
    ]
    assert coverage.hit == 0


def test_counts_add_up_in_the_database(plan: Plan, tmp_path: Path) -> None:
    database = BinDatabase(plan)
    for _ in range(2):
        database.add({("operation", "LD"): 3})
    database.export(tmp_path / "a.xml")
    assert read_export(tmp_path / "a.xml")[PLANNED]["operation"]["LD"] == 6


def test_a_bin_outside_the_plan_is_told(plan: Plan) -> None:
    unknown = [("length", "LD/endless"), ("nothing", "at_all")]
    assert BinDatabase(plan).add(dict.fromkeys(unknown, 1)) == unknown


def test_data_of_another_plan_is_refused(tmp_path: Path) -> None:
    other = load_plan(changed(tmp_path, "bins: [loaded, kept]", "bins: [loaded, stale]"))
    path = export(other, {}, tmp_path / "other.xml")
    with pytest.raises(FunctionalDataError, match="bins of external_memory are not those"):
        functional.measure(path, load_plan(PLAN_FILE))


def test_half_a_file_is_refused(plan: Plan, tmp_path: Path) -> None:
    path = export(plan, {}, tmp_path / "half.xml")
    path.write_text(path.read_text()[:99])
    with pytest.raises(FunctionalDataError, match=r"half\.xml: no coverage data"):
        functional.measure(path, plan)


def test_nothing_to_merge_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FunctionalDataError, match="no program passed"):
        merge([], tmp_path / "merged.xml")


def verdict(passed: bool, *hits: Hit) -> SimpleNamespace:
    return SimpleNamespace(
        result=SimpleNamespace(passed=passed),
        prediction=SimpleNamespace(deeds=Deeds(hits=set(hits))),
    )


@pytest.fixture
def component(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Coverage]:
    monkeypatch.setenv("GA2_JOB", str(tmp_path))
    made = Coverage("coverage", None)
    made.build_phase()
    yield made
    uvm_root().clear_children()


def test_only_programs_that_passed_cover(component: Coverage, tmp_path: Path, plan: Plan) -> None:
    component.write(verdict(True, ("operation", "LD"), ("operation", "HALT")))
    component.write(verdict(False, ("operation", "ST"), ("operation", "HALT")))
    component.extract_phase()
    component.check_phase()
    hits = functional.measure(tmp_path / COVERAGE_FILE, plan).points["operation"].hits
    assert (hits["LD"], hits["HALT"], hits["ST"]) == (1, 1, 0)


def test_an_unplanned_bin_fails_the_test(component: Coverage) -> None:
    component.write(verdict(True, ("length", "LD/endless")))
    component.extract_phase()
    with pytest.raises(UnplannedBinError, match="length: LD/endless"):
        component.check_phase()


def test_no_program_makes_no_file(component: Coverage, tmp_path: Path) -> None:
    component.write(verdict(False, ("operation", "LD")))
    component.extract_phase()
    assert not (tmp_path / COVERAGE_FILE).exists()


def test_prediction_finds_the_same_bins() -> None:
    # Of a program that is started again the model's runner plays the first run alone.
    items = [i for i in random_items(6, "corner", 40) if i.restart_after is None]
    found = []
    spad = BinRunner().spad
    previous = None
    for item in items:
        prediction = predict(item, spad, coverage=True, previous=previous)
        spad, previous = prediction.spad_after, prediction.expected
        found.append(set(prediction.hits))
    assert found == model_hits(items)
    assert predict(items[0], spad).hits == frozenset()


def test_programs_that_are_looked_at_together_hit_what_each_of_them_hits() -> None:
    spad, previous, deeds = BinRunner().spad, None, []
    empty = [ProgramItem("empty", []), ProgramItem("again", [], restart_after=1)]
    for series in (empty, *(random_items(7, profile, 12) for profile in PROFILES)):
        for item in series:
            prediction = predict(item, spad, coverage=True, previous=previous)
            spad, previous = prediction.spad_after, prediction.expected
            assert prediction.deeds
            deeds.append(prediction.deeds)
    alone = [mark_all([each]).hits()[0] for each in deeds]
    together = mark_all(deeds)
    assert together.hits() == alone
    assert together.counts() == Counter(hit for hits in alone for hit in hits)


def test_the_end_of_a_program_that_is_started_again_is_that_of_its_last_run() -> None:
    program = assemble("LD dst=0 src=0 len=4\nHALT\nAMAX dst=0 src=0 len=4")
    hits = predict(
        ProgramItem("again", program, restart_after=1), BinRunner().spad, coverage=True
    ).hits
    assert {bin_ for point, bin_ in hits if point == "operation"} == {"LD", "HALT"}
    assert {("operation_pair", "LD/HALT"), ("program_end", "halt")} <= set(hits)


def test_workloads_are_what_they_say() -> None:
    made = {workload.name: workload for workload in workloads("icarus", 3, 7)}
    assert set(made) == {"directed", "decode", "serve", *(f"random-{name}" for name in PROFILES)}
    assert made["decode"].programs == 96
    served = model_hits(made["serve"].job.items)
    uses = {bin_ for hits in served for point, bin_ in hits if point == "inherited_memory"}
    assert uses == {"read", "written_over", "appended", "copied"}
    assert made["random-raw"].job.params["rerun"].startswith("make random SIM=icarus SEED=")
    quick = workloads("icarus", 0, 7, slow=False, decode=False)
    assert [workload.name for workload in quick] == ["directed"]
    assert quick[0].programs < made["directed"].programs


def slice_items() -> list[ProgramItem]:
    names = ("unpack_lengths", "halt_only", "restart_after_fault", "reset_in_unpack")
    return [item for name in names for item in REGISTRY[name].items()]


def test_a_simulation_exports_what_its_programs_hit(plan: Plan, tmp_path: Path) -> None:
    items = slice_items()
    run = simulate("icarus", Job("items", {}, items), folder=tmp_path)
    assert run.passed
    seen = functional.measure(tmp_path / COVERAGE_FILE, plan)
    expected = set().union(*model_hits(items))
    hit = {(name, b) for name, point in seen.points.items() for b, n in point.hits.items() if n}
    assert hit == expected


def test_coverage_can_be_switched_off(tmp_path: Path) -> None:
    job = Job("items", {"coverage": False}, slice_items()[:1])
    assert simulate("icarus", job, folder=tmp_path).passed
    assert not (tmp_path / COVERAGE_FILE).exists()


@pytest.fixture(scope="module")
def code_slice(tmp_path_factory: pytest.TempPathFactory) -> JobResult:
    """A few programs on the build with code coverage."""
    items = slice_items()
    workload = Workload("slice", Job("items", {}, items), len(items))
    one = simulation("verilator", workload, tmp_path_factory.mktemp("coverage"))
    return play(Console(quiet=True), [one]).runs[0]


def test_verilator_counts_what_ran_and_what_did_not(code_slice: JobResult) -> None:
    assert code_slice.error == ""
    assert not code_slice.failed
    functional_files, code_files = data_files([code_slice.folder])
    assert (len(functional_files), len(code_files)) == (1, 1)
    counts = read_all(code_files)
    files = {item.file for item in counts}
    assert "ga2_unpack.sv" in files
    # Only the design is counted, not the testbench.
    assert all(name.startswith("ga2") and name != "ga2_tb.sv" for name in files)

    def share(file: str, kind: str) -> float:
        of_kind = [n for item, n in counts.items() if (item.file, item.kind) == (file, kind)]
        return sum(count > 0 for count in of_kind) / len(of_kind)

    for kind in ("line", "branch", "expression"):
        assert share("ga2_unpack.sv", kind) == 1.0, kind
        assert share("ga2_softmax.sv", kind) < 0.7, kind
    assert share("ga2_unpack.sv", "toggle") > 0.5
