"""The engine with real processes: limits, leftovers, lost workers, interruption and resumption.

The jobs are commands, so that what is tested is the engine and not the simulator.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import psutil
import pytest
import yaml
from distributed.scheduler import KilledWorker
from front_end import call
from regress_samples import make_jobs

from sim.engine.design import Design
from sim.regress import __main__ as regress_entry
from sim.regress import clusters, dispatch, planning, run_folder, suites
from sim.regress.farms import ClusterError
from sim.regress.records import JobRecord
from sim.regress.stop import Stop
from sim.shared import jsonl
from sim.shared import process as supervise
from sim.shared.paths import ROOT, RTL
from verif.typed import plain

MARK = "GA2_TEST_MARK"


@pytest.fixture
def mark(tmp_path, monkeypatch):
    """Marks every process of this test, to find those that are left."""
    monkeypatch.setenv(MARK, str(tmp_path))
    yield str(tmp_path)
    for process in marked(str(tmp_path)):
        process.kill()


def marked(value: str, name: str | None = None) -> list[psutil.Process]:
    """Processes other than ours that carry the mark (and a name), dead ones left out."""
    found = []
    for process in psutil.process_iter():
        try:
            carries = process.environ().get(MARK) == value and process.pid != os.getpid()
            if carries and name in (None, process.name()):
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found


def wait_until(condition, seconds: float = 30.0) -> Any:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError("it did not come to pass")


def group(name: str, script: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "kind": "command", "params": {"argv": ["sh", "-c", script]}, **more}


def words(tmp_path: Path, groups: list[dict[str, Any]], *options: str, **more: Any) -> list[str]:
    """Write a regression file of one suite; return the words that run it."""
    file = tmp_path / "regress.yaml"
    file.write_text(yaml.safe_dump({"suites": {"s": {"groups": groups}}, **more}))
    base = ["--file", str(file), "--suite", "s", "--base", str(tmp_path / "runs"), "--jobs", "2"]
    return [*base, *options]


def start(tmp_path: Path, groups: list[dict[str, Any]], *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "sim.regress", *words(tmp_path, groups, *options)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def run(tmp_path: Path, groups: list[dict[str, Any]], *options: str) -> tuple[int, str]:
    process = start(tmp_path, groups, *options)
    output, _ = process.communicate(timeout=120)
    return process.returncode, output


def run_here(
    tmp_path: Path, groups: list[dict[str, Any]], *options: str, **more: Any
) -> tuple[int, str]:
    """Run it in this process, which spares the start of Python and Dask."""
    said = io.StringIO()
    with (
        patch("sys.argv", ["regress", *words(tmp_path, groups, *options, **more)]),
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(said),
    ):
        try:
            code = regress_entry.main()
        except SystemExit as ended:
            code = int(ended.code or 0)
    return code, said.getvalue()


def records(tmp_path: Path) -> list[dict[str, Any]]:
    return jsonl.read(tmp_path / "runs" / "latest" / run_folder.RESULTS)


def summary(tmp_path: Path) -> dict[str, Any]:
    return json.loads((tmp_path / "runs" / "latest" / run_folder.SUMMARY).read_text())


def test_every_job_gets_its_verdict_once_and_nothing_is_left_running(tmp_path, mark):
    code, output = run(
        tmp_path,
        [
            group("good", "true", seeds=6),
            group("bad", "echo word {seed} differs; exit 3", seeds=3),
            group("hang", "setsid sleep 500 & sleep 501", timeout=1.0),
            group("orphan", "setsid sleep 502 & kill -9 $PPID"),
        ],
    )
    assert code == 1, output
    found = records(tmp_path)
    assert Counter(item["id"].split(".")[0] for item in found) == {
        "good": 6,
        "bad": 3,
        "hang": 1,
        "orphan": 1,
    }
    assert {item["id"].split(".")[0]: item["status"] for item in found} == {
        "good": "passed",
        "bad": "failed",
        "hang": "timeout",
        "orphan": "crashed",
    }
    assert not marked(mark)
    buckets = {item["kind"]: item for item in summary(tmp_path)["buckets"]}
    assert buckets["command"]["count"] == 3
    assert "word <n> differs" in buckets["command"]["pattern"]
    # What is printed plays the failing job again, from wherever the runs are.
    line = next(line for line in output.splitlines() if "rerun" in line and "--job bad." in line)
    again = subprocess.run(line.split("rerun", 1)[1], shell=True, cwd=ROOT, capture_output=True)
    assert again.returncode == 1
    assert b"exit status 3: word " in again.stdout
    # Private folders of passing jobs go, those of failing ones stay with their logs.
    jobs = tmp_path / "runs" / "latest" / "jobs"
    assert not list(jobs.glob("good.*/attempt-*"))
    assert len(list(jobs.glob("bad.*/attempt-1/job.log"))) == 3


def test_ctrl_c_stops_every_process_reports_and_can_be_resumed(tmp_path, mark):
    flag = tmp_path / "slow-may-end"
    groups = [
        group("quick", "true", seeds=4),
        group("slow", f"test -e {flag} || (setsid sleep 500 & sleep 500)", seeds=3),
    ]
    process = start(tmp_path, groups)
    wait_until(lambda: len(records(tmp_path)) == 4)
    wait_until(lambda: marked(mark, "sleep"))
    process.send_signal(signal.SIGINT)
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)  # an impatient second one costs nothing
    output, _ = process.communicate(timeout=30)
    assert process.returncode == 130, output
    assert not marked(mark)
    assert (summary(tmp_path)["state"], summary(tmp_path)["missing"]) == ("interrupted", 3)
    assert (tmp_path / "runs" / "latest" / "junit.xml").exists()

    flag.touch()
    code, output = run(tmp_path, groups, "--resume")
    assert code == 0, output
    assert Counter(Counter(item["id"] for item in records(tmp_path)).values()) == {1: 7}
    assert summary(tmp_path)["state"] == "complete"
    # What was interrupted is no lost worker.
    assert summary(tmp_path)["rerun_after_loss"] == 0


def test_only_the_first_ctrl_c_interrupts(monkeypatch):
    """A second one must not cost the report."""
    monkeypatch.setattr(supervise, "_stopping", threading.Event())
    stop = Stop()
    with stop.on_signals(), pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
    with stop.on_signals():
        os.kill(os.getpid(), signal.SIGINT)
    assert stop.reason == "interrupted"


def test_a_killed_regression_keeps_what_it_has(tmp_path, mark):
    flag = tmp_path / "slow-may-end"
    groups = [group("quick", "true", seeds=3), group("slow", f"test -e {flag} || sleep 500")]
    process = start(tmp_path, groups)
    wait_until(lambda: len(records(tmp_path)) == 3)
    wait_until(lambda: marked(mark, "sleep"))
    process.kill()
    process.wait()
    # The leash: jobs end with the process that started them, however it ended.
    wait_until(lambda: not marked(mark), 10)
    flag.touch()
    code, output = run(tmp_path, groups, "--resume")
    assert code == 0, output
    assert "1 jobs to run" in output
    assert len(records(tmp_path)) == 4


def test_a_lost_worker_has_its_job_run_again(tmp_path, mark):
    # The first attempt kills the worker, which is the parent of the job's own process.
    once = tmp_path / "once"
    parent = "$(cut -d ' ' -f 4 /proc/$PPID/stat)"
    script = f"mkdir {once} 2>/dev/null || exit 0; kill -9 {parent}; sleep 500"
    groups = [group("killer", script), group("other", "sleep 0.2", seeds=6)]
    code, output = run(tmp_path, groups, "--processes")
    assert code == 0, output
    found = {item["id"]: item for item in records(tmp_path)}
    assert len(found) == len(records(tmp_path)) == 7
    (killer,) = [item for key, item in found.items() if key.startswith("killer")]
    assert killer["attempt"] == 2
    assert "run again after a lost worker" in output
    assert not marked(mark)


def test_a_job_that_takes_every_worker_down_is_lost_not_forgotten():
    (job,) = make_jobs(1)
    error = KilledWorker("job", None, 5)
    record = dispatch.record_of(job, "error", (type(error), error, None))
    assert record is not None
    assert (record.id, record.status, record.passed) == (job.id, "lost", False)


def test_an_engine_that_fails_is_a_failure_of_the_job():
    (job,) = make_jobs(1)
    error = OSError(28, "No space left on device")
    record = dispatch.record_of(job, "error", (type(error), error, None))
    assert record is not None
    assert record.status == "crashed"
    assert "No space left" in record.failures[0].message


def test_a_job_that_dask_dropped_or_that_was_stopped_runs_again():
    (job,) = make_jobs(1)
    assert dispatch.record_of(job, "cancelled", None) is None
    error = supervise.StoppedError()
    assert dispatch.record_of(job, "error", (type(error), error, None)) is None


def test_an_unknown_field_of_a_command_is_named(tmp_path):
    code, output = run_here(tmp_path, [group("bad", "echo {sed}")])
    assert code == 1
    assert "'echo {sed}': fields are id, name, seed," in output


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--suite", "x"], "no suite 'x'; known: s"),
        (["--jobs", "0"], "JOBS=0: needs 1 or more"),
        (["--seed", "-1"], "SEED=-1: needs 0 to"),
        (["--rtl", "/no/such"], "/no/such"),
        (["--resume"], "RESUME=1: no interrupted regression of suite 's'"),
        (["--cluster", "moon"], "moon"),
    ],
)
def test_a_wrong_command_line_is_one_line_and_code_2(tmp_path, monkeypatch, capsys, options, words):
    file = tmp_path / "regress.yaml"
    file.write_text(yaml.safe_dump({"suites": {"s": {"groups": [group("good", "true")]}}}))
    argv = ["regress", "--file", str(file), "--suite", "s", "--base", str(tmp_path), *options]
    monkeypatch.setattr("sys.argv", argv)
    with pytest.raises(SystemExit) as caught:
        regress_entry.main()
    out, err = capsys.readouterr()
    assert (caught.value.code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("regress: error: ")
    assert words in err


def test_a_farm_that_is_not_there_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "/bin")
    code, output = run_here(tmp_path, [group("good", "true")], "--cluster", "lsf")
    assert code == 2, output
    assert "CLUSTER=lsf" in output


def test_rerun_uses_the_same_seed(tmp_path, mark):
    run_here(tmp_path, [group("bad", "echo seed {seed}; exit 3", seed=[41, 42])])
    base = tmp_path / "runs"
    done = call("regress.rerun", "--base", base, "--job", "bad.verilator.seed42")
    assert done.returncode == 1
    assert "exit status 3: seed 42" in done.stdout
    unknown = call("regress.rerun", "--base", base, "--job", "x")
    assert unknown.returncode == 2
    assert "JOB=x: no job of s-" in unknown.stderr


def test_a_resume_goes_on_only_with_what_it_began_with(tmp_path):
    rtl = tmp_path / "design"
    shutil.copytree(RTL, rtl)
    file = tmp_path / "regress.yaml"
    groups = [group("quick", "true"), group("slow", "sleep 1")]

    def prepare(changed=groups, rtl: Path = rtl, **more: Any) -> planning.Session:
        file.write_text(yaml.safe_dump({"suites": {"s": {"groups": changed}}}))
        options = planning.Options(file, tmp_path, "s", Design.load(rtl), 2, **more)
        return planning.prepare(options, suites.load(file))

    first = prepare(seed=7)
    record = JobRecord("quick." + first.plan.jobs[0].id.split(".", 1)[1], "passed")
    record.design = first.design
    with jsonl.Writer(first.folder / run_folder.RESULTS) as log:
        log.add(plain(record))

    def refused(words: str, *arguments: Any, **more: Any) -> None:
        with pytest.raises(run_folder.ResumeError) as caught:
            prepare(*arguments, resume=True, **more)
        assert f"RESUME=1: the results in {first.folder} are of something" in str(caught.value)
        assert words in str(caught.value)
        assert "\n" not in str(caught.value)

    source = rtl / "ga2_vadd.sv"
    text = source.read_text()
    source.write_text(text + "// edited\n")
    refused(f"the design was {rtl} ({first.design}), now it is {rtl} (")
    source.write_text(text)
    refused("now it is hw/rtl", rtl=RTL)
    refused("SEED was 7, now it is 8", seed=8)
    refused("the suite is another: job slow.", [groups[0], {**groups[1], "timeout": 9.0}])
    refused("job new.", [*groups, group("new", "true")])
    plan = run_folder.read_plan(first.folder)
    plan.inputs.sources["verif/env/scoreboard.py"] = "another"
    plan.inputs.tools["numpy"] = "0.1"
    run_folder.write_plan(first.folder, plan)
    refused("changed since: verif/env/scoreboard.py; numpy was 0.1, now it is ")

    run_folder.write_plan(first.folder, first.plan)
    again = prepare(resume=True)
    assert (again.folder, again.plan.seed) == (first.folder, 7)
    assert again.records == {record.id: record}


def test_results_say_which_design_they_are_about(tmp_path, mark):
    rtl = tmp_path / "design"
    shutil.copytree(RTL, rtl)
    told = [group("good", "test {rtl} = " + str(rtl))]
    code, output = run_here(tmp_path, told, "--rtl", str(rtl))
    assert code == 0, output
    design = summary(tmp_path)["design"]
    assert design == Design.load(rtl).to_json()
    assert [item["design"] for item in records(tmp_path)] == [design["hash"]]
    assert f"{rtl} ({design['hash']})" in output
    with sqlite3.connect(tmp_path / "runs" / run_folder.HISTORY) as connection:
        query = "SELECT design_path, design FROM regression"
        assert connection.execute(query).fetchall() == [(str(rtl), design["hash"])]


def fake_sbatch(tmp_path: Path, script: str) -> dict[str, str]:
    """A PATH whose sbatch does this, and notes its job scripts, and whose compiler only notes."""
    folder = tmp_path / "bin"
    folder.mkdir()
    programs = {"sbatch": f"cat $1 >> {tmp_path}/scripts\n{script}", "scancel": ""}
    programs["iverilog"] = f"test $1 = -V && echo 1.0 || touch {tmp_path}/compiled"
    for name, text in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


def test_a_farm_that_refuses_ends_it_at_once_with_its_own_words(tmp_path, monkeypatch):
    why = "sbatch: error: invalid partition specified: nosuch"
    script = f"echo '{why}' >&2; echo 'sbatch: error: Batch job submission failed' >&2; exit 1"
    monkeypatch.setenv("PATH", fake_sbatch(tmp_path, script)["PATH"])
    jobs = [{"name": "r", "kind": "random", "simulator": "icarus"}]
    slurm = {"slurm": {"queue": "nosuch", "memory": "none"}}
    code, output = run_here(tmp_path, jobs, "--cluster", "slurm", clusters=slurm)
    assert code == 2, output
    wanted = f"regress: error: CLUSTER=slurm: {why}; sbatch: error: Batch job submission failed"
    assert output.splitlines()[-1] == wanted
    assert not (tmp_path / "compiled").exists()
    script = (tmp_path / "scripts").read_text()
    assert "#SBATCH -p nosuch" in script
    assert "--mem=" not in script
    # Nothing was run: nothing is left to be taken for a regression.
    assert not list((tmp_path / "runs").glob("s-*"))


def test_a_farm_asks_for_memory_unless_it_is_told_not_to(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", fake_sbatch(tmp_path, "exit 1")["PATH"])
    code, _ = run_here(tmp_path, [group("good", "true")], "--cluster", "slurm")
    assert code == 2
    assert "#SBATCH --mem=" in (tmp_path / "scripts").read_text()


def test_a_farm_that_takes_no_more_workers_ends_it_with_what_it_has(tmp_path):
    class Farm:
        workers: dict[str, Any] = {}
        scheduler = SimpleNamespace(workers={})

        def scale(self, count: int) -> None:
            pass

    farm = clusters.Cluster("slurm", 4, 1, False, Farm(), None, refusals=["sbatch: error: closed"])
    with pytest.raises(ClusterError, match="CLUSTER=slurm: sbatch: error: closed"):
        farm.keep_size()
    Farm.workers = {"0": SimpleNamespace(job_id="17")}
    farm.keep_size()


def test_a_full_disk_ends_it_in_one_line_and_keeps_what_it_has(tmp_path, mark):
    flag = tmp_path / "go-on"
    script = f"test {{seed}} = 1 || while ! test -e {flag}; do sleep 0.05; done"
    groups = [group("g", script, seed=[1, 2, 3])]
    process = start(tmp_path, groups)
    wait_until(lambda: len(records(tmp_path)) == 1)
    # From now on no file of this process may grow beyond what it has.
    results = (tmp_path / "runs" / "latest" / run_folder.RESULTS).resolve()
    psutil.Process(process.pid).rlimit(psutil.RLIMIT_FSIZE, (results.stat().st_size + 9, -1))
    flag.touch()
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 2, output
    assert "Traceback" not in output
    assert f"regress: error: {results}: File too large" in output
    assert not marked(mark)
    code, output = run(tmp_path, groups, "--resume")
    assert code == 0, output
    assert Counter(item["id"] for item in records(tmp_path)) == {
        f"g.verilator.seed{seed}": 1 for seed in (1, 2, 3)
    }


def test_a_corrupt_history_costs_nothing_else(tmp_path):
    (tmp_path / "runs").mkdir()
    path = tmp_path / "runs" / "history.sqlite"
    path.write_bytes(b"no database" * 100)
    code, output = run_here(tmp_path, [group("good", "true")])
    assert code == 0, output
    assert "Traceback" not in output
    assert f"no history: {path}: file is not a database" in output
    assert summary(tmp_path)["verdict"] == "passed"
    assert (tmp_path / "runs" / "latest" / "junit.xml").exists()


def test_a_job_that_leaves_rubbish_crashed(tmp_path):
    rubbish = [
        group("half", "echo '{{\"programs\": ' > outcome.json; kill -9 $PPID"),
        group("bytes", "printf '\\377\\376\\033[31m' > outcome.json; kill -9 $PPID"),
        group("said", "printf 'a\\377\\033[31mb\\n'; exit 3"),
    ]
    code, output = run_here(tmp_path, rubbish)
    assert code == 1, output
    assert "Traceback" not in output
    found = {item["id"].split(".")[0]: item for item in records(tmp_path)}
    assert {key: item["status"] for key, item in found.items()} == {
        "half": "crashed",
        "bytes": "crashed",
        "said": "failed",
    }
    assert "outcome.json: no JSON" in found["half"]["failures"][0]["message"]
    assert found["said"]["failures"][0]["message"] == r"exit status 3: a\xff\x1b[31mb"
    xml = ET.parse(tmp_path / "runs" / "latest" / "junit.xml")
    assert len(list(xml.iter("testcase"))) == 3
