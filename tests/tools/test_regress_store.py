"""What is kept of a regression, what is picked up again, and the history of all of them."""

from __future__ import annotations

import json
import multiprocessing
import sqlite3
from pathlib import Path

import pytest

from sim.regress import history, reports, run_folder
from sim.regress.bench import noop_jobs
from sim.regress.records import FAILED, PASSED, Failure, JobRecord
from sim.regress.worker import RECORD


@pytest.fixture
def run(tmp_path):
    folder = run_folder.new_run_folder(tmp_path, "s")
    jobs = noop_jobs(4)
    run_folder.write_plan(folder, {"id": folder.name, "suite": "s"}, jobs)
    return folder, jobs


def test_two_runs_of_one_second_get_two_folders(tmp_path):
    assert len({run_folder.new_run_folder(tmp_path, "s") for _ in range(3)}) == 3


def test_records_come_back_as_they_were(run):
    folder, jobs = run
    record = JobRecord(jobs[0].id, FAILED, 1.5, failures=[Failure("memory", "no", "MM dst=0")])
    with run_folder.ResultLog(folder) as log:
        log.add(record)
    assert run_folder.read_results(folder, jobs) == {record.id: record}


def test_a_torn_line_is_skipped_and_does_not_swallow_the_next(run):
    folder, jobs = run
    with run_folder.ResultLog(folder) as log:
        log.add(JobRecord(jobs[0].id, PASSED))
    path = folder / run_folder.RESULTS
    path.write_bytes(path.read_bytes() + b'{"id": "half')
    with run_folder.ResultLog(folder) as log:
        log.add(JobRecord(jobs[1].id, PASSED))
    assert set(run_folder.read_results(folder, jobs)) == {jobs[0].id, jobs[1].id}


def test_a_record_nobody_collected_is_picked_up_once(run):
    folder, jobs = run
    home = folder / "jobs" / jobs[2].id
    home.mkdir(parents=True)
    (home / RECORD).write_text(json.dumps(JobRecord(jobs[2].id, PASSED).to_json()))
    assert set(run_folder.read_results(folder, jobs)) == {jobs[2].id}
    assert run_folder.logged_ids(folder) == set()


def test_only_an_unfinished_run_of_the_suite_is_resumed(run, tmp_path):
    folder, _jobs = run
    assert run_folder.find_unfinished(tmp_path, "s") == folder
    with pytest.raises(run_folder.ResumeError, match="no interrupted regression of suite 't'"):
        run_folder.find_unfinished(tmp_path, "t")
    summary = reports.summarize({"id": folder.name}, {}, [], [], reports.INTERRUPTED, 1)
    reports.write(folder, summary, [])
    assert run_folder.find_unfinished(tmp_path, "s") == folder
    reports.write(folder, {**summary, "state": reports.COMPLETE}, [])
    with pytest.raises(run_folder.ResumeError):
        run_folder.find_unfinished(tmp_path, "s")


def test_a_broken_plan_cannot_be_resumed(run):
    folder, _ = run
    (folder / run_folder.PLAN).write_text("{}")
    with pytest.raises(run_folder.ResumeError, match="cannot be resumed"):
        run_folder.read_plan(folder)


def remember(path: Path, name: str) -> None:
    jobs = {job.id: job for job in noop_jobs(50)}
    records = [JobRecord(key, PASSED, 2.0, programs=1) for key in jobs]
    plan = {"id": name, "suite": "s", "seed": 1, "started": 1.0, "revision": ""}
    plan = {**plan, "cluster": "local", "slots": 2}
    summary = reports.summarize(plan, jobs, records, [], reports.COMPLETE, 1)
    history.record(path, summary, jobs, records, [])


def test_many_writers_lose_nothing(tmp_path):
    path = tmp_path / "history.sqlite"
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=remember, args=(path, f"run-{n}")) for n in range(12)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert [writer.exitcode for writer in writers] == [0] * 12
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM regression").fetchone() == (12,)
        assert connection.execute("SELECT count(*) FROM job").fetchone() == (600,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_regression_written_again_replaces_itself(tmp_path):
    path = tmp_path / "history.sqlite"
    for _ in range(2):
        remember(path, "run")
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM regression").fetchone() == (1,)
        assert connection.execute("SELECT count(*) FROM job").fetchone() == (50,)


def test_history_knows_how_long_jobs_take(tmp_path):
    path = tmp_path / "history.sqlite"
    assert history.mean_seconds(path) == {}
    remember(path, "run")
    assert history.mean_seconds(path) == {("noop", "verilator"): 2.0}
