"""The campaign end to end on a few mutants, and the parts that keep it going."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import SimpleNamespace

import grimp
import msgspec
import numpy as np
import pytest
from rich.console import Console

from model.chip.isa import SPAD_WORDS
from model.errors import ParameterError
from sim.engine import simulator
from sim.engine.builds import Build
from sim.engine.design import own_design
from sim.engine.simulator import Progress
from sim.mutate.common.dependencies import imported
from sim.mutate.common.finding import KILLED, OPEN, PROVEN, SURVIVED, Finding
from sim.mutate.common.stages import StageProgress
from sim.mutate.common.store import Store
from sim.mutate.rtl import own_build, verify
from sim.mutate.rtl import plan as plans
from sim.mutate.rtl.__main__ import main
from sim.mutate.rtl.basis import PROVING, SIMULATING, STIMULUS, Basis, make_basis
from sim.mutate.rtl.campaign import Campaign
from sim.mutate.rtl.death import Death, DeathError, death_of
from sim.mutate.rtl.equivalence import output_number
from sim.mutate.rtl.mutant import Edit, Form, Mutant
from sim.mutate.rtl.own_build import run_units
from sim.mutate.rtl.plan import every, make_plan
from sim.mutate.rtl.report import cases, summarize
from sim.mutate.rtl.runner import CampaignError, Runner
from sim.mutate.rtl.second_order.generate import second_order
from sim.mutate.rtl.source import read_sources
from sim.mutate.rtl.suite import suite
from sim.mutate.rtl.verify import choose, print_verification, verify_sample
from sim.shared.paths import ROOT
from sim.shared.process import Child, Ended
from verif.items.program_item import ProgramItem
from verif.mutation.protocol import MutantVerdict, Queue
from verif.mutation.test_ranking import TestRanking
from verif.typed import plain

TESTS = {"t1": "1", "t2": "2"}
PLAYED = {"coincidence", "previous"}  # of the second order: of the others some are still open
BASIS = Basis("design", "bench", "prover", TESTS)


def test_a_sample_of_every_kind_is_decided_and_a_second_run_knows_it(tmp_path, monkeypatch, capsys):
    played = lambda design: [m for m in second_order(design) if m.kind in PLAYED]  # noqa: E731
    monkeypatch.setattr(plans, "second_order", played)
    assert main(["--sample", "1", "--folder", str(tmp_path), "--quiet"]) == 0
    report = json.loads((tmp_path / "report.json").read_text())
    kinds = {score["group"] for score in report["by_kind"]}
    assert {"arithmetic", "classic", "comparison", "condition", "constant", "drop", "logic",
            "range", "reset", "sign", "table", "ternary", *PLAYED} == kinds  # fmt: skip
    assert report["total"]["open"] == 0
    assert report["total"]["killed"] > report["total"]["total"] // 2
    for row in report["mutants"]:
        decided = row["checks"] and row["program"] if row["status"] == KILLED else row["engine"]
        assert decided, row

    before = (tmp_path / "state.jsonl").read_text()
    assert main(["--sample", "1", "--folder", str(tmp_path), "--quiet"]) == 0
    assert (tmp_path / "state.jsonl").read_text() == before
    assert "0 open" in capsys.readouterr().out


def deadly_plan() -> plans.Plan:
    """Three mutants of the counters: one stops the simulator, one hangs the chip, one is subtle."""
    plan = make_plan(own_design(), every)
    chosen = [m for m in plan.mutants.values() if m.name in ("n-inst-off", "pc-off")]
    counters = plan.texts["ga2_counters.sv"]
    statement = "n_inst_q <= n_inst_q + 32'd1;"
    start = counters.index(statement)
    edit = Edit("ga2_counters.sv", start, start + len(statement), "$finish;", Form.STMT)
    stops = Mutant("test", "ga2_counters.sv", 1, "stops the simulator", (edit,))
    mutants = dict(enumerate([stops, *chosen], 1))
    plan.mutants, plan.keys = mutants, {number: f"key{number}" for number in mutants}
    return plan


def test_a_mutant_that_kills_the_simulator_does_not_kill_the_campaign(
    tmp_path, console, monkeypatch
):
    """And one whose simulator somebody else kills is judged all the same."""
    plan = deadly_plan()
    started: list[object] = []
    start = Runner._start

    def kill_the_second(runner: Runner, *arguments: object) -> object:
        worker = start(runner, *arguments)
        started.append(worker)
        if len(started) == 2:
            os.killpg(worker.child.pid, signal.SIGKILL)
        return worker

    monkeypatch.setattr(Runner, "_start", kill_the_second)
    store = Store(tmp_path / "state.jsonl", plan.basis.of)
    Campaign(plan, store, tmp_path, 1, StageProgress(console, quiet=True)).run(proofs=False)
    assert [store.findings[f"key{n}"].status for n in (1, 2, 3)] == [KILLED] * 3
    assert store.findings["key1"].checks == ("crash",)
    # The first dies of its mutant, the second is killed, the third judges the other mutants; then
    # one dies of the first mutant again, and one more finds nothing left.
    assert len(started) == 5
    for key in ("key2", "key3"):
        assert not {"crash", "hang"} & set(store.findings[key].checks), store.findings[key]
    assert "counter" in store.findings["key3"].checks + store.findings["key2"].checks


KILL, SEGV = 128 + signal.SIGKILL, 128 + signal.SIGSEGV


@pytest.mark.parametrize(
    ("ended", "status", "log", "check", "message"),
    [
        (Ended.EXITED, SEGV, "", "crash", "ended by SIGSEGV"),
        (Ended.CRASHED, SEGV, "", "crash", "ended by SIGSEGV"),
        (Ended.EXITED, 1, "x\n%Error: a.sv:1: text\ny", "crash", "error: a.sv:1: text"),
        (Ended.EXITED, 2, "", "crash", "no word"),
        (Ended.STALLED, KILL, "", "hang", "no progress"),
    ],
)
def test_a_death_that_repeats_is_called_what_it_is(ended, status, log, check, message):
    death = death_of(ended, status, log)
    assert (death.check, death.message) == (check, message)


@pytest.mark.parametrize(
    ("ended", "status", "leak"),
    [
        (Ended.EXITED, KILL, ""),
        (Ended.EXITED, 128 + signal.SIGTERM, ""),
        (Ended.ASLEEP, KILL, ""),
        (Ended.TIMED_OUT, KILL, ""),
        (None, 0, ""),
        (Ended.EXITED, 1, "the design is broken"),
    ],
)
def test_an_end_from_outside_is_no_kill(ended, status, leak):
    with pytest.raises(DeathError, match="do not come to an end of their own"):
        _ = death_of(ended, status, "", leak).check


def test_a_mutant_is_killed_by_the_second_death_of_its_simulation(tmp_path):
    def verdicts(*deaths: Death) -> list[MutantVerdict]:
        found: list[MutantVerdict] = []
        runner = Runner(None, {}, [], tmp_path, found.append)
        for death in deaths:
            runner._died(SimpleNamespace(current=7, log=tmp_path / "log"), death)
        return found

    crash, outside = Death("crash", "ended by SIGSEGV"), Death("", "ended by SIGKILL")
    assert verdicts(crash) == verdicts(outside) == []
    (verdict,) = verdicts(outside, crash)
    assert (verdict.number, verdict.checks, verdict.message) == (7, ("crash",), crash.message)
    with pytest.raises(CampaignError, match=r"mutant 7: .* ended by SIGKILL"):
        verdicts(crash, outside)


def test_time_without_work_is_told_from_work_without_progress(tmp_path, monkeypatch):
    """A simulator that somebody stopped for a minute does not hang."""
    monkeypatch.setattr(simulator, "DEAF_SECONDS", 0.3)
    monkeypatch.setattr(Progress, "LOOK_SECONDS", 0.0)
    ends = {}
    for name, script in (("works", "while :; do :; done"), ("sleeps", "sleep 60")):
        child = Child(["sh", "-c", script], cwd=tmp_path, env={**os.environ}, log=tmp_path / "log")
        if name == "works":
            monkeypatch.setattr(simulator, "DEAF_SECONDS", 60.0)
        progress = Progress(child, tmp_path / "pulse", 0.2)
        while (ended := progress.stalled()) is None:
            assert child.running(0.02)
        child.end()
        ends[name] = ended
        monkeypatch.setattr(simulator, "DEAF_SECONDS", 0.3)
    assert ends == {"works": Ended.STALLED, "sleeps": Ended.ASLEEP}


def test_a_simulation_in_a_build_of_its_own_runs_again_before_it_counts(monkeypatch):
    """Ended twice: a crash kills, an end from outside says nothing. Once: the second run counts."""
    texts = {"ga2.sv": "module ga2; endmodule"}
    made = Build("icarus", Path("nowhere"), "")
    passed = MutantVerdict(False)
    crash, outside = Death("crash", "ended by SIGSEGV"), Death("", "ended by SIGKILL")

    def judged(*found: MutantVerdict | Death) -> MutantVerdict:
        ends = iter(found)
        return own_build._judge(texts, lambda folder: made, lambda folder: next(ends))

    assert judged(passed) == judged(outside, passed) == judged(crash, passed) == passed
    assert judged(crash, crash).checks == ("crash",)
    with pytest.raises(DeathError, match="SIGKILL"):
        judged(outside, outside)


@pytest.fixture
def console():
    return Console(quiet=True)


def test_a_unit_test_kills_what_no_program_can_show():
    texts = read_sources(own_design())
    held = texts["ga2_scratchpad.sv"]
    texts["ga2_scratchpad.sv"] = held.replace("if (ren) rdata_q", "rdata_q")
    assert texts["ga2_scratchpad.sv"] != held
    verdict = run_units(texts, "ga2_scratchpad.sv")
    assert verdict.checks == ("unit test",)
    assert verdict.program.startswith("unit/scratchpad::"), verdict


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


def test_the_queue_hands_out_each_position_once(tmp_path):
    queue, other = Queue(tmp_path / "queue"), Queue(tmp_path / "queue")
    queue.reset()
    assert [queue.take(), other.take(), queue.take()] == [0, 1, 2]


def test_verdicts_travel_as_json():
    verdict = MutantVerdict(True, ("memory", "hang"), "test", "program", "text", 2, 0.5, ("a",), 3)
    assert msgspec.convert(json.loads(json.dumps(plain(verdict))), MutantVerdict) == verdict


def test_the_store_remembers_what_still_holds(tmp_path):
    store = Store(tmp_path / "state.jsonl", BASIS.of)
    store.add(Finding("a", KILLED, "schema", ("memory",), test="t1"))
    store.add(Finding("b", PROVEN, "proof", engine="abc pdr"))
    store.add(Finding("c", SURVIVED, "schema", survived=("t1",)))
    store.add(Finding("c", SURVIVED, "proof"))
    store.add(Finding("d", KILLED, "schema", ("crash",)))

    def keys(**changes: object) -> str:
        again = Store(store.path, replace(BASIS, **changes).of)
        again.load()
        return "".join(again.findings)

    assert keys() == "abcd"
    assert keys(design="new") == ""
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
    basis = make_basis(own_design(), tests)
    assert basis == make_basis(own_design(), tests)
    assert make_basis(own_design(), tests[1:]).all_tests != basis.all_tests
    other = tmp_path / "changed.py"
    other.write_text("")
    real = imported

    def changed(modules, apart_from=""):
        files, packages = real(modules, apart_from)
        return [other, *files[1:]], packages

    monkeypatch.setattr("sim.mutate.rtl.basis.imported", changed)
    new = make_basis(own_design(), tests)
    assert new.bench != basis.bench
    assert new.prover != basis.prover
    assert all(test.items[0].spad is not None for test in tests)


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
    plan = make_plan(own_design(), every)
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


def test_an_output_is_found_by_its_name():
    table = "input 0 0 in_a\noutput 0 0 hint_0\noutput 7 0 bad\nninitff 2\n"
    assert output_number(table, "bad") == 7
    with pytest.raises(KeyError):
        output_number(table, "good")


@pytest.mark.parametrize("arguments", [["--sample", "-1"], ["--jobs", "0"], ["--verify", "-1"]])
def test_impossible_options_are_refused(arguments):
    with pytest.raises(ParameterError, match=arguments[0].lstrip("-")):
        main(arguments)
