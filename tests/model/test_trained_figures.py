"""The trained model's training, its integers on the machine, and the figures it is measured by."""

from __future__ import annotations

import json
import math
import zipfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model.checks.software_checks import software_checks
from model.decode.float_decode import float_decode
from model.decode.models import TRAINED_DEPTH, calibration_of
from model.decode.text_calibration import calibration_tokens, text_ranges
from model.decode.workload import DecodeParams
from model.studies import trained as study
from model.trained import corpus as corpora
from model.trained.corpus import Corpus, CorpusError, divide, n_gram_bits, read_wheel
from model.trained.files import DATA
from model.trained.lm import KINDS, trained_lm
from model.trained.network import initial_weights, score_bias
from model.trained.shape import ALPHABET, decode, encode
from model.trained.training import Settings, Training, mean_bits

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "trained.json").read_text())
TRAINING = json.loads((DATA / "training.json").read_text())


def text_streams(count: int, length: int) -> Any:
    return study.held_out()[:count, :length]


def small_corpus(size: int = 3000) -> Corpus:
    text = (DATA / "held_out.txt").read_text()
    tokens = np.array(encode(text), dtype=np.uint8)
    return Corpus(tokens[:size], tokens[-650:].reshape(10, 65), text[:650], text[:2048])


# -- integers, programs, machine -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "window", "sinks"),
    [("trained", None, 0), ("trained", 8, 2), ("trained-window16", 16, 0), ("trained-int4", 8, 1)],
)
def test_measured_integers_are_those_of_programs_on_the_machine(
    kind: str, window: int | None, sinks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    streams = text_streams(3, 30)
    monkeypatch.setattr(study, "held_out", lambda: streams)
    study._logits.cache_clear()
    try:
        assert study.equals_machine(kind, window, sinks)
        # The comparison notices a model that is run in another way.
        other = study.stream_logits(
            trained_lm(kind), study.machine_step(kind, 2), streams[:1, :6], study.Visible(2)
        )
        want = study._logits(kind, "integer", window, sinks)
        assert not all(np.array_equal(a[0], b[0]) for a, b in zip(other, want, strict=False))
    finally:
        study._logits.cache_clear()


def test_ranges_cover_the_calibration_text() -> None:
    lm = trained_lm("trained")
    by_name, tags = text_ranges(lm)
    assert calibration_tokens().shape == (64, 32)
    calibration = calibration_of(lm, None, 5)
    assert sorted(calibration.ranges) == [1, 2, 3, 4, 5]
    for step in float_decode(lm, None, 5, calibration_tokens()[0].tolist(), calibration_tokens()):
        for node, value, known in zip(
            step.graph.nodes, step.values, calibration.ranges[step.context], strict=True
        ):
            assert np.abs(value).max() <= known == by_name[node.name]
    assert tags["score"] == 127 / 16
    assert {tag: by_name[tag] for tag in tags if tag != "score"} == {
        tag: value for tag, value in tags.items() if tag != "score"
    }


@pytest.mark.parametrize("kind", KINDS)
def test_the_software_checks_hold_for_trained_models(kind: str) -> None:
    params = DecodeParams(kind, steps=6, depth=TRAINED_DEPTH)
    checks = software_checks(params, (None, 3))
    verdicts = {check.name: (check.verdict, check.detail) for check in checks}
    assert {name for name, (verdict, _) in verdicts.items() if verdict == "skip"} == {
        "tokens follow the rule",
        "buffer reuse changes nothing",
    }
    assert "scratchpad: asked for" in verdicts["buffer reuse changes nothing"][1]
    assert not {name for name, (verdict, _) in verdicts.items() if verdict == "fail"}


# -- figures -------------------------------------------------------------------------------------


def recorded(kind: str, window: int | None, sinks: int) -> dict[str, Any]:
    (row,) = (
        row
        for row in GOLDEN["rows"]
        if (row["model"], row["window"], row["sinks"]) == (kind, window, sinks)
    )
    return dict(row)


@pytest.mark.parametrize(
    ("kind", "window", "sinks"), [("trained", 4, 1), ("trained-window16", 8, 0)]
)
def test_figures_are_the_recorded_ones_to_the_last_bit(
    kind: str, window: int | None, sinks: int
) -> None:
    row = recorded(kind, window, sinks)
    study._logits.cache_clear()
    for numbers in ("float", "integer"):
        assert vars(study.measure(kind, numbers, window, sinks)) == row[numbers]


def test_the_chip_is_within_a_twentieth_of_a_bit_of_float() -> None:
    rows = GOLDEN["rows"]
    settings = {(row["model"], row["window"], row["sinks"]) for row in rows}
    wanted = {(kind, *each) for kind in KINDS[:2] for each in study.settings()}
    assert wanted < settings
    for row in rows:
        assert row["machine"], row
        if row["model"] != "trained-int4":
            assert abs(row["integer"]["bits"] - row["float"]["bits"]) <= 0.05, row


def test_the_model_has_learned() -> None:
    full = recorded("trained", None, 0)["float"]["bits"]
    grams = {gram["order"]: gram["bits"] for gram in TRAINING["n_grams"]}
    assert TRAINING["uniform"] == math.log2(63)
    assert full < grams[3] < grams[2] < grams[1] < TRAINING["uniform"]
    for kind, name in (("trained", "full"), ("trained-window16", "window16")):
        published = TRAINING["weights"][name]
        here = recorded(kind, published["window"], 0)["float"]["bits"]
        assert here == pytest.approx(published["held_out"], rel=1e-3)


def test_what_ships_is_small_and_kept_from_training() -> None:
    assert sum(path.stat().st_size for path in DATA.iterdir()) < 300_000
    text = (DATA / "held_out.txt").read_text()
    assert len(text) == 64 * 65 >= 4000
    assert text.startswith(corpora.KEPT_FROM)
    assert study.held_out().shape == (64, 65)


# -- text, baselines, training ---------------------------------------------------------------------


def wheel_with(text: str, folder: Path) -> Path:
    path = folder / "text.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(corpora.MEMBER, f"short = 'x'\nlong = {text!r}\n")
    return path


def test_a_text_is_taken_out_of_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpora, "CHARACTERS", 18)
    path = wheel_with("\nthe [dry] land\u2019s Cæsar\n", tmp_path)
    with pytest.raises(CorpusError, match="21 characters, '' outside the alphabet; 18 and none"):
        read_wheel(path)
    monkeypatch.setattr(corpora, "CHARACTERS", 21)
    assert read_wheel(path) == "the dry land's Caesar"
    with pytest.raises(CorpusError, match=r"'\{' outside the alphabet"):
        read_wheel(wheel_with("a{" * 20, tmp_path))


