"""The campaign end to end on a few mutants, and the parts that keep it going."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from own_plan import own_plan, short
from planting import kept_place
from rich.console import Console

from model.errors import ParameterError
from sim.engine import simulator
from sim.engine.builds import Build
from sim.engine.design import own_design
from sim.engine.simulator import Progress
from sim.mutate.common.finding import KILLED
from sim.mutate.common.stages import StageProgress
from sim.mutate.common.store import Store
from sim.mutate.rtl import campaign, own_build
from sim.mutate.rtl import plan as plans
from sim.mutate.rtl.__main__ import main
from sim.mutate.rtl.campaign import Campaign
from sim.mutate.rtl.death import Death, DeathError, death_of
from sim.mutate.rtl.equivalence import output_number
from sim.mutate.rtl.mutant import Edit, Form, Mutant
from sim.mutate.rtl.own_build import run_units
from sim.mutate.rtl.runner import CampaignError, Runner
from sim.mutate.rtl.second_order.generate import second_order
from sim.mutate.rtl.source import read_sources
from sim.mutate.rtl.suite import suite
from sim.shared.process import Child, Ended
from verif.mutation.protocol import MutantVerdict, Queue
from verif.typed import plain

PLAYED = {"coincidence", "previous"}  # of the second order: of the others some are still open


@pytest.fixture
def folder():
    with kept_place("campaign") as place:
        yield place


def test_a_sample_of_every_kind_is_decided_and_a_second_run_knows_it(folder, monkeypatch, capsys):
    played = lambda design: [m for m in second_order(design) if m.kind in PLAYED]  # noqa: E731
    monkeypatch.setattr(plans, "second_order", played)
    monkeypatch.setattr(plans, "suite", lambda: short(suite()))
    options = ["--sample", "1", "--folder", str(folder), "--jobs", "2", "--quiet"]
    assert main(options) == 0
    report = json.loads((folder / "report.json").read_text())
    kinds = {score["group"] for score in report["by_kind"]}
    assert {"arithmetic", "classic", "comparison", "condition", "constant", "drop", "logic",
            "range", "reset", "sign", "table", "ternary", *PLAYED} == kinds  # fmt: skip
    assert report["total"]["open"] == 0
    assert report["total"]["killed"] > report["total"]["total"] // 2
    for row in report["mutants"]:
        decided = row["checks"] and row["program"] if row["status"] == KILLED else row["engine"]
        assert decided, row

    before = (folder / "state.jsonl").read_text()
    assert main(options) == 0
    assert (folder / "state.jsonl").read_text() == before
    assert "0 open" in capsys.readouterr().out


def deadly_plan() -> plans.Plan:
    """Three mutants of the counters: one stops the simulator, one hangs the chip, one is subtle."""
    plan = own_plan()
    plan.tests = short(plan.tests)
    chosen = [m for m in plan.mutants.values() if m.name in ("n-inst-off", "pc-off")]
    counters = plan.texts["ga2_counters.sv"]
    statement = "n_inst_q <= n_inst_q + 32'd1;"
    start = counters.index(statement)
    edit = Edit("ga2_counters.sv", start, start + len(statement), "$finish;", Form.STMT)
    stops = Mutant("test", "ga2_counters.sv", 1, "stops the simulator", (edit,))
    mutants = dict(enumerate([stops, *chosen], 1))
    plan.mutants, plan.keys = mutants, {number: f"key{number}" for number in mutants}
    return plan


def test_a_mutant_that_kills_the_simulator_does_not_kill_the_campaign(folder, console, monkeypatch):
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
    store = Store(folder / "state.jsonl", plan.basis.of)
    Campaign(plan, store, folder, 1, StageProgress(console, quiet=True)).run(proofs=False)
    assert [store.findings[f"key{n}"].status for n in (1, 2, 3)] == [KILLED] * 3
    assert store.findings["key1"].checks == ("crash",)
    # The first dies of its mutant, the second is killed, the third judges the other mutants; then
    # one dies of the first mutant again, and one more finds nothing left.
    assert len(started) == 5
    for key in ("key2", "key3"):
        assert not {"crash", "hang"} & set(store.findings[key].checks), store.findings[key]
    assert "counter" in store.findings["key3"].checks + store.findings["key2"].checks


def test_the_design_is_judged_once(tmp_path, console, monkeypatch):
    """By all tests, before the first mutant; it is the same when mutants get more tests."""
    asked: list[bool] = []

    class Judge:
        def __init__(self, *arguments: object, **options: object) -> None: ...

        def run(self, numbers: list[int], judge_design: bool) -> None:
            asked.append(judge_design)

    monkeypatch.setattr(campaign, "Runner", Judge)
    monkeypatch.setattr(campaign, "build", lambda *_, **__: None)
    plan = deadly_plan()
    store = Store(tmp_path / "state.jsonl", plan.basis.of)
    started = Campaign(plan, store, tmp_path, 1, StageProgress(console, quiet=True))
    for budget in (1.0, 1.0, float("inf")):
        started._simulate(budget)
    assert asked == [True, False, False]


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


def test_the_queue_hands_out_each_position_once(tmp_path):
    queue, other = Queue(tmp_path / "queue"), Queue(tmp_path / "queue")
    queue.reset()
    assert [queue.take(), other.take(), queue.take()] == [0, 1, 2]


def test_verdicts_travel_as_json():
    verdict = MutantVerdict(True, ("memory", "hang"), "test", "program", "text", 2, 0.5, ("a",), 3)
    assert msgspec.convert(json.loads(json.dumps(plain(verdict))), MutantVerdict) == verdict


def test_an_output_is_found_by_its_name():
    table = "input 0 0 in_a\noutput 0 0 hint_0\noutput 7 0 bad\nninitff 2\n"
    assert output_number(table, "bad") == 7
    with pytest.raises(KeyError):
        output_number(table, "good")


@pytest.mark.parametrize("arguments", [["--sample", "-1"], ["--jobs", "0"], ["--verify", "-1"]])
def test_impossible_options_are_refused(arguments):
    with pytest.raises(ParameterError, match=arguments[0].lstrip("-")):
        main(arguments)
