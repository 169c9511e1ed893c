"""What a campaign's verdicts depend on, which tests come first, and what its report says."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, fields, replace
from pathlib import Path

import grimp
import numpy as np
import pytest
from own_plan import own_plan
from rich.console import Console

from model.chip.isa import SPAD_WORDS
from sim.engine.design import own_design
from sim.mutate.common.dependencies import imported
from sim.mutate.common.finding import KILLED, OPEN, PROVEN, SURVIVED, Finding
from sim.mutate.common.stages import StageProgress
from sim.mutate.common.store import Store
from sim.mutate.rtl import verify
from sim.mutate.rtl.basis import PROVING, SIMULATING, STIMULUS, Basis, make_basis
from sim.mutate.rtl.report import cases, summarize
from sim.mutate.rtl.source import read_sources
from sim.mutate.rtl.suite import suite
from sim.mutate.rtl.verify import choose, print_verification, verify_sample
from sim.shared.paths import ROOT
from verif.items.program_item import ProgramItem
from verif.mutation.protocol import MutantVerdict
from verif.mutation.test_ranking import TestRanking

TESTS = {"t1": "1", "t2": "2"}
BASIS = Basis("design", "bench", "prover", TESTS, {"unit": "unit's text"})


def test_promising_tests_come_first():
    ranking = TestRanking({"short": 10, "long": 1000, "slow": 5}, frozenset({"slow"}))
    assert ranking.best_first("a.sv") == ["short", "long", "slow"]
    for _ in range(200):
        ranking.killed_by("a.sv", "long")
    assert ranking.best_first("a.sv") == ["long", "short", "slow"]
    assert ranking.best_first("b.sv")[-1] == "slow"


def test_a_file_begins_with_its_family_and_with_history():
    costs = {"x": 1.0, "y": 1.0, "z": 1.0}
    families = {"z": "softmax"}
    assert TestRanking(costs, families=families).best_first("ga2_divider.sv")[0] == "z"
    ranking = TestRanking(costs, history=[("ga2.sv", "y"), ("ga2.sv", "gone")])
    assert ranking.best_first("ga2.sv")[0] == "y"


def test_the_store_remembers_what_still_holds(tmp_path):
    store = Store(tmp_path / "state.jsonl", BASIS.of)
    store.add(Finding("a", KILLED, "schema", ("memory",), test="t1"))
    store.add(Finding("b", PROVEN, "proof", engine="abc pdr", scope="unit"))
    store.add(Finding("c", SURVIVED, "schema", survived=("t1",)))
    store.add(Finding("c", SURVIVED, "proof"))
    store.add(Finding("d", KILLED, "schema", ("crash",)))

    def keys(**changes: object) -> str:
        again = Store(store.path, replace(BASIS, **changes).of)
        again.load()
        return "".join(again.findings)

    assert keys() == "abcd"
    assert keys(design="new") == "b"
    assert keys(scopes={"unit": "new"}) == "acd"
    assert keys(bench="new") == "b"
    assert keys(prover="new") == "ad"
    # A kill needs the test that killed, and no other; one without a test needs them all.
    assert keys(tests={**TESTS, "t3": "3"}) == keys(tests={**TESTS, "t2": "new"}) == "ab"
    assert keys(tests={**TESTS, "t1": "new"}) == "b"
    again = Store(store.path, BASIS.of)
    again.load()
    assert again.findings["c"].survived == ("t1",)
    assert again.undecided(["a", "b", "c", "e"]) == ["c", "e"]
    again.forget(["a", "c"])
    assert keys() == "".join(again.findings) == "bd"


def loaded(module: str, *others: str) -> set[Path]:
    """The project's files that Python loads with modules, in a process of its own."""
    code = f"import sys, {', '.join((module, *others))}\nfor module in list(sys.modules.values()):"
    done = subprocess.run(
        [sys.executable, "-c", f"{code} print(getattr(module, '__file__', None))"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    files = [Path(line) for line in done.stdout.splitlines() if line.endswith(".py")]
    return {file for file in files if file.is_relative_to(ROOT) and ".venv" not in file.parts}


def test_a_verdict_depends_on_all_that_is_loaded():
    """Python itself says what it loads; the digests are over what the imports say."""
    files, packages = imported([*SIMULATING, "verif.units.divider"], apart_from=STIMULUS)
    stimulus = ROOT / STIMULUS.replace(".", "/")
    missing = loaded(*SIMULATING, "verif.units.divider") - set(files)
    assert all(file.is_relative_to(stimulus) for file in missing), missing
    assert {"model/chip/isa.py", "model/chip/signature.py", "verif/agents/control/driver.py"} <= {
        str(file.relative_to(ROOT)) for file in files
    }
    assert any(package.startswith("cocotb==") for package in packages)
    files, packages = imported(PROVING)
    assert loaded(*PROVING) <= set(files)
    assert any(package.startswith("pyosys==") for package in packages)


def test_what_makes_programs_reaches_a_verdict_through_the_programs_only():
    """So that a new directed test does not undo the kills of others."""
    graph = grimp.build_graph("model", "verif", "sim", cache_dir=None)
    graph.squash_module(STIMULUS)
    importers = graph.find_modules_that_directly_import(STIMULUS)
    inside = {name for name in importers if name.startswith(("model.", "verif."))}
    makers = ("verif.sequences.", "verif.bins.", "verif.plan", "verif.env.coverage")
    assert all(name.startswith(makers) for name in inside), inside


def test_the_basis_follows_every_file_it_names(tmp_path, monkeypatch):
    tests = suite()[:3]
    texts = read_sources(own_design())
    basis = make_basis(own_design(), texts, tests)
    assert basis == make_basis(own_design(), texts, tests)
    assert make_basis(own_design(), texts, tests[1:]).all_tests != basis.all_tests
    other = tmp_path / "changed.py"
    other.write_text("")
    real = imported

    def changed(modules, apart_from=""):
        files, packages = real(modules, apart_from)
        return [other, *files[1:]], packages

    monkeypatch.setattr("sim.mutate.rtl.basis.imported", changed)
    new = make_basis(own_design(), texts, tests)
    assert new.bench != basis.bench
    assert new.prover != basis.prover
    assert all(test.items[0].spad is not None for test in tests)


def test_the_basis_of_a_proof_is_the_text_around_it():
    texts = read_sources(own_design())
    before = make_basis(own_design(), texts, []).scopes
    changed = {**texts, "ga2_divider.sv": texts["ga2_divider.sv"] + "\n"}
    after = make_basis(own_design(), changed, []).scopes
    assert before.keys() == after.keys()
    differ = {name for name in before if before[name] != after[name]}
    assert differ == {"ga2_divider", "ga2_softmax", "ga2"}
    packaged = {**texts, "ga2_pkg.sv": texts["ga2_pkg.sv"] + "\n"}
    everywhere = make_basis(own_design(), packaged, []).scopes
    assert all(before[name] != everywhere[name] for name in before)


ITEM = ProgramItem(
    "item", [1, 2], spad=np.zeros(SPAD_WORDS), latencies=(8,), abort_at=9, start_pulses=(3,)
)
OTHER = {
    "program": [1, 3],
    "image": np.ones(1),
    "spad": np.ones(SPAD_WORDS),
    "latencies": (8, 9),
    "start_pulses": (4,),
    "abort_at": 8,
    "cycle_limit": 99,
    "restart_after": 0,
}


@pytest.mark.parametrize("name", [field.name for field in fields(ProgramItem)])
def test_every_field_of_an_item_is_in_its_digest(name):
    # Start is held over the end of a program that is started again at once, and sees no pulses.
    item = replace(ITEM, start_pulses=(), restart_after=0) if name == "start_held" else ITEM
    if name == "inherits":  # takes the reads of the whole job at one latency
        item = ProgramItem("item", [1, 2])
    before = getattr(item, name)
    change = OTHER.get(name)
    if change is None:
        change = not before if isinstance(before, bool) else before + type(before)(1)
    assert replace(item, **{name: change}).digest() != item.digest() == replace(item).digest()


def test_a_field_that_is_added_to_an_item_is_in_its_digest():
    @dataclass
    class More(ProgramItem):
        more: object = 0

    assert More("item", [1]).digest() != More("item", [1], more=1).digest()
    with pytest.raises(TypeError, match="more: no digest of a object"):
        More("item", [1], more=object()).digest()


@pytest.fixture
def judged(tmp_path):
    plan = own_plan()
    store = Store(tmp_path / "state.jsonl", plan.basis.of)
    for number, key in list(plan.keys.items())[:60]:
        status = (KILLED, PROVEN)[number % 5 == 0]
        store.findings[key] = Finding(key, status, "schema", ("memory",), test="t", engine="e")
    return plan, store


def test_the_report_counts(judged):
    plan, store = judged
    summary = summarize(plan, store, {"stage": 1.0}, 2.0)
    assert (summary.total.killed, summary.total.proven) == (48, 12)
    assert summary.total.open == len(plan.mutants) - 60
    assert sum(score.total for score in summary.by_file) == len(plan.mutants)
    assert sum(score.killed for score in summary.by_kind) == 48
    assert summary.rows[-1].status == OPEN
    assert summary.lines()[-1].startswith("OPEN ")
    assert json.loads(json.dumps(summary.as_json()))["total"]["killed"] == 48
    assert any("open: " in case.detail for case in cases(summary.rows) if case.outcome.bad)


def test_the_sample_to_verify_is_spread_over_kinds_and_verdicts(judged):
    plan, store = judged
    numbers = choose(plan, store, 20)
    assert len(set(numbers)) == len(numbers) == 20
    verdicts = {store.findings[plan.keys[number]].status for number in numbers}
    assert verdicts == {KILLED, PROVEN}


def test_a_verdict_that_the_mutant_itself_contradicts_is_told(judged, monkeypatch, capsys):
    plan, store = judged
    progress = StageProgress(Console(), quiet=True)
    monkeypatch.setattr(verify, "_alone", lambda *_: MutantVerdict(killed=True, message="m"))
    rows = verify_sample(plan, store, 10, 1, progress)
    wrong = [row for row in rows if not row["agrees"]]
    assert len(rows) == 10
    assert {row["status"] for row in wrong} == {PROVEN}
    assert print_verification(Console(width=200), rows) == 1
    out = capsys.readouterr().out
    assert out.count("DISAGREE") == len(wrong) > 0
    assert f"{10 - len(wrong)} of 10 verdicts agree" in out
    assert print_verification(Console(quiet=True), [r for r in rows if r["agrees"]]) == 0
    assert print_verification(Console(quiet=True), []) == 1
