"""Jobs that simulate: what they make, and what a planted fault looks like in a regression."""

from __future__ import annotations

import dataclasses
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec import structs

from sim.engine.design import Design
from sim.formal.proofs import catalogue
from sim.mutate.proofs.__main__ import parse
from sim.regress import buckets, builds, formal, worker, workloads
from sim.regress.records import JobRecord, JobSpec
from sim.regress.run_folder import RECORD
from sim.serving.job import Served
from sim.shared.part import Part
from sim.shared.paths import ROOT, RTL
from verif.stimulus.directed import REGISTRY
from verif.typed import convert, plain

DECODE = JobSpec(
    id="d.icarus.seed1",
    name="d",
    kind="decode",
    params={"steps": 2},
    seed=1,
    simulator="icarus",
    lat=5,
    depth=4096,
    window=1,
    page=2,
    timeout=120,
)


def play(spec: JobSpec, run: Path):
    """Run a job as a worker does, with the build noted for it."""
    builds.build_all([spec], Design.load(Path(spec.rtl or RTL)), run, print)
    done = worker.run_job(plain(spec), str(run), "hash", keep_passed=True)
    return convert(done, JobRecord, spec.id)


def test_a_decode_job_has_the_configuration_it_was_given():
    job, count = workloads.decode_workload(DECODE)
    assert count == len(job.items) == 2
    assert {(item.latency, item.depth) for item in job.items} == {(5, 4096)}
    assert "window=1" in job.items[0].provenance


def test_a_random_job_is_named_by_profile_and_seed():
    spec = structs.replace(DECODE, kind="random", params={"profile": "corner", "programs": 7})
    job, count = workloads.random_workload(spec)
    assert (job.sequence, count) == ("random", 7)
    wanted = {"seed": 1, "profile": "corner", "count": 7, "first": 0}
    wanted["rerun"] = "make random SIM=icarus SEED=1 PROFILE={profile} ONLY={index} WAVES=1"
    assert job.params == wanted


def test_the_reason_of_a_dead_simulation_is_found_in_its_log():
    text = "simulation died (x.log):\n a\nmodel.errors.ParameterError: no\n **\nmake: *** Error 1"
    assert workloads.brief(text) == "simulation died (x.log): model.errors.ParameterError: no"
    text = "simulation died (x.log):\nSegmentation fault\nmake[1]: *** Error 139"
    assert workloads.brief(text) == "simulation died (x.log): Segmentation fault"


SERVE = structs.replace(
    DECODE, kind="serve", window=4, params={"requests": 2, "longest": 8, "sinks": 1}
)


def test_a_serve_job_passes_and_has_the_configuration_it_was_given(tmp_path):
    job, count = workloads.serve_workload(SERVE)
    assert {item.latency for item in job.items} == {5}
    assert [item.inherits for item in job.items] == [False, *[True] * (count - 1)]
    record = play(SERVE, tmp_path)
    assert (record.passed, record.programs) == (True, count), record
    assert count > 3


def test_a_request_that_is_served_otherwise_than_alone_is_no_job(monkeypatch):
    wrong = {"r1": "tokens [1], alone [2]"}
    monkeypatch.setattr(Served, "unlike_alone", wrong)
    with pytest.raises(workloads.WorkloadError, match=r"request r1: tokens \[1\], alone \[2\]"):
        workloads.serve_workload(SERVE)


def test_a_random_job_passes(tmp_path):
    spec = structs.replace(DECODE, kind="random", params={"programs": 5})
    record = play(spec, tmp_path)
    assert (record.passed, record.programs) == (True, 5), record
    assert record.tests == {"random/typical": (True, 5)}


def test_directed_jobs_choose_by_name_and_family_and_leave_slow_ones_out():
    def names(**params: object) -> int:
        spec = structs.replace(DECODE, kind="directed", params=params)
        return workloads.directed_workload(spec)[1]

    entry = next(iter(REGISTRY.values()))
    assert names(programs=[entry.name]) == len(entry.items())
    assert 0 < names(families=[entry.family]) < names() < names(slow=True)


def test_the_latency_of_a_job_replaces_only_the_plain_one():
    entry = next(iter(REGISTRY.values()))
    plain = dataclasses.replace(entry.items()[0], latency=8, latencies=())
    assert workloads.at_latency(plain, 33).latency == 33
    own = dataclasses.replace(plain, latency=2)
    assert workloads.at_latency(own, 33).latency == 2
    varying = dataclasses.replace(plain, latencies=(3, 4))
    assert workloads.at_latency(varying, 33).latencies == (3, 4)


