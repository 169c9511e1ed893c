"""What is kept of a regression, what is picked up again, and the history of all of them."""

from __future__ import annotations

import json
import multiprocessing
import sqlite3
from pathlib import Path

import pytest
from msgspec import structs
from regress_samples import DESIGN, make_jobs, make_plan

from sim.regress import history, inputs, planning, reports, run_folder, summary
from sim.regress.records import Failure, JobRecord, JobSpec
from sim.regress.run_folder import RECORD, RESULTS
from sim.shared import jsonl
from sim.shared.outcome import Outcome
from verif.typed import plain


@pytest.fixture
def run(tmp_path):
    folder = run_folder.new_run_folder(tmp_path, "s")
    jobs = make_jobs(4)
    run_folder.write_plan(folder, make_plan(jobs, folder.name))
    return folder, jobs


def test_two_runs_of_one_second_get_two_folders(tmp_path):
    assert len({run_folder.new_run_folder(tmp_path, "s") for _ in range(3)}) == 3


def read(folder: Path, jobs: list[JobSpec]) -> dict[str, JobRecord]:
    return run_folder.read_results(folder, jobs, DESIGN.hash)


def add(folder: Path, *records: JobRecord) -> None:
    with jsonl.Writer(folder / RESULTS) as log:
        log.add(*map(plain, records))


def test_records_come_back_as_they_were(run):
    folder, jobs = run
    failures = [Failure("memory", "no", "MM dst=0")]
    record = JobRecord(
        jobs[0].id,
        Outcome.FAILED,
        1.5,
        design=DESIGN.hash,
        failures=failures,
        tests={"t": (True, 3)},
    )
    add(folder, record)
    assert read(folder, jobs) == {record.id: record}


def test_torn_and_undecodable_lines_are_skipped_and_do_not_swallow_the_next(run):
    folder, jobs = run
    add(folder, JobRecord(jobs[0].id, Outcome.PASSED, design=DESIGN.hash))
    path = folder / RESULTS
    path.write_bytes(path.read_bytes() + b'\xff\xfe\n[3]\n{"id": "x", "status": 3}\n{"id": "half')
    add(folder, JobRecord(jobs[1].id, Outcome.PASSED, design=DESIGN.hash))
    assert set(read(folder, jobs)) == {jobs[0].id, jobs[1].id}
    assert run_folder.logged_ids(folder) == {jobs[0].id, jobs[1].id, "x"}


def test_a_record_nobody_collected_is_picked_up_once(run):
    folder, jobs = run
    for job, text in ((jobs[1], '{"id": '), (jobs[2], None)):
        home = folder / "jobs" / job.id
        home.mkdir(parents=True)
        record = plain(JobRecord(job.id, Outcome.PASSED, design=DESIGN.hash))
        (home / RECORD).write_text(text or json.dumps({**record, "rows": []}))
    assert set(read(folder, jobs)) == {jobs[2].id}
    assert run_folder.logged_ids(folder) == set()


def test_results_of_another_design_do_not_count(run):
    folder, jobs = run
    add(folder, JobRecord(jobs[0].id, Outcome.PASSED, design="another"))
    assert read(folder, jobs) == {}


def test_only_an_unfinished_run_of_the_suite_is_resumed(run, tmp_path):
    folder, _jobs = run
    assert run_folder.find_unfinished(tmp_path, "s") == folder
    with pytest.raises(run_folder.ResumeError, match="no interrupted regression of suite 't'"):
        run_folder.find_unfinished(tmp_path, "t")
    plan = make_plan(_jobs, folder.name)
    result = summary.summarize(plan, [], [], summary.INTERRUPTED, 1)
    assert not reports.write_all(folder, result, {}, {}, [], "")
    assert run_folder.find_unfinished(tmp_path, "s") == folder
    assert not reports.write_all(folder, {**result, "state": summary.COMPLETE}, {}, {}, [], "")
    with pytest.raises(run_folder.ResumeError):
        run_folder.find_unfinished(tmp_path, "s")