def test_the_text_is_divided_into_parts_that_do_not_meet() -> None:
    start = 70_000
    text = "".join(ALPHABET[i * i % 61] for i in range(start)) + corpora.KEPT_FROM
    text += "".join(ALPHABET[i % 59] for i in range(200_000))
    parts = divide(text)
    assert parts.training.size == len(text) - 120_000
    assert decode(parts.training[:50].tolist()) == text[:50]
    assert decode(parts.training[start : start + 9].tolist()) == text[190_000:190_009][:9]
    assert parts.held_out == text[start : start + 4160]
    assert decode(parts.validation[0].tolist()) == text[start + 4160 : start + 4225]
    assert parts.validation.shape == (400, 65)
    assert parts.calibration == text[:2048]
    with pytest.raises(CorpusError, match="is not inside the text of 9 characters"):
        divide("too short")


def plain_n_gram(text: list[int], history: list[int], target: int, order: int) -> float:
    """Witten-Bell by recursion over plain counts."""
    if order == 0:
        return 1 / 63
    if len(history) < order - 1:
        return plain_n_gram(text, history, target, order - 1)
    context = history[len(history) - order + 1 :]
    followers = Counter(
        text[i + order - 1]
        for i in range(len(text) - order + 1)
        if text[i : i + order - 1] == context
    )
    below = plain_n_gram(text, history, target, order - 1)
    if not followers:
        return below
    kinds = len(followers)
    return (followers[target] + kinds * below) / (followers.total() + kinds)


@pytest.mark.parametrize("order", [1, 2, 4])
def test_n_grams_are_those_of_plain_counts(order: int) -> None:
    corpus = small_corpus(600)
    streams = text_streams(64, 65)[-3:, :20]
    bits, counts = n_gram_bits(corpus.training, streams, order)
    text = corpus.training.tolist()
    want = [
        -math.log2(plain_n_gram(text, stream[:place], stream[place], order))
        for stream in streams.tolist()
        for place in range(1, 20)
    ]
    assert bits == pytest.approx(sum(want) / len(want))
    grams = {tuple(text[i : i + n]) for n in range(1, order + 1) for i in range(601 - n)}
    assert counts == len(grams)


QUICK = Settings(steps=24, batch=4, every=6, warm_up=4)


def test_training_lowers_the_loss_and_repeats_itself() -> None:
    first, again = (Training(small_corpus(), 8, QUICK) for _ in range(2))
    looks = [look for _, look in first.run() if look]
    assert [look.step for look in looks] == [6, 12, 18, 24] == [look.step for look in first.looks]
    assert looks[-1].validation < looks[0].validation < math.log2(63) + 0.1
    assert [number for number, _ in again.run()] == list(range(1, 25))
    assert again.looks == looks
    assert not first.stopped_early
    best = min(looks, key=lambda look: look.validation)
    assert first.validate(first.best) == best.validation
    other = Training(small_corpus(), 8, replace(QUICK, seed=2))
    list(other.run())
    assert other.looks != looks


def test_training_stops_where_the_loss_grows_and_keeps_the_best() -> None:
    training = Training(small_corpus(), None, replace(QUICK, steps=60, rate=0.12, patience=2))
    list(training.run())
    validations = [look.validation for look in training.looks]
    assert training.stopped_early
    assert len(validations) < 10
    assert validations.index(min(validations)) == len(validations) - 3
    assert training.validate(training.best) == min(validations)


def test_the_mean_loss_of_equal_chances_is_that_of_the_alphabet() -> None:
    weights = {name: np.zeros_like(w) for name, w in initial_weights(1).items()}
    streams = small_corpus().validation
    assert mean_bits(weights, streams, score_bias(64, None).astype(np.float32)) == pytest.approx(
        math.log2(63)
    )
