"""The campaign end to end on a few mutants, and the parts that keep it going."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace

import numpy as np
import pytest

from model.chip.isa import SPAD_WORDS
from sim.mutate.rtl import plan as plans
from sim.mutate.rtl.__main__ import main
from sim.mutate.rtl.apart import run_units
from sim.mutate.rtl.campaign import Campaign
from sim.mutate.rtl.equivalence import output_number
from sim.mutate.rtl.messages import LineReader, LineWriter, Queue, Verdict
from sim.mutate.rtl.mutant import Edit, Form, Mutant
from sim.mutate.rtl.order import AdaptiveOrder
from sim.mutate.rtl.plan import every, make_plan
from sim.mutate.rtl.progress import StageProgress
from sim.mutate.rtl.report import summarize, write_reports
from sim.mutate.rtl.source import file_list, read_sources
from sim.mutate.rtl.store import KILLED, OPEN, PROVEN, SURVIVED, Context, Outcome, Store
from sim.mutate.rtl.suite import suite, suite_digest
from sim.mutate.rtl.verify import choose
from sim.shared.paths import RTL
from verif.items.program_item import ProgramItem

CONTEXT = Context("rtl", "bench", "tests")


def test_a_sample_of_every_kind_is_decided_and_a_second_run_knows_it(tmp_path, capsys):
    assert main(["--sample", "1", "--folder", str(tmp_path), "--quiet"]) == 0
    report = json.loads((tmp_path / "report.json").read_text())
    kinds = {score["group"] for score in report["by_kind"]}
    assert {"arithmetic", "classic", "comparison", "condition", "constant", "drop", "logic",
            "range", "reset", "sign", "table", "ternary"} == kinds  # fmt: skip
    assert report["total"]["open"] == 0
    assert report["total"]["killed"] > report["total"]["total"] // 2
    for row in report["mutants"]:
        decided = row["checks"] and row["program"] if row["status"] == KILLED else row["engine"]
        assert decided, row
    page = (tmp_path / "report.html").read_text()
    assert all(row["description"].split("<")[0][:20] in page for row in report["mutants"][:3])

    before = (tmp_path / "state.jsonl").read_text()
    assert main(["--sample", "1", "--folder", str(tmp_path), "--quiet"]) == 0
    assert (tmp_path / "state.jsonl").read_text() == before
    assert "0 open" in capsys.readouterr().out


def deadly_plan() -> plans.Plan:
    """Three mutants of the counters: one stops the simulator, one hangs the chip, one is subtle."""
    plan = make_plan(RTL, every)
    chosen = [m for m in plan.mutants.values() if m.name in ("n-inst-off", "pc-off")]
    counters = plan.texts["ga2_counters.sv"]
    statement = "n_inst <= n_inst + 32'd1;"
    start = counters.index(statement)
    edit = Edit("ga2_counters.sv", start, start + len(statement), "$stop;", Form.STMT)
    stops = Mutant("test", "ga2_counters.sv", 1, "stops the simulator", (edit,))
    mutants = dict(enumerate([stops, *chosen], 1))
    plan.mutants, plan.keys = mutants, {number: f"key{number}" for number in mutants}
    return plan


def test_a_mutant_that_kills_the_simulator_does_not_kill_the_campaign(tmp_path, console):
    plan = deadly_plan()
    store = Store(tmp_path / "state.jsonl", plan.context)
    Campaign(plan, store, tmp_path, 1, StageProgress(console, quiet=True)).run(proofs=False)
    assert [store.outcomes[f"key{n}"].status for n in (1, 2, 3)] == [KILLED] * 3
    assert store.outcomes["key1"].checks == ("crash",)
    assert "counter" in store.outcomes["key3"].checks + store.outcomes["key2"].checks


@pytest.fixture
def console():
    from rich.console import Console

    return Console(quiet=True)


def test_a_unit_test_kills_what_no_program_can_show():
    texts = read_sources(RTL)
    held = texts["ga2_scratchpad.sv"]
    texts["ga2_scratchpad.sv"] = held.replace("if (ren) rdata_q", "rdata_q")
    assert texts["ga2_scratchpad.sv"] != held
    verdict = run_units(texts, file_list(RTL), "ga2_scratchpad.sv")
    assert verdict.checks == ("unit test",)
    assert verdict.program.startswith("unit/scratchpad::"), verdict


def test_promising_tests_come_first():
    order = AdaptiveOrder({"short": 10, "long": 1000, "slow": 5}, frozenset({"slow"}))
    assert order.tests("a.sv") == ["short", "long", "slow"]
    for _ in range(200):
        order.killed_by("a.sv", "long")
    assert order.tests("a.sv") == ["long", "short", "slow"]
    assert order.tests("b.sv")[-1] == "slow"


def test_a_file_begins_with_its_family_and_with_history():
    costs = {"x": 1.0, "y": 1.0, "z": 1.0}
    families = {"z": "softmax"}
    assert AdaptiveOrder(costs, families=families).tests("ga2_divider.sv")[0] == "z"
    order = AdaptiveOrder(costs, history=[("ga2.sv", "y"), ("ga2.sv", "gone")])
    assert order.tests("ga2.sv")[0] == "y"


def test_the_queue_hands_out_each_position_once(tmp_path):
    queue, other = Queue(tmp_path / "queue"), Queue(tmp_path / "queue")
    queue.reset()
    assert [queue.take(), other.take(), queue.take()] == [0, 1, 2]


def test_lines_are_read_when_they_are_complete(tmp_path):
    path = tmp_path / "lines"
    reader = LineReader(path)
    assert list(reader.new()) == []
    LineWriter(path).write("begin", number=3)
    with open(path, "a") as file:
        file.write('{"type": "ver')
    assert list(reader.new()) == [{"type": "begin", "number": 3}]
    with open(path, "a") as file:
        file.write('dict"}\n')
    assert list(reader.new()) == [{"type": "verdict"}]


def test_verdicts_travel_as_json():
    verdict = Verdict(3, True, ("memory", "hang"), "test", "program", "text", 2, 0.5, ("a",))
    assert Verdict.from_json(json.loads(json.dumps(verdict.as_json()))) == verdict


def test_the_store_remembers_what_still_holds(tmp_path):
    store = Store(tmp_path / "state.jsonl", CONTEXT)
    store.add(Outcome("a", KILLED, "schema", ("memory",)))
    store.add(Outcome("b", PROVEN, "proof", engine="abc pdr"))
    store.add(Outcome("c", SURVIVED, "schema", survived=("t1",)))
    store.add(Outcome("c", SURVIVED, "proof"))
    with open(store.path, "a") as file:
        file.write('{"key": "cut o')

    def keys(context: Context) -> dict[str, str]:
        again = Store(store.path, context)
        again.load()
        return {key: outcome.status for key, outcome in again.outcomes.items()}

    assert keys(CONTEXT) == {"a": KILLED, "b": PROVEN, "c": SURVIVED}
    assert keys(Context("rtl", "bench", "new")) == {"a": KILLED, "b": PROVEN}
    assert keys(Context("rtl", "new", "tests")) == {"b": PROVEN}
    assert keys(Context("new", "bench", "tests")) == {}
    again = Store(store.path, CONTEXT)
    again.load()
    assert again.outcomes["c"].survived == ("t1",)
    assert again.undecided(["a", "b", "c", "d"]) == ["c", "d"]


def test_the_tests_are_named_by_their_contents():
    tests = suite()
    assert suite_digest(tests) == suite_digest(suite())
    assert suite_digest(tests[1:]) != suite_digest(tests)
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
}


@pytest.mark.parametrize("name", [field.name for field in fields(ProgramItem)])
def test_every_field_of_an_item_is_in_its_digest(name):
    before = getattr(ITEM, name)
    change = OTHER.get(name)
    if change is None:
        change = not before if isinstance(before, bool) else before + type(before)(1)
    assert replace(ITEM, **{name: change}).digest() != ITEM.digest() == replace(ITEM).digest()


def test_a_field_that_is_added_to_an_item_is_in_its_digest():
    @dataclass
    class More(ProgramItem):
        more: object = 0

    assert More("item", [1]).digest() != More("item", [1], more=1).digest()
    with pytest.raises(TypeError, match="more: no digest of a object"):
        More("item", [1], more=object()).digest()


@pytest.fixture
def judged(tmp_path):
    plan = make_plan(RTL, every)
    store = Store(tmp_path / "state.jsonl", plan.context)
    for number, key in list(plan.keys.items())[:60]:
        status = (KILLED, PROVEN)[number % 5 == 0]
        store.outcomes[key] = Outcome(key, status, "schema", ("memory",), test="t", engine="e")
    return plan, store


def test_the_report_counts(judged, tmp_path):
    plan, store = judged
    summary = summarize(plan, store, {"stage": 1.0}, 2.0)
    assert (summary.total.killed, summary.total.proven) == (48, 12)
    assert summary.total.open == len(plan.mutants) - 60
    assert sum(score.total for score in summary.by_file) == len(plan.mutants)
    assert sum(score.killed for score in summary.by_kind) == 48
    assert summary.rows[-1].status == OPEN
    assert summary.lines()[-1].startswith("OPEN ")
    data, page = write_reports(summary, tmp_path)
    assert json.loads(data.read_text())["total"]["killed"] == 48
    assert "&amp;&amp;" in page.read_text()


def test_the_sample_to_verify_is_spread_over_kinds_and_verdicts(judged):
    plan, store = judged
    numbers = choose(plan, store, 20)
    assert len(set(numbers)) == len(numbers) == 20
    verdicts = {store.outcomes[plan.keys[number]].status for number in numbers}
    assert verdicts == {KILLED, PROVEN}


def test_an_output_is_found_by_its_name():
    table = "input 0 0 in_a\noutput 0 0 hint_0\noutput 7 0 bad\nninitff 2\n"
    assert output_number(table, "bad") == 7
    with pytest.raises(KeyError):
        output_number(table, "good")


@pytest.mark.parametrize("arguments", [["--sample", "-1"], ["--jobs", "0"]])
def test_impossible_options_are_refused(arguments):
    from sim.shared.errors import UsageError

    with pytest.raises(UsageError):
        main(arguments)
