"""Mutants of the model: which are made, and what is said of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from sim.mutate_model.generate import Mutant, generate
from sim.mutate_model.run import MutationError, Runner, Verdict
from sim.mutate_model.survivors import load_reasons, stale
from sim.mutate_model.targets import TARGETS

ROOT = Path(__file__).parent.parent

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
from toy.counter import Counter

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
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "__init__.py").touch()
    (tmp_path / "test_toy.py").write_text(TESTS)
    monkeypatch.syspath_prepend(tmp_path)
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


def test_each_verdict(toy: Path) -> None:
    made = changes()
    wanted: dict[str, Verdict] = {
        "self.now += 1 -> self.now += 2": "killed",
        "self.limit = limit -> pass": "survived",
        "self.now -= 4 -> pass": "timeout",
    }
    runner = Runner(toy, ["test_toy.py"], "toy")
    runner.baseline("counter", SOURCE)
    runner.limit = 4.0
    got: dict[str, Verdict] = {}

    def done(mutant: Mutant, verdict: Verdict) -> None:
        got[mutant.key] = verdict

    runner.run([made[key] for key in wanted], 3, done)
    # A busy machine may end the others by time, but never calls a killed one a survivor.
    assert got["self.limit = limit -> pass"] in ("survived", "timeout")
    assert got["self.now += 1 -> self.now += 2"] in ("killed", "timeout")
    assert got["self.now -= 4 -> pass"] == "timeout"


def test_tests_that_fail_unchanged_are_an_error(toy: Path) -> None:
    with pytest.raises(MutationError, match="before anything is changed"):
        Runner(toy, ["test_toy.py"], "toy").baseline("counter", SOURCE.replace("+= 1", "+= 2"))


def test_a_reason_must_be_given_and_be_true(tmp_path: Path) -> None:
    made = list(changes().values())
    file = tmp_path / "reasons.yaml"
    file.write_text("counter:\n- mutant: a -> b\n  reason: gone\n")
    reasons = load_reasons(file)
    assert stale("counter", reasons, made, None) == ["counter: no longer a mutant: a -> b"]
    killed = {"counter": {made[0].key: "not so"}}
    assert stale("counter", killed, made, made[:1]) == []
    assert "but killed" in stale("counter", killed, made, [])[0]
    file.write_text("counter:\n- mutant: a -> b\n  reason: ''\n")
    with pytest.raises(ValueError, match="no reason"):
        load_reasons(file)


def test_reasons_name_modules_that_are_judged() -> None:
    assert load_reasons().keys() <= {target.module for target in TARGETS}


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.module)
def test_the_tests_of_each_module_exist(target: object) -> None:
    for test in target.tests:  # type: ignore[attr-defined]
        file, _, name = test.partition("::")
        text = (ROOT / file).read_text()
        assert not name or f"def {name}(" in text
