"""Serving on the RTL: what ``make serve`` plays, says, leaves and refuses."""

from __future__ import annotations

import csv
import importlib
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from front_end import call, call_process

from model.serving import Request, serve
from model.serving.summary import rank
from model.serving.trace import draw_requests, read_requests, to_json
from model.studies.serving import Study
from model.trained.shape import decode
from sim.serving.job import Served, serving_job
from sim.serving.studies import rtl_cycles, study_items
from sim.shared import junit
from sim.shared.cli import run
from sim.shared.paths import ROOT
from verif.items.result import ProgramResult

TRACE = [
    Request("first", 0, [3, 1, 4, 1], 7),
    Request("second", 1, [3, 1, 4, 1, 5], 4),
    Request("third", 1, [3, 1, 4, 1], 5, stop=9),
]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results folder of three requests in both simulators."""
    folder = tmp_path_factory.mktemp("serve")
    trace = folder / "requests.json"
    trace.write_text(json.dumps(to_json(TRACE)))
    options = {"trace": trace, "pool": 7, "page": 2, "draft": 2, "rows": 6, "window": 6}
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    done = call("serving.__main__", "--compare", "--results", folder, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 of 3 requests as if alone" in done.stdout
    assert "0 mismatches, both simulators agree" in done.stdout
    return folder


def test_every_program_is_played_in_both_and_counted(played: Path) -> None:
    data = json.loads((played / "serve-compare.json").read_text())
    assert data["passed"]
    assert data["tokens"] == serve(TRACE, model="random", seed=2, window=6, sinks=2).tokens
    assert data["cycles"] == data["rtl_cycles"]
    assert data["copies"] > 0
    assert data["hits"] > 0
    assert data["comparisons"] > 2 * data["programs"] * 4096
    with open(played / "serve-compare.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == data["programs"]
    assert {row["passed"] for row in rows} == {"1"}
    assert sum(int(row["total"]) for row in rows) == data["cycles"]
    assert sum(int(row["tokens"]) for row in rows) == data["generated"]
    names = [case.name for case in junit.read(played / "serve-compare.xml")]
    assert {f"request {request.rid}" for request in TRACE} <= set(names)
    assert names.count("serve boot") == 3  # once a simulator, once for their agreement


def test_a_model_of_text_is_asked_in_text_and_says_what_it_wrote(tmp_path: Path) -> None:
    asked = {"id": "a", "arrival": 0, "prompt": "And the L", "generate": 4, "stop": "."}
    trace = tmp_path / "requests.json"
    trace.write_text(json.dumps([asked, {**asked, "id": "b", "prompt": [3, 15], "generate": 1}]))
    words = ("--trace", trace, "--pool", 4, "--window", 8, "--results", tmp_path)
    done = call_process("serving", "--model", "trained", "--sim", "verilator", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 of 2 requests as if alone" in done.stdout
    data = json.loads((tmp_path / "serve-verilator.json").read_text())
    assert data["cycles"] == data["rtl_cycles"]
    prompt, wrote = data["texts"]["a"]
    assert (prompt, wrote) == ("And the L", decode(data["tokens"]["a"]))
    assert f"request a wrote    {prompt!r} {wrote!r}" in done.stdout


def small() -> Served:
    """A served run, and what a sound simulator says of it."""
    run = serve(TRACE, model="random", seed=2, window=6, sinks=2, page=2)
    results = [ProgramResult(item.name, passed=True) for item in serving_job(run).items]
    return Served(run, results)


def test_all_programs_but_the_first_inherit_both_memories() -> None:
    first, *others = serving_job(small().run).items
    assert first.image.any()
    assert not first.inherits
    assert all(item.inherits and item.spad is None for item in others)
    assert len({item.name for item in (first, *others)}) == len(others) + 1


def test_one_bad_program_or_a_missing_one_is_no_match() -> None:
    served = small()
    assert served.matched
    last = replace(served.results[-1], passed=False)
    assert not replace(served, results=[*served.results[:-1], last]).matched
    assert not replace(served, results=served.results[:-1]).matched
    assert not replace(served, results=[]).matched


def test_tokens_and_logits_unlike_those_alone_are_named() -> None:
    served = small()
    assert served.unlike_alone == {}
    tokens = {**served.run.tokens, "second": [0, 0, 0, 0]}
    logits = {**served.run.logits, "third": served.run.logits["third"] + 1}
    wrong = replace(served, run=replace(served.run, tokens=tokens, logits=logits))
    assert wrong.unlike_alone.keys() == {"second", "third"}
    assert "tokens [0, 0, 0, 0], alone [" in wrong.unlike_alone["second"]


def test_studies_are_played_each_from_an_image_of_its_own() -> None:
    run = small().run
    studies = [Study("one", run), Study("two", run)]
    items = study_items(studies)
    assert len({item.name for item in items}) == 2 * len(run.steps)
    assert [n for n, item in enumerate(items) if not item.inherits] == [0, len(run.steps)]
    results = [ProgramResult(item.name, counters={"total": 3}) for item in items[:-1]]
    assert rtl_cycles(studies[0], results) == 3 * len(run.steps)
    assert rtl_cycles(studies[1], results) == 3 * len(run.steps) - 3


@pytest.mark.parametrize(("share", "value"), [(0.5, 2), (0.51, 3), (0.99, 4), (0.01, 1)])
def test_ranks(share: float, value: float) -> None:
    assert rank([3, 1, 4, 2], share) == value
    assert rank([], share) == 0


def test_drawn_requests_are_the_same_each_time_and_half_of_them_begin_alike() -> None:
    drawn = draw_requests(5, 200, 0.5)
    assert drawn == draw_requests(5, 200, 0.5) != draw_requests(6, 200, 0.5)
    heads = [tuple(request.prompt[:10]) for request in drawn]
    assert 80 < max(map(heads.count, heads)) < 120
    assert 350 < drawn[-1].arrival < 450
    lengths = [request.generate for request in drawn]
    assert max(lengths) == 96 > 3 * sum(lengths) / len(lengths)
    assert max(request.rows for request in draw_requests(5, 200, 0.5, 64)) < 64


def test_a_file_of_requests_is_read_as_it_was_written(tmp_path: Path) -> None:
    file = tmp_path / "requests.json"
    file.write_text(json.dumps(to_json(TRACE)))
    assert read_requests(file) == TRACE


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"prompt": [63]}, "request 'a': token = 63 is out of range: must be an integer in 0..62"),
        ({"prompt": "Zion X"}, "request 0: prompt: 'X' is no character of"),
        ({"prompt": ""}, "request 'a': prompt = [] is out of range"),
        ({"stop": "ab"}, "request 0: stop 'ab' is not one character"),
        ({"stop": 63}, "request 'a': stop = 63 is out of range"),
    ],
)
def test_what_a_model_of_text_does_not_know_is_one_line(
    tmp_path: Path, fields: Any, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "requests.json"
    file.write_text(json.dumps([{**GOOD, **fields}]))
    assert expected in refuse(capsys, "--model", "trained", "--trace", file, "--results", tmp_path)


GOOD = {"id": "a", "arrival": 0, "prompt": [1], "generate": 2}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("[{", "no JSON: "),
        ("[]", "a list of requests is wanted"),
        ({"id": "a"}, "a list of requests is wanted"),
        ([3], "request 0: 3 is no object"),
        ([GOOD, {**GOOD, "prompts": [1]}], "request 1: 'prompts' is none of id, arrival"),
        ([{"id": "a", "arrival": 0, "prompt": [1]}], "request 0: generate is missing"),
        ([GOOD, GOOD], "two requests have the id 'a'"),
        ([{**GOOD, "prompt": []}], "request 'a': prompt = [] is out of range"),
        ([{**GOOD, "prompt": [16]}], "request 'a': token = 16 is out of range"),
        ([{**GOOD, "generate": 0}], "request 'a': generate = 0 is out of range"),
        ([{**GOOD, "stop": 99}], "request 'a': stop = 99 is out of range"),
        ([{**GOOD, "arrival": "now"}], "request 'a': arrival = 'now' is out of range"),
        ([{**GOOD, "generate": 200}], "request 'a': a context of 200 rows, at most 64 fit"),
        ([{**GOOD, "generate": 60}], "request 'a': 15 pages of 4 rows, the pool has 12"),
    ],
)
def test_a_broken_trace_is_one_line(
    tmp_path: Path, content: Any, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "requests.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    assert expected in refuse(
        capsys, "--trace", file, "--window", "none", "--pool", 12, "--results", tmp_path
    )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--window", "none", "--sinks", 2), "SINKS=2: must be 0 without a window"),
        (("--window", 8, "--sinks", 8), "SINKS=8: must be an integer in 0..7"),
        (("--window", "all"), "'all' is not a whole number"),
        (("--window", 65), "WINDOW=65: must be"),
        (("--rate", 0), "RATE=0.0: must be a number above 0"),
        (("--rate", "often"), "'often' is not a number"),
        (("--requests", 0), "REQUESTS=0: must be an integer of at least 1"),
        (("--admission", "greedy"), "ADMISSION=greedy: must be one of one page, expected"),
        (("--trace", "nowhere.json"), "nowhere.json: No such file"),
        (("--trace", "x.json", "--rate", 1), "RATE= has no effect beside TRACE="),
        (("--pool", 10**6), "POOL=1000000: must be at most"),
        (("--rows", 65), "ROWS=65: must be"),
        (("--model", "trained-int4"), "MODEL=trained-int4: must be one of structured, random"),
        (("--model", "trained", "--pool", 99), "POOL=99: must be at most 86 pages of 4 rows"),
        (("--model", "trained", "--rows", 16), "16 rows a step beside contexts of 8 rows do not"),
    ],
)
def test_bad_options_are_one_line(
    words: tuple[Any, ...], expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert expected in refuse(capsys, *words, "--results", tmp_path)


def refuse(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """Call the front end, which must refuse with one line, and return it."""
    main = importlib.import_module("sim.serving.__main__").main
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["serve", *map(str, words)])
        patch.chdir(ROOT)
        with pytest.raises(SystemExit) as ended:
            run("serve", main)
    shown = capsys.readouterr()
    assert ended.value.code == 2
    assert shown.out == ""
    assert len(shown.err.splitlines()) == 1, shown.err
    return shown.err