def test_a_good_design_passes_and_is_counted(tmp_path):
    record = play(DECODE, tmp_path)
    assert record.passed, record
    assert record.programs == 2
    assert record.comparisons > 2 * DECODE.depth
    stored = json.loads((tmp_path / "jobs" / DECODE.id / RECORD).read_text())
    assert record.cycles == sum(row[2] for row in stored["rows"])
    assert (tmp_path / record.files["coverage"]).stat().st_size > 1000
    # The build was made before: the job has none of its own to make.
    assert "build" not in (tmp_path / record.folder / "sim" / "run.log").read_text().split("\n")[0]


def test_a_planted_fault_lands_in_one_bucket_with_instruction_and_rerun(tmp_path):
    rtl = tmp_path / "rtl"
    shutil.copytree(RTL, rtl)
    source = rtl / "ga2_vadd.sv"
    # Saturation at +127 moves to +126.
    text, count = re.subn(r"(?<![0-9])127(?![0-9])", "126", source.read_text())
    assert count
    source.write_text(text)
    spec = structs.replace(
        DECODE, kind="directed", params={"families": ["vector_add"]}, rtl=str(rtl)
    )
    record = play(spec, tmp_path)
    assert record.status == "failed", record
    (bucket,) = buckets.collect({spec.id: spec}, [record], "make regress-rerun JOB=")
    assert bucket.operation == "VADD"
    assert "VADD dst=" in bucket.instruction
    # The command plays the failing thing again, on the failing design.
    assert f"--rtl {rtl}" in bucket.rerun or f"RTL={rtl}" in bucket.rerun
    argv = [sys.executable, *shlex.split(bucket.rerun)[1:]]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1, (argv, done.stdout, done.stderr)
    assert "VADD dst=" in done.stdout


FORMAL = structs.replace(
    DECODE, id="p.part1", kind="formal", params={"ask": "proofs", "part": 4, "parts": 99}
)


def test_a_job_of_proofs_does_its_part_and_no_other(tmp_path):
    """The fourth, which takes a second."""
    proof = catalogue().proofs[3]
    record = play(FORMAL, tmp_path)
    assert (record.status, record.failures) == ("passed", [])
    assert record.programs == len(proof.properties)
    (data,) = tmp_path.rglob("formal.json")
    assert {row["property"] for row in json.loads(data.read_text())["properties"]} == {
        claim.name for claim in proof.properties
    }


def test_a_job_of_proofs_that_has_nothing_to_do_does_not_pass(tmp_path):
    params = {"ask": "proofs", "part": 99, "parts": 99}
    assert not play(structs.replace(FORMAL, params=params), tmp_path).passed


def test_a_job_of_proofs_without_a_result_says_why(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    spec = structs.replace(FORMAL, rtl=str(tmp_path / "nowhere"))
    with pytest.raises(formal.FormalError, match=r"exit status 2: .*nowhere: no such folder"):
        formal.run_formal(spec, tmp_path)


def test_a_job_of_mutants_asks_for_its_part_of_the_sample(tmp_path):
    params = {"ask": "mutants", "part": 2, "parts": 7, "sample": 3}
    words = formal.command(structs.replace(FORMAL, params=params, rtl="mine"), tmp_path)[1:]
    assert words[:2] == ["-m", "sim.mutate.proofs"]
    options = parse([word for word in words[2:] if not word.startswith("--rtl")])
    assert (options.part, options.sample, options.out) == (Part(2, 7), 3, tmp_path)
    assert words[-1] == "--rtl=mine"


def test_what_is_not_proved_and_not_refuted_is_a_failure_with_its_rerun():
    proved = {"module": "ga2_vadd", "property": "p", "verdict": "proved", "mutant": "fails (1 s)"}
    mutant = {"file": "ga2_vadd.sv", "line": 3, "description": "a -> b"}
    rows = [
        *(proved, {**proved, "verdict": "UNKNOWN"}, {**proved, "mutant": "NOT NOTICED (PASS)"}),
        *({**mutant, "status": "refuted"}, {**mutant, "status": "equivalent"}),
        *({**mutant, "status": "hole"}, {**mutant, "status": "not yet tried"}),
    ]
    found = list(formal.failures(rows))
    assert [(failure.message, failure.rerun) for failure in found] == [
        ("ga2_vadd: p: UNKNOWN", "make formal MODULES=vadd"),
        ("ga2_vadd: p: NOT NOTICED (PASS)", "make formal MODULES=vadd"),
        ("hole: ga2_vadd.sv:3 a -> b", "make mutate ENGINE=formal"),
        ("not yet tried: ga2_vadd.sv:3 a -> b", "make mutate ENGINE=formal"),
    ]
