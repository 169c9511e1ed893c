"""Mutants of the model: which are made, and what is said of each."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import psutil
import pytest

from model.errors import ParameterError
from sim.mutate.model import __main__ as front
from sim.mutate.model import pytest_process
from sim.mutate.model import runner as runners
from sim.mutate.model.equivalents import load_reasons, stale
from sim.mutate.model.generate import Mutant, generate
from sim.mutate.model.runner import Ending, MutationError, Runner, ending, verdict
from sim.mutate.model.targets import TARGETS, Target
from sim.shared.errors import UsageError
from sim.shared.paths import ROOT

SOURCE = '''
"""Counts."""


class Counter:
    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self.now = 0

    def count(self) -> None:
        self.now += 1
        while self.now > 3:
            self.now -= 4
'''
TESTS = """
from model.counter import Counter

def test_start():
    assert Counter(3).now == 0

def test_count():
    c = Counter(3)
    c.count()
    assert c.now == 1
    for _ in range(3):
        c.count()
    assert c.now == 0
"""


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of one module and its tests."""
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "__init__.py").touch()
    (tmp_path / "model" / "counter.py").write_text(SOURCE)
    (tmp_path / "test_toy.py").write_text(TESTS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(pytest_process, "LIMIT_SECONDS", 3.0)
    return tmp_path


def changes() -> dict[str, Mutant]:
    return {mutant.key: mutant for mutant in generate("counter", SOURCE)}


def test_operators_and_statements_are_changed_but_no_annotations() -> None:
    made = changes()
    assert {
        "self.now += 1 -> self.now += 2",
        "self.now += 1 -> pass",
        "self.limit = limit -> pass",
        "while self.now > 3: -> while self.now >= 3:",
        "while self.now > 3: -> while not self.now > 3:",
    } <= made.keys()
    assert made["self.now += 1 -> pass"].line == 11
    assert not any("int" in mutant.old for mutant in made.values())
    assert all(compile(mutant.text, "mutant", "exec") for mutant in made.values())


def test_each_verdict_with_the_test_that_came_to_it(toy: Path) -> None:
    made = changes()
    start, count = "test_toy.py::test_start", "test_toy.py::test_count"
    wanted: dict[str, tuple[Ending, str]] = {
        "self.now = 0 -> self.now = 1": ("killed", start),
        "self.now += 1 -> self.now += 2": ("killed", count),
        "self.limit = limit -> pass": ("survived", ""),
        "self.now -= 4 -> pass": ("timeout", count),
    }
    runner = Runner(toy, ["test_toy.py"])
    assert toy / "test_toy.py" in runner.baseline("counter", SOURCE)
    assert runner.seconds.keys() == {start, count}
    runner.seconds[start] = 0.0  # the first to run
    got: dict[str, tuple[Ending, str]] = {}

    def done(mutant: Mutant, found: Ending, test: str) -> None:
        got[mutant.key] = found, test

    runner.run([made[key] for key in wanted], 1, done)
    assert got == wanted
    assert (runner.kills[start], runner.kills[count]) == (1, 2)


def test_tests_that_fail_unchanged_are_an_error(toy: Path) -> None:
    with pytest.raises(MutationError, match="before anything is changed"):
        Runner(toy, ["test_toy.py"]).baseline("counter", SOURCE.replace("+= 1", "+= 2"))


@pytest.mark.parametrize(
    ("code", "found"),
    [(0, "survived"), (1, "killed"), (2, "killed"), (-signal.SIGXCPU, "timeout")],
)
def test_what_the_end_of_a_process_says(code: int, found: str) -> None:
    assert ending(code) == ""
    assert verdict(next(iter(changes().values())), code) == found


@pytest.mark.parametrize(
    ("code", "held_up"), [(-signal.SIGTERM, False), (-signal.SIGKILL, False), (-9, True)]
)
def test_an_end_from_outside_says_nothing(code: int, held_up: bool) -> None:
    how = ending(code, held_up)
    assert how
    with pytest.raises(MutationError, match=rf"model/counter.py:\d+: .*twice from outside: {how}"):
        verdict(next(iter(changes().values())), code, how)


@pytest.mark.parametrize("code", [3, 5])
def test_a_pytest_that_does_not_run_says_nothing(code: int) -> None:
    with pytest.raises(MutationError, match=r"model/counter.py:\d+: "):
        verdict(next(iter(changes().values())), code)


KILL_ONCE = """
import os, pathlib, signal, time

def test_ends_from_outside():
    marker = pathlib.Path(__file__).with_name("again")
    if not marker.exists():
        marker.touch()
        {what}
"""


@pytest.mark.parametrize(
    ("what", "limit"),
    [
        ("os.kill(os.getpid(), signal.SIGKILL)", 600.0),
        ("os.kill(os.getpid(), signal.SIGSEGV)", 600.0),
        ("os.kill(os.getpid(), signal.SIGSTOP)", 10.0),
    ],
    ids=["killed", "crashed once", "held up"],
)
def test_a_process_that_was_ended_or_held_up_runs_again(
    toy: Path, monkeypatch: pytest.MonkeyPatch, what: str, limit: float
) -> None:
    runner = Runner(toy, ["test_toy.py"])
    runner.baseline("counter", SOURCE)
    (toy / "test_toy.py").write_text(TESTS + KILL_ONCE.format(what=what))
    monkeypatch.setattr(runners, "WAIT_SECONDS", limit)
    got: list[tuple[Ending, str]] = []
    survivor = changes()["self.limit = limit -> pass"]
    runner.run([survivor], 1, lambda mutant, found, test: got.append((found, test)))
    assert got == [("survived", "")]


def test_a_crash_that_repeats_is_called_one(toy: Path) -> None:
    runner = Runner(toy, ["test_toy.py"])
    runner.baseline("counter", SOURCE)
    text = SOURCE.replace("self.now += 1", "__import__('os').abort()")
    crashes = Mutant("counter", "test", 11, "self.now += 1", "abort", text)
    got: list[tuple[Ending, str]] = []
    runner.run([crashes], 1, lambda mutant, found, test: got.append((found, test)))
    assert got == [("crash", "test_toy.py::test_count")]


def test_an_interruption_leaves_no_process(toy: Path) -> None:
    runner = Runner(toy, ["test_toy.py"])
    runner.baseline("counter", SOURCE)

    before = psutil.Process().children()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runner.run(list(changes().values()), 3, interrupted)
    assert psutil.Process().children() == before


# Without a loop, which may have no end and then takes its time.
QUICK = """
class Counter:
    def __init__(self, limit):
        self.limit = limit
        self.now = 0

    def count(self):
        self.now += 1
"""
QUICK_TESTS = """
from model.counter import Counter

def test_count():
    c = Counter(3)
    c.count()
    assert c.now == 1
"""


@pytest.fixture
def asked(toy: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The front end on the toy; how many mutants it had tested, each time."""
    numbers: list[int] = []
    run = Runner.run

    def counted(runner: Runner, mutants: list[Mutant], *rest: object) -> None:
        numbers.append(len(mutants))
        run(runner, mutants, *rest)  # type: ignore[arg-type]

    (toy / "model" / "counter.py").write_text(QUICK)
    (toy / "test_toy.py").write_text(QUICK_TESTS)
    monkeypatch.setattr(Runner, "run", counted)
    monkeypatch.setattr(front, "ROOT", toy)
    monkeypatch.setattr(front, "STATE", toy / "build" / "state.jsonl")
    monkeypatch.setattr(front, "load_reasons", lambda: {})
    return numbers


def test_a_fresh_run_of_one_module_keeps_what_is_known_of_others(
    toy: Path, asked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    (toy / "model" / "other.py").write_text(QUICK)
    (toy / "test_other.py").write_text(QUICK_TESTS.replace("model.counter", "model.other"))
    targets = (Target("counter", ("test_toy.py",)), Target("other", ("test_other.py",)))
    monkeypatch.setattr(front, "TARGETS", targets)
    arguments = ["--jobs", "1", "--sample", "1", "--results", str(toy / "build")]
    assert front.main(arguments) == 0
    before = front.STATE.read_text().splitlines()
    assert front.main([*arguments, "--fresh", "--modules", "counter"]) == 0
    other, again = front.STATE.read_text().splitlines()
    assert other == json.dumps(json.loads(before[1]))
    assert json.loads(again)["key"] == json.loads(before[0])["key"]
    assert asked == [1, 1, 1]


def test_what_is_no_finding_costs_itself_alone(
    toy: Path, asked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(front, "TARGETS", (Target("counter", ("test_toy.py",)),))
    arguments = ["--jobs", "1", "--sample", "2", "--results", str(toy / "build")]
    assert front.main(arguments) == 0
    lines = front.STATE.read_text().splitlines()
    front.STATE.write_text(f'{lines[0]}\n{{"key": 1}}\n{{"basis": ""}}\n{lines[1][:-9]}\n')
    assert front.main(arguments) == 0
    assert asked == [2, 1]


def test_a_run_goes_on_where_it_was_interrupted(
    toy: Path, asked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    total = len(generate("counter", QUICK))
    state, out = front.STATE, toy / "build" / "mutate-model.json"
    explained = {"self.limit = limit -> pass": "Nobody reads it."}
    target = Target("counter", ("test_toy.py",), strict=True)
    monkeypatch.setattr(front, "TARGETS", (target,))
    arguments = ["--jobs", "1", "--results", str(out.parent)]
    assert front.main(arguments) == 1  # one survives, unexplained
    monkeypatch.setattr(front, "load_reasons", lambda: {"counter": explained})
    assert front.main(arguments) == 0
    (module,) = json.loads(out.read_text())["modules"]
    assert module["run"] == module["generated"] == total
    assert module["survivors"] == [
        {
            "description": "self.limit = limit -> pass",
            "file": "model/counter.py",
            "line": 4,
            "operator": "DropStatement",
            "reason": "Nobody reads it.",
        }
    ]
    lines = state.read_text().splitlines()
    state.write_text("\n".join(lines[:-2]) + "\n" + lines[-2][:20])  # cut off in the middle
    assert front.main(arguments) == 0
    (toy / "test_toy.py").write_text(QUICK_TESTS + "    assert c.limit == 3\n")
    assert front.main(arguments) == 1  # a reason is no longer true
    assert asked == [total, 0, 2, total]
    assert json.loads(out.read_text())["modules"][0]["stale_reasons"] == [
        "counter: said to be equivalent, but killed: self.limit = limit -> pass"
    ]


def test_a_reason_must_be_given_and_be_true(tmp_path: Path) -> None:
    made = list(changes().values())
    file = tmp_path / "reasons.yaml"
    file.write_text("counter:\n- mutant: a -> b\n  reason: gone\n")
    reasons = load_reasons(file)
    assert stale("counter", reasons, made, None) == ["counter: no longer a mutant: a -> b"]
    killed = {"counter": {made[0].key: "not so"}}
    assert stale("counter", killed, made, [made[0].key]) == []
    assert "but killed" in stale("counter", killed, made, [])[0]
    file.write_text("counter:\n- mutant: a -> b\n  reason: ''\n")
    with pytest.raises(ValueError, match="no reason"):
        load_reasons(file)


def test_reasons_name_modules_that_are_judged() -> None:
    assert load_reasons().keys() <= {target.module for target in TARGETS}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "names no module"),
        (" ", "names no module"),
        ("timing nosuch", "nosuch: no such module"),
    ],
)
def test_modules_that_are_none_are_refused_by_name(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=f"MODULES={words}; give some of page_table "):
        front.main(["--modules", text])


@pytest.mark.parametrize("arguments", [["--sample", "-1"], ["--jobs", "0"]])
def test_impossible_numbers_are_refused(arguments: list[str]) -> None:
    with pytest.raises(ParameterError, match=arguments[0].lstrip("-")):
        front.main(arguments)


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.module)
def test_the_module_and_the_tests_of_each_target_exist(target: Target) -> None:
    assert all(
        (ROOT / file).exists()
        for file in (f"model/{target.module.replace('.', '/')}.py", *target.tests)
    )
