"""The trace of a program's instructions, against the counters of the RTL and of the model."""

from __future__ import annotations

import csv
import json
from itertools import pairwise
from pathlib import Path

import pytest
from front_end import call

from model.chip.assembler import assemble
from model.chip.machine import Machine
from model.chip.timing import unit_of
from sim.programs.trace import COUNTED, FRONT, trace_events
from sim.shared.paths import ROOT


def busy_by_counter(events):
    sums = dict.fromkeys(COUNTED.values(), 0)
    for event in events:
        if event.get("cat") in sums:
            sums[event["cat"]] += event["dur"]
    return sums


def check_timing(events, counters):
    """The sums are the counters, and no cycle between start and halt is without its event."""
    spans = sorted((e["ts"], e["ts"] + e["dur"]) for e in events if e["ph"] == "X")
    assert spans[0][0] == 0
    assert all(before[1] == after[0] for before, after in pairwise(spans))
    assert spans[-1][1] == counters["total"]
    assert busy_by_counter(events) == {f"cyc_{n}": counters[n] for n in ("mm", "dma", "vec")}
    fronts = [e for e in events if e.get("cat") == "front"]
    assert all(e["dur"] == 2 for e in fronts)


def trace(tmp_path: Path, *arguments: str):
    out = tmp_path / "out.trace.json"
    done = call("programs.trace", "--out", out, *arguments)
    return done, json.loads(out.read_text()) if out.exists() else None


def test_trace_of_the_rtl_adds_up_to_its_counters(tmp_path):
    program = "examples/attention.asm"
    done, data = trace(tmp_path, "--program", program, "--ext", "examples/attention.hex")
    assert done.returncode == 0, done.stdout + done.stderr
    events = data["traceEvents"]
    check_timing(events, data["otherData"]["counters"])
    words = assemble((ROOT / program).read_text())
    fronts = [e for e in events if e.get("cat") == "front"]
    halts = [e for e in fronts if e["name"] == "HALT"]
    assert len(halts) == 1
    assert len(fronts) == data["otherData"]["counters"]["n_inst"] + 1
    assert [e["args"]["pc"] for e in fronts] == list(range(len(fronts)))
    # A trailing HALT may be left out in the source: past the program everything is HALT.
    assert len(words) in (len(fronts), len(fronts) - 1)
    assert fronts[0]["args"]["instruction"].startswith(fronts[0]["name"])


def test_every_event_lies_on_the_track_of_its_unit():
    program = assemble("LD dst=0 src=0 len=4\nSM dst=8 src=0 len=4\nMM dst=16 A=0 B=4 M=2 K=2 N=1")
    run = Machine().run(program, [1, 2, 3, 4])
    events = trace_events(program, [(r.pc, r.op, r.fault, r.busy) for r in run.retires])
    names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert names[0] == FRONT
    assert len(names) == 9
    check_timing(events, vars(run.counters))
    busy = [e for e in events if e["ph"] == "X" and e["tid"]]
    assert [names[e["tid"]] for e in busy] == ["LD (dma)", "SM (vec)", "MM (mm)"]
    assert [e["cat"] for e in busy] == [COUNTED[unit_of(e["tid"])] for e in busy]
    assert [e["args"]["cycles"] for e in busy] == [e["dur"] + 2 for e in busy]


def test_a_fault_ends_the_trace_with_its_name(tmp_path):
    source = tmp_path / "fault.asm"
    source.write_text("LD dst=0 src=0 len=4\nLD dst=4095 src=0 len=4\nHALT\n")
    done, data = trace(tmp_path, "--program", str(source))
    assert done.returncode == 0, done.stdout + done.stderr
    events = data["traceEvents"]
    check_timing(events, data["otherData"]["counters"])
    last = events[-1]
    assert last["args"]["fault"] == "ADDRESS"
    assert last["args"]["pc"] == 1
    assert not any(e["name"] == "HALT" for e in events)


@pytest.mark.parametrize("reset", [["--reset-at", "5"]])
def test_a_run_with_a_reset_is_refused(tmp_path, reset):
    done, data = trace(tmp_path, "--program", "examples/copy.asm", *reset)
    assert (done.returncode, data) == (2, None)
    assert "RESET_AT" in done.stderr


def test_decode_writes_its_counters_as_csv(tmp_path):
    done = call("decode.__main__", "--windows", "none 2", "--steps", 3, "--results", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads((tmp_path / "decode-icarus.json").read_text())
    with open(tmp_path / "decode-icarus.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["window"], row["step"]) for row in rows] == [
        (window, str(step)) for window in ("none", "2") for step in (1, 2, 3)
    ]
    for row in rows:
        step = figures["windows"][row["window"]]["steps"][int(row["step"]) - 1]
        names = ("ctx", "total", "mm", "dma", "vec", "n_inst", "pages")
        assert {name: int(row[name]) for name in names} == step
        assert int(row["total"]) == sum(int(row[n]) for n in ("mm", "dma", "vec", "fetch_issue"))
    last = json.loads((tmp_path / "decode-icarus.trace.json").read_text())
    total = figures["windows"]["none"]["steps"][2]["total"]
    check_timing(last["traceEvents"], last["otherData"]["counters"])
    assert last["otherData"]["counters"]["total"] == total
