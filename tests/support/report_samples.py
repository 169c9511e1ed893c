"""Result files of every kind for the report, most of them written by the tools' own code."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
from coverage_samples import A_BIT_2, measured, report
from regress_samples import make_jobs, make_plan
from rich.console import Console

from model.decode.workload import compile_decode
from model.serving import Request, serve
from model.serving.records import Run
from model.serving.summary import summarize
from model.studies.admission import admission
from sim.decode.exports import write_longest_trace
from sim.decode.job import WindowOutcome
from sim.engine.design import own_design
from sim.mutate.common.finding import EXPLAINED, KILLED, OPEN, PROVEN, Finding
from sim.mutate.common.summary import Row, Score, scores_by
from sim.mutate.model.report import ModuleReport
from sim.mutate.model.targets import TARGETS
from sim.mutate.proofs.report import (
    EQUIVALENT,
    HOLE,
    NOT_KNOWN,
    REFUTED,
    UNDECIDED,
    UNTRIED,
    FormalRow,
    FormalSummary,
)
from sim.mutate.realistic.__main__ import Detection, record
from sim.mutate.realistic.__main__ import report as report_faults
from sim.mutate.realistic.faults import load_faults
from sim.mutate.rtl.mutant import Mutant
from sim.mutate.rtl.report import Summary
from sim.regress import buckets, history, reports, summary
from sim.regress.inputs import Inputs, Stamp
from sim.regress.records import Failure, JobRecord
from sim.report.sources import Sources
from sim.shared.files import write_json
from sim.shared.outcome import Outcome
from sim.shared.results import ResultFiles
from sim.shared.test_log import record as record_tests
from sim.speed.flows import Flows, Rates
from verif.items.result import ProgramResult
from verif.plan import load_plan

# What must come out as text, not as markup.
NASTY = "expected </script><script>document.title='broken'</script> & <b>3</b>, got 4"
STEPS = 10
OWN = own_design().to_json()


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
        **{"simulator": "icarus", "simulator_version": "11.0", "passed": True, "design": OWN},
        **{"comparisons": 1_234_567, "mismatches": 0, "seconds": 1.5, "latency": first.latency},
        **{"model": first.model, "seed": first.seed, "start": first.start},
        **{"page": first.page, "pool": first.pool},
        "windows": {str(w or "none"): outcome.to_json() for w, outcome in outcomes.items()},
    }
    write_json(results / "decode-icarus.json", data)
    write_longest_trace(results, "icarus", outcomes, OWN)


def coverage(results: Path) -> None:
    """Coverage with a hole of each kind."""
    with TemporaryDirectory() as folder:
        code = measured(Path(folder), A_BIT_2)
    data = {"design": OWN, **report(code, holes=True).to_json()}
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
            {
                "prompt": 96,
                "page_rows": 16,
                "copied": 72,
                "shared": 30,
                "copy_on_write": 0,
                "padded": 30,
            }
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
        "sink_accuracy": [
            {"window": 8, "sinks": s, "agreeing": a, "tokens": 1152, "error": 0.1}
            for s, a in ((0, 951), (2, 1034), (3, 1053))
        ],
        "page_sizes": [{"page_rows": 4, "pages": 2, "rows_reserved": 8}],
        "admission": [asdict(admission("one page", [40, 30]))],
        "serving_cycles": [
            {"study": study, "batch": 8, "window": w, "page": 4, "rows": 16, "draft": 2}
            | {"cycles": 2764.4, "matrix": 1996.0}
            for study in ("batch", "loaded", "page", "chunk", "draft")
            for w in (8, 4, None)
        ],
        "serving_trace": summarize(served()),
    }
    write_json(results / "studies.json", data)


def trained(results: Path) -> None:
    """The trained model, two ways to decode it and a sixteenth of what operands it brings."""

    def measured(bits: float, agreeing: int) -> dict[str, Any]:
        return {"bits": bits, "agreeing": agreeing, "predictions": 4096, "error": 0.03}

    def row(model: str, window: int | None, bits: float) -> dict[str, Any]:
        chip = measured(bits + 0.02, 3800)
        way = {"model": model, "window": window, "sinks": 0, "machine": True}
        return {**way, "float": measured(bits, 4096), "integer": chip}

    counters = {"total": 52347, "mm": 30654, "dma": 19316, "vec": 1839, "n_inst": 268}
    cost = {"context": 4, "counters": counters, "loaded": 900, "unpacked": 0, "cache_words": 384}
    data = {
        "passed": True,
        "rows": [
            row("trained", None, 2.125),
            row("trained", 4, 2.224),
            row("trained-window16", 4, 2.291),
            row("trained-int4", 4, 2.5),
        ],
        "baselines": {"uniform": 5.977, "n_grams": [{"order": 1, "bits": 4.37, "counts": 63}]},
        "costs": {"trained": [cost], "trained-int4": [{**cost, "unpacked": 96}]},
        "operands": {
            "trained": {"programs": 12, "matrix": [3] * 256, "bins": ["mm_power:a", "sm_sum:b"]},
            "random": {"programs": 90, "matrix": [0] * 256, "bins": ["sm_sum:b"]},
        },
    }
    write_json(results / "trained.json", data)


def served() -> Run:
    """Three requests, of which one loses its pages to the others for a while."""
    trace = [Request(f"r{n}", n, [n, 5, 7, 7, 2], 9) for n in range(3)]
    return serve(trace, model="random", seed=2, window=8, page=2, pool=9)


def serving(results: Path, passed: bool = True) -> None:
    """Served requests, as on the RTL."""
    data = summarize(served()) | {"design": OWN, "simulators": {"verilator": "5.048"}}
    write_json(results / "serve-verilator.json", data | {"comparisons": 999, "passed": passed})


def bench(results: Path) -> None:
    """Speeds of which one misses its target."""
    plain, fast, slow = (Rates(list(r), list(r)) for r in ((9e5, 1e6), (1.1e6, 1e6), (8e5, 9e5)))
    target = {"target": 1.0, "measured": 1.1, "reached": True}
    data = {
        "flows": {
            "verilator": Flows(plain, plain, plain, fast).figures(),
            "icarus": Flows(plain, plain, plain, slow).figures(),
        },
        "model_cycles_per_second": 1e7,
        "targets": {"verilator": target, "icarus": {**target, "measured": 0.9, "reached": False}},
    }
    write_json(results / "bench.json", data)
    noop = {"jobs": 100, "start_seconds": 0.1, "seconds": 0.5, "ms_per_job": 5.0}
    write_json(results / "bench-regress.json", {"noop": noop})


def mutation(folder: Path) -> None:
    """A campaign with one of each fate, checked by a build of one mutant."""
    findings = [
        Finding("a", KILLED, "schema", ("memory",), "directed/mm", "mm 1", NASTY, 0.1),
        Finding("b", KILLED, "own build", ("retire", "memory"), "random/typical", seconds=1.0),
        Finding("c", PROVEN, "proof", engine="equiv", scope="module", assumptions=("no reset",)),
        Finding("d", OPEN, tried=("equiv", "abc pdr")),
    ]
    mutants = [Mutant("swap", "ga2_vadd.sv", n, f"a -> b & <{n}>", ()) for n in range(1, 5)]
    mutants[1] = replace(mutants[1], name="lost-carry")
    rows = tuple(Row.of(n, m, o) for n, (m, o) in enumerate(zip(mutants, findings, strict=True)))
    data = Summary(
        **{"design": OWN, "rows": rows, "by_kind": scores_by(rows, lambda row: row.kind)},
        **{"by_file": scores_by(rows, lambda row: row.file), "total": Score.of("all", rows)},
        **{"checks": {"memory": 2, "retire": 1}, "first_checks": {"memory": 1, "retire": 1}},
        **{"tests": {"directed/mm": 1, "random/typical": 1}, "times": {"schema": 1.0}},
        **{"seconds": 2.0, "judging_seconds": 3.0},
    ).as_json()
    write_json(folder / "report.json", data)
    verdict = {**asdict(rows[2]), "alone": "killed", "agrees": False, "message": "counter differs"}
    write_json(folder / "verify.json", {"design": OWN, "verdicts": [verdict]})


def proofs_campaign(folder: Path) -> None:
    """A mutant for each fate under the two engines."""
    fates = [
        *((REFUTED, KILLED), (REFUTED, OPEN), (HOLE, KILLED), (UNDECIDED, NOT_KNOWN)),
        *((EQUIVALENT, PROVEN), (UNTRIED, NOT_KNOWN)),
    ]
    rows = tuple(
        FormalRow(
            number, "carry", f"ga2_{'vadd' if number % 2 else 'load'}.sv", 10 + number,
            f"a -> b & <{number}>", status,
            ("busy_time",) if status == REFUTED else (), "vadd" if status == REFUTED else "",
            float(number), (), ("dma_is_followed",) if status == UNDECIDED else (),
            () if status == REFUTED else ("request_order",),
            simulation, "directed/ld" if simulation == KILLED else "", 0.25,
        )
        for number, (status, simulation) in enumerate(fates, 1)
    )  # fmt: skip
    summary = FormalSummary(OWN, rows, {"search 1": 2.0})
    with ResultFiles("formal", folder, design=OWN) as files:
        assert files.finish(Console(quiet=True), not summary.left, "", summary.as_json(), []) == 1


def model_mutation(results: Path) -> None:
    """A module with a survivor of each kind."""
    rows = [
        Row.of(n, Mutant("operator", "page_table.py", n, f"x < y -> x <= y #{n}", ()), outcome)
        for n, outcome in enumerate(
            [
                Finding("a", KILLED, "pytest", ("failed",), "tests/model/test_x.py::test_y"),
                Finding("b", EXPLAINED, "pytest", assumptions=("never equal here",)),
                Finding("c", OPEN, "pytest"),
            ]
        )
    ]
    module = ModuleReport(TARGETS[0], 9, rows, ["m: no longer a mutant: k"], 1.0)
    write_json(results / "mutate-model.json", {"passed": False, "modules": [module.as_json()]})


def faults(results: Path) -> None:
    """Faults that were found, found and blamed on another instruction, and missed."""
    planted = [fault for fault in load_faults() if fault.operation][:4]
    found = [Detection(n, "memory", fault.operation) for n, fault in enumerate(planted, 1)]
    rows = [record(fault, hit, hit) for fault, hit in zip(planted, found, strict=True)]
    rows[1] = record(planted[1], Detection(), Detection(40, "retire", "HALT"))
    rows[2] = record(planted[2], Detection(), Detection())
    with ResultFiles("faults", results, design=OWN, seed=1, limit=2000) as files:
        assert report_faults(Console(quiet=True), files, rows) == 1


def formal(results: Path) -> None:
    """A property that is proved, and one whose mutant went unnoticed."""
    one = {
        **{"property": "busy_time", "module": "ga2_vadd", "engine": "smtbmc", "bound": "unbounded"},
        **{"seconds": 3.2, "verdict": "proved", "mutant": "fails (1.0 s)"},
    }
    two = {**one, "property": "done_once", "mutant": "NOT NOTICED (proved)"}
    figures = {"design": OWN, "passed": False, "properties": [one, two]}
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
        plan = msgspec.structs.replace(plan, inputs=Inputs(Stamp(**OWN), {}, {}))
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
    record_tests("icarus", {tests[0]: (True, 3), tests[1]: (False, 1)}, results)


def everything(folder: Path, broken: bool = True) -> Sources:
    """Results of every tool in a folder."""
    results = folder / "results"
    results.mkdir(parents=True)
    for make in (
        decode,
        coverage,
        studies,
        trained,
        bench,
        formal,
        testplan,
        faults,
        model_mutation,
        serving,
    ):
        make(results)
    (folder / "mutate").mkdir()
    mutation(folder / "mutate")
    proofs_campaign(folder / "mutate")
    regression(folder / "regress", broken)
    assert all(json.loads(path.read_text()) for path in results.glob("*.json"))
    return Sources(results, folder / "regress", folder / "mutate")