@pytest.mark.parametrize("name", [run_folder.PLAN, run_folder.SUMMARY])
@pytest.mark.parametrize("content", [b"{}", b'{"id": "half', b"\xff\xfe", b"[]", b""])
def test_a_corrupt_plan_or_summary_is_named_in_one_line(run, tmp_path, name, content):
    folder, _ = run
    (folder / name).write_bytes(content)
    with pytest.raises(run_folder.ResumeError) as caught:
        run_folder.find_unfinished(tmp_path, "s")
    assert str(folder / name) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_differs_from_the_inputs_of_a_run_is_named():
    old = inputs.Inputs(DESIGN, {"verif/a.py": "1", "model/b.py": "2"}, {"numpy": "2.2.6"})
    assert inputs.differences(old, old) == []
    design = inputs.Stamp("hw/rtl", "ba9876543210")
    new = inputs.Inputs(design, {"verif/a.py": "3", "sim/c.py": "4"}, {"numpy": "2.4.6"})
    assert inputs.differences(old, new) == [
        "the design was hw/rtl (0123456789ab, revision ffffffffff and changes), "
        "now it is hw/rtl (ba9876543210)",
        "changed since: model/b.py, sim/c.py, verif/a.py",
        "numpy was 2.2.6, now it is 2.4.6",
    ]


def test_every_source_of_a_job_is_among_the_inputs():
    sources = inputs.read_sources()
    for name in ("model/chip/machine.py", "verif/env/scoreboard.py", "sim/regress/worker.py"):
        assert name in sources
    assert {"sim/engine/cocotb.mk", "verif/hdl/tb.f"} <= set(sources)
    assert "sim/regress/suites.yaml" not in sources
    assert not any("__pycache__" in name for name in sources)


def test_a_job_that_changed_came_or_went_is_named():
    jobs = make_jobs(3)
    assert planning.changed_jobs(jobs, jobs) == []
    assert planning.changed_jobs(jobs, jobs[1:]) == [jobs[0].id]
    longer = [structs.replace(jobs[0], timeout=1.0), *jobs[1:], *make_jobs(1, "new")]
    assert planning.changed_jobs(jobs, longer) == [jobs[0].id, make_jobs(1, "new")[0].id]


def remember(path: Path, name: str) -> None:
    jobs = {job.id: job for job in make_jobs(50)}
    records = [JobRecord(key, Outcome.PASSED, 2.0, programs=1) for key in jobs]
    result = summary.summarize(make_plan(list(jobs.values()), name), records, [], "complete", 1)
    history.record(path, result, jobs, records, [])


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
    assert history.mean_seconds(path) == {("g", "verilator"): 2.0}


def test_the_history_says_which_design_it_was_also_in_a_file_without_that(tmp_path):
    path = tmp_path / "history.sqlite"
    remember(path, "old")
    with sqlite3.connect(path) as connection:
        for name in history.LATER:
            connection.execute(f"ALTER TABLE regression DROP COLUMN {name}")
    remember(path, "new")
    with sqlite3.connect(path) as connection:
        query = "SELECT id, design, design_path, design_dirty FROM regression ORDER BY id"
        assert connection.execute(query).fetchall() == [
            ("new", DESIGN.hash, "hw/rtl", "1"),
            ("old", "", "", ""),
        ]


@pytest.mark.parametrize("content", [b"no database" * 100, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_corrupt_history_is_named_in_one_line(tmp_path, content):
    path = tmp_path / "history.sqlite"
    path.write_bytes(content)
    for use in (lambda: history.mean_seconds(path), lambda: remember(path, "run")):
        with pytest.raises(history.HistoryError) as caught:
            use()
        assert f"{path}: " in str(caught.value)
        assert "\n" not in str(caught.value)
    assert path.read_bytes() == content
