"""The studies against recorded data and the figures of the manual."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from model.studies import paging as study
from model.studies.serving import ALONE, BATCHES

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, Any]]:
    """What ``python -m model.studies`` prints, and the results that it leaves."""
    path = tmp_path_factory.mktemp("studies") / "deep" / "studies.json"
    done = subprocess.run(
        [sys.executable, "-m", "model.studies", "--json", str(path)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "results written to" in done.stdout
    return done.stdout, json.loads(path.read_text())


@pytest.fixture(scope="module")
def results(printed: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return printed[1]


@pytest.fixture(scope="module")
def served() -> dict[str, Any]:
    data: dict[str, Any] = json.loads((GOLDEN / "serving.json").read_text())
    return data


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


def test_tables(printed: tuple[str, dict[str, Any]]) -> None:
    for figure in ("87.5%", "7,852", "30.3%", "[2, 0]", "135", "6,549", "89,991"):
        assert figure in printed[0]


def test_admission(results: dict[str, Any], served: dict[str, Any]) -> None:
    assert results["admission"] == served["admission"]


def test_alignment(results: dict[str, Any], served: dict[str, Any]) -> None:
    names = ("prompt", "page_rows", "copied", "shared", "copy_on_write", "padded")
    got = [[item[name] for name in names] for item in results["prefix_sharing"]]
    assert got == [list(item.values()) for item in served["alignment"]]


def test_page_sizes(results: dict[str, Any], served: dict[str, Any]) -> None:
    assert results["page_sizes"] == served["page_sizes"]


def test_sinks(results: dict[str, Any], served: dict[str, Any]) -> None:
    assert len(results["sink_accuracy"]) == len(served["accuracy"])
    for item in results["sink_accuracy"]:
        want = served["accuracy"][f"{item['window']}/{item['sinks']}"]
        assert (item["agreeing"], item["tokens"]) == (want["agreeing"], want["tokens"])
        # The mean of 1,152 errors: two ways to add up an attention differ in its last bit.
        assert item["error"] == pytest.approx(want["error"], rel=1e-15)


def test_cycles_of_a_token_fall_with_the_batch_and_stay_above_the_matrix_unit(
    results: dict[str, Any],
) -> None:
    costs = results["serving_cycles"]
    assert all(cost["cycles"] > cost["matrix"] > 0 for cost in costs)
    batches = [c["cycles"] for c in costs if c["study"] == "batch" and c["window"] == 8]
    assert batches == sorted(batches, reverse=True)
    reached = {1: 0.72, 8: 0.38, 16: 0.37}
    for batch, cycles in zip(BATCHES, batches, strict=True):
        assert cycles <= reached.get(batch, 1) * ALONE
    loaded = [c["cycles"] for c in costs if c["study"] == "loaded"]
    saved = [b - a for a, b in zip(batches, loaded, strict=True)]
    assert saved == sorted(saved, reverse=True)
    assert 2300 < saved[0] < 2400  # of one request; many share it


def test_trace_is_crowded(results: dict[str, Any]) -> None:
    trace = results["serving_trace"]
    assert trace["preemptions"] > 0
    assert trace["hits"] > 0
    assert trace["peak_pages"] == trace["options"]["pool"]
    assert trace["timeline"][-1]["cycle"] == trace["cycles"]
