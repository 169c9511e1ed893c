"""The engine with real processes: limits, leftovers, lost workers, interruption and resumption.

The jobs are commands, so that what is tested is the engine and not the simulator.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml
from distributed.scheduler import KilledWorker

from sim.regress import dispatch, run_folder
from sim.regress.bench import noop_jobs
from sim.shared import process as supervise
from sim.shared.paths import ROOT

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


def start(tmp_path: Path, groups: list[dict[str, Any]], *options: str) -> subprocess.Popen[str]:
    file = tmp_path / "regress.yaml"
    file.write_text(yaml.safe_dump({"suites": {"s": {"groups": groups}}}))
    argv = [sys.executable, "-m", "sim.regress", "--file", str(file), "--suite", "s"]
    return subprocess.Popen(
        [*argv, "--base", str(tmp_path / "runs"), "--jobs", "2", *options],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def run(tmp_path: Path, groups: list[dict[str, Any]], *options: str) -> tuple[int, str]:
    process = start(tmp_path, groups, *options)
    output, _ = process.communicate(timeout=120)
    return process.returncode, output


def records(tmp_path: Path) -> list[dict[str, Any]]:
    path = tmp_path / "runs" / "latest" / run_folder.RESULTS
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


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
    assert f"make regress-rerun RUN={summary(tmp_path)['id']} JOB=bad." in output
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
    script = f"mkdir {once} 2>/dev/null || exit 0; kill -9 $(ps -o ppid= -p $PPID); sleep 500"
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
    (job,) = noop_jobs(1)
    error = KilledWorker("job", None, 5)
    record = dispatch.record_of(job, "error", (type(error), error, None))
    assert record is not None
    assert (record.id, record.status, record.passed) == (job.id, "lost", False)


def test_an_engine_that_fails_is_a_failure_of_the_job():
    (job,) = noop_jobs(1)
    error = OSError(28, "No space left on device")
    record = dispatch.record_of(job, "error", (type(error), error, None))
    assert record is not None
    assert record.status == "crashed"
    assert "No space left" in record.failures[0].message


def test_a_job_that_dask_dropped_or_that_was_stopped_runs_again():
    (job,) = noop_jobs(1)
    assert dispatch.record_of(job, "cancelled", None) is None
    error = supervise.StoppedError()
    assert dispatch.record_of(job, "error", (type(error), error, None)) is None


def test_an_unknown_field_of_a_command_is_named(tmp_path):
    code, output = run(tmp_path, [group("bad", "echo {sed}")])
    assert code == 1
    assert "'echo {sed}': fields are id, name, seed," in output


def test_a_wrong_command_line_is_one_line_and_code_2(tmp_path):
    for options in (["--suite", "x"], ["--jobs", "0"], ["--resume"], ["--cluster", "moon"]):
        code, output = run(tmp_path, [group("good", "true")], *options)
        assert code == 2, output
        assert output.count("\n") == 1, output
        assert output.startswith("regress: error:")


def test_a_farm_that_is_not_there_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "/bin")
    code, output = run(tmp_path, [group("good", "true")], "--cluster", "lsf")
    assert code == 2, output
    assert "CLUSTER=lsf" in output


def test_rerun_uses_the_same_seed(tmp_path, mark):
    run(tmp_path, [group("bad", "echo seed {seed}; exit 3", seed=[41, 42])])
    argv = [sys.executable, "-m", "sim.regress.rerun", "--base", str(tmp_path / "runs")]
    done = subprocess.run(
        [*argv, "--job", "bad.verilator.seed42"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "exit status 3: seed 42" in done.stdout
    unknown = subprocess.run([*argv, "--job", "x"], cwd=ROOT, capture_output=True, text=True)
    assert unknown.returncode == 2
    assert "no job 'x'" in unknown.stderr
