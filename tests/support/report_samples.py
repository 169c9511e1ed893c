"""Result files of every kind for the report, most of them written by the tools' own code."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from regress_samples import make_jobs, make_plan

from model.decode.workload import compile_decode
from sim.decode.exports import write_longest_trace
from sim.decode.job import WindowOutcome
from sim.regress import buckets, history, reports, summary
from sim.regress.records import Failure, JobRecord
from sim.report.sources import Sources
from sim.shared.files import write_json
from sim.shared.outcome import Outcome
from sim.shared.test_log import record
from sim.speed.__main__ import Flows, Rates
from verif.items.result import ProgramResult
from verif.plan import load_plan

# What must come out as text, not as markup.
NASTY = "expected </script><script>document.title='broken'</script> & <b>3</b>, got 4"
STEPS = 10


def decode(results: Path) -> None:
    """A decode that passed, without a simulator: the model's counters stand for the RTL's."""
    runs = {window: compile_decode(window=window, steps=STEPS) for window in (None, 4)}
    outcomes = {}
    for window, run in runs.items():
        played = [
            ProgramResult(f"step {s.step}", passed=True, counters=vars(s.counters))
            for s in run.steps
        ]
        outcomes[window] = WindowOutcome(run, played)
    first = runs[None].params
    data = {
        **{"simulator": "icarus", "simulator_version": "11.0", "passed": True},
        **{"comparisons": 1_234_567, "mismatches": 0, "seconds": 1.5, "latency": first.latency},
        **{"model": first.model, "seed": first.seed, "start": first.start},
        **{"page": first.page, "pool": first.pool},
        "windows": {str(w or "none"): outcome.to_json() for w, outcome in outcomes.items()},
    }
    write_json(results / "decode-icarus.json", data)
    write_longest_trace(results, "icarus", outcomes)


def coverage(results: Path) -> None:
    """Coverage with a hole of each kind."""
    figure = {"total": 4, "hit": 4, "excluded": 0, "percent": 100.0}
    hole = {**figure, "hit": 3, "percent": 75.0}
    point = {"about": "a point", "bins": 3, "hit": 2, "percent": 66.67}
    hits = {"one": 5, "two": 1200, "three": 0}
    code = {
        "kinds": {"line": {**hole, "goal": 100.0}, "branch": figure, "toggle": figure},
        "files": {
            "ga2.sv": {
                **{"line": hole, "branch": figure, "toggle": {**figure, "total": 0}},
                "holes": [{"line": 7, "kind": "line", "what": "<never>", "text": "a <= b;"}],
            }
        },
        "exclusions": [{"what": "toggle of x", "reason": "tied to zero", "items": 2}],
    }
    data = {
        **{"passed": False, "problems": ["line coverage 75.00%, goal 100%"], "seconds": 1.0},
        "runs": [{"simulator": "verilator", "name": "r", "programs": 2, "failed": 0, "seconds": 1}],
        "functional": {
            **{"goal": 100.0, "percent": 66.67, "bins": 3, "hit": 2, "simulators": {}},
            "points": {
                "p": {**point, "holes": ["three"], "excluded": {"four": "no way"}, "hits": hits}
            },
        },
        "code": code,
    }
    write_json(results / "coverage.json", data)


def studies(results: Path) -> None:
    """Studies, cut short."""
    data = {
        "event_log": [
            {"step": 1, "gathered": [], "table": [0], "dropped": 0, "free": [1]},
            {"step": 2, "gathered": [0], "table": [1, 0], "dropped": 1, "free": []},
        ],
        "memory": [
            *(
                {"scheme": s, "requests": r, "used": 10, "reserved": 20, "wasted": w}
                for s, r, w in (("contiguous", 4, 0.875), ("page 4", 34, 0.008))
            ),
        ],
        "prefix_sharing": [
            {"prompt": 96, "page_rows": 16, "copied": 72, "shared": 30, "copy_on_write": 0}
        ],
        "window_accuracy": [
            {"window": w, "agreeing": a, "tokens": 1152, "error": e}
            for w, a, e in ((2, 824, 0.3), (24, 1152, 0.0))
        ],
        "serving": [
            {
                "context": c,
                "full_bytes": c << 18,
                "window_bytes": 1 << 30,
                "full_batch": f,
                "window_batch": 67,
            }
            for c, f in ((8192, 33), (32768, 8))
        ],
    }
    write_json(results / "studies.json", data)


def bench(results: Path) -> None:
    """Speeds of which one misses its target."""
    plain, fast, slow = (Rates(list(r), list(r)) for r in ((9e5, 1e6), (1.1e6, 1e6), (8e5, 9e5)))
    target = {"target": 1.0, "measured": 1.1, "reached": True}
    data = {
        "flows": {
            "verilator": Flows(plain, plain, fast).figures(),
            "icarus": Flows(plain, plain, slow).figures(),
        },
        "model_cycles_per_second": 1e7,
        "targets": {"verilator": target, "icarus": {**target, "measured": 0.9, "reached": False}},
    }
    write_json(results / "bench.json", data)
    noop = {"jobs": 100, "start_seconds": 0.1, "seconds": 0.5, "ms_per_job": 5.0}
    write_json(results / "bench-regress.json", {"noop": noop})


def mutation(folder: Path) -> None:
    """A campaign with one of each fate."""
    mutants: list[dict[str, Any]] = [
        {
            **{"number": n, "kind": "swap", "description": "a -> b", "status": status},
            **{"file": "ga2_vadd.sv", "line": n, "checks": checks},
        }
        for n, (status, checks) in enumerate(
            [("killed", ["memory"]), ("killed", ["retire"]), ("proven", []), ("open", [])]
        )
    ]
    write_json(folder / "report.json", {"mutants": mutants})


def formal(results: Path) -> None:
    """A property that is proved, and one whose mutant went unnoticed."""
    one = {
        **{"property": "busy_time", "module": "ga2_vadd", "engine": "smtbmc", "bound": "unbounded"},
        **{"seconds": 3.2, "verdict": "proved", "mutant": "fails (1.0 s)"},
    }
    two = {**one, "property": "done_once", "mutant": "NOT NOTICED (proved)"}
    stamp = {"path": "hw/rtl", "hash": "a1", "revision": "", "dirty": False}
    figures = {"design": stamp, "passed": False, "properties": [one, two]}
    write_json(results / "formal.json", figures)


def regression(base: Path, broken: bool) -> None:
    """Two regressions in the history, the latest with three failures in two buckets if broken."""
    specs = {spec.id: spec for spec in make_jobs(6, simulator="icarus")}
    for number, bad in enumerate([False, broken]):
        records = [
            JobRecord(
                name, Outcome.PASSED, 1.0 + index, 1e9, programs=3, cycles=4000, comparisons=50
            )
            for index, name in enumerate(specs)
        ]
        for index, record_ in enumerate(records[:3] if bad else []):
            text = NASTY if index < 2 else "counter cyc_mm differs"
            record_.status = Outcome.FAILED
            record_.failures = [Failure("memory", text, "pc 3: MM dst=0")]
        run = f"smoke-{number}"
        rerun = f"make regress-rerun RUN={run} JOB="
        found = buckets.collect(specs, records, rerun)
        started = 1.7e9 + 3600 * number
        plan = make_plan(list(specs.values()), run, suite="smoke", started=started, slots=2)
        result = summary.summarize(plan, records, found, summary.COMPLETE, 9.0)
        folder = base / run
        folder.mkdir(parents=True)
        assert not reports.write_all(
            folder, result, specs, {one.id: one for one in records}, found, rerun
        )
        history.record(base / "history.sqlite", result, specs, records, found)
        time.sleep(0.01)  # the latest is told by its time


def testplan(results: Path) -> None:
    """One test that passed, one that failed."""
    tests = [t for f in load_plan().features.values() for t in f.tests if "*" not in t]
    record("icarus", {tests[0]: (True, 3), tests[1]: (False, 1)}, results)


def everything(folder: Path, broken: bool = True) -> Sources:
    """Results of every tool in a folder."""
    results = folder / "results"
    results.mkdir(parents=True)
    for make in (decode, coverage, studies, bench, formal, testplan):
        make(results)
    (folder / "mutate").mkdir()
    mutation(folder / "mutate")
    regression(folder / "regress", broken)
    assert all(json.loads(path.read_text()) for path in results.glob("*.json"))
    return Sources(results, folder / "regress", folder / "mutate")
