"""The studies against recorded data and the figures of the manual."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from model.studies import paging as study
from model.studies.__main__ import main, run_studies

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    return run_studies()


@pytest.fixture(scope="module")
def recorded() -> dict[str, Any]:
    data: dict[str, Any] = json.loads((GOLDEN / "paging_studies.json").read_text())
    return data


def test_event_log(results: dict[str, Any]) -> None:
    assert results["event_log"] == json.loads((GOLDEN / "page_table_log.json").read_text())["log"]
    last = results["event_log"][-1]
    assert last["table"] == [2, 0]
    released = {e["step"]: e["dropped"] for e in results["event_log"]}
    assert [released[step] for step in (8, 9, 12, 13)] == [0, 1, 1, 2]


def test_fork_log() -> None:
    forked, appended, released = study.fork_log()
    assert forked.tables == {"parent": [0, 1, 2], "fork": [0, 1, 2]}
    assert appended.tables == {"parent": [0, 1, 2], "fork": [0, 1, 3]}
    assert appended.owners == {0: 2, 1: 2, 2: 1, 3: 1}
    assert released.free == [3, 4, 5, 6, 7]


def test_memory(results: dict[str, Any], recorded: dict[str, Any]) -> None:
    lengths = results["lengths"]
    assert (lengths["count"], round(lengths["mean"]), lengths["median"], lengths["max"]) == (
        400,
        274,
        194,
        1884,
    )
    contiguous, *paged = results["memory"]
    key = ("requests", "used", "reserved")
    assert [contiguous[k] for k in key] == recorded["contig"]
    assert f"{contiguous['wasted']:.1%}" == "87.5%"
    got = {m["scheme"].removeprefix("page "): [m[k] for k in key] for m in paged}
    assert got == recorded["paged"]


def test_prefix_sharing(results: dict[str, Any], recorded: dict[str, Any]) -> None:
    got = {
        f"{s['prompt']}/{s['page_rows']}": [s["copied"], s["shared"], s["copy_on_write"]]
        for s in results["prefix_sharing"]
    }
    assert got == recorded["share"]


def test_window_accuracy(results: dict[str, Any], recorded: dict[str, Any]) -> None:
    got = {
        str(w["window"]): [w["agreeing"], w["tokens"], w["error"]]
        for w in results["window_accuracy"]
    }
    assert got == recorded["win"]  # to the last bit


def test_serving(results: dict[str, Any], recorded: dict[str, Any]) -> None:
    fields = ("full_bytes", "window_bytes", "full_batch", "window_batch")
    got = {str(s["context"]): [s[field] for field in fields] for s in results["serving"]}
    assert got == recorded["serve"]


def test_tables_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "deep" / "studies.json"
    assert main(["--json", str(path)]) == 0
    printed = capsys.readouterr().out
    for figure in ("87.5%", "7,852", "30.3%", "[2, 0]", "135"):
        assert figure in printed
    assert json.loads(path.read_text())["window_accuracy"][0]["agreeing"] == 824


def test_runs_as_a_module(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "model.studies", "--json", str(tmp_path / "s.json")],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "results written to" in done.stdout
