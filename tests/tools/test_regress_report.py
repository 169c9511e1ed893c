"""Buckets, JUnit, progress and the terminal."""

from __future__ import annotations

import io
import xml.etree.ElementTree as ET

import pytest
from regress_samples import make_jobs, make_plan
from rich.console import Console

from sim.regress import buckets, display, reports, summary
from sim.regress.progress import Progress, longest_first
from sim.regress.records import Failure, JobRecord, JobSpec
from sim.regress.worker import printable
from sim.shared.buckets import normalize
from sim.shared.outcome import Outcome


def failed(job: JobSpec, message: str, instruction: str = "", seconds: float = 1.0) -> JobRecord:
    failure = Failure("memory", message, instruction)
    return JobRecord(job.id, Outcome.FAILED, seconds, 1e9, failures=[failure])


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("word 17: expected -3, got 0x1F", "word 4: expected 9, got 0xdead"),
        ("cyc_total 7000, predicted 7001", "cyc_total 1, predicted 2"),
        ("killed after 3.5 s", "killed after 12 s"),
        ("no file /a/b/c.log", "no file /x/y-2/z_3.log"),
        ("words 1, 2, 3 differ", "words 7 differ"),
        ("got 32'hxxxx_0000", "got 32'h0000_0001"),
    ],
)
def test_messages_that_differ_in_numbers_only_are_alike(one, two):
    assert normalize(one).replace(", ...", "") == normalize(two)


def test_messages_about_different_things_stay_apart():
    assert normalize("cyc_mm 3") != normalize("cyc_dma 3")


def test_buckets_split_by_operation_and_count_jobs():
    jobs = make_jobs(5)
    records = [
        failed(jobs[0], "word 3 differs", "MM dst=1", 9.0),
        failed(jobs[1], "word 4 differs", "MM dst=7", 2.0),
        failed(jobs[2], "word 5 differs", "MM dst=9", 5.0),
        failed(jobs[3], "word 5 differs", "RQ dst=9"),
        JobRecord(jobs[4].id, Outcome.PASSED),
    ]
    by_id = {job.id: job for job in jobs}
    first, second = buckets.collect(by_id, records, "make regress-rerun RUN=run-1 JOB=")
    assert (first.count, first.operation, second.count, second.operation) == (3, "MM", 1, "RQ")
    # The example is the job that shows it soonest.
    assert (first.job, first.seed) == (jobs[1].id, jobs[1].seed)
    assert first.rerun == f"make regress-rerun RUN=run-1 JOB={jobs[1].id}"
    assert set(first.jobs) == {job.id for job in jobs[:3]}


def test_the_rerun_of_a_single_program_is_preferred():
    (job,) = make_jobs(1)
    failure = Failure("memory", "no", rerun="make random SEED=3 FIRST=7 N=1 WAVES=1")
    record = JobRecord(job.id, Outcome.FAILED, failures=[failure])
    (bucket,) = buckets.collect({job.id: job}, [record], "run ")
    assert bucket.rerun == failure.rerun


def junit_of(folder, jobs, records):
    """Write the JUnit file of a regression and return its suite."""
    result = summary.summarize(make_plan(list(jobs.values())), records, [], summary.COMPLETE, 1)
    by_id = {record.id: record for record in records}
    rerun = "make regress-rerun RUN=s-1 JOB="
    reports.write_junit(folder / "junit.xml", result, jobs, by_id, rerun)
    suite = ET.parse(folder / "junit.xml").getroot().find("testsuite")
    assert suite is not None
    return suite


def test_junit_has_one_case_a_job_with_seed_and_times(tmp_path):
    jobs = {job.id: job for job in make_jobs(4)}
    ok, bad, slow, never = jobs.values()
    records = [
        JobRecord(ok.id, Outcome.PASSED, 1.25, 1e9, programs=3, cycles=99),
        failed(bad, 'word 3 <"&> differs', "MM dst=1"),
        JobRecord(slow.id, Outcome.TIMEOUT, 9.0, failures=[Failure("timeout", "killed")]),
    ]
    suite = junit_of(tmp_path, jobs, records)
    design = {item.get("name"): item.get("value") for item in suite.find("properties")}
    assert (design["design path"], design["design dirty"]) == ("hw/rtl", "True")
    head = {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")}
    assert head == {"tests": "4", "failures": "1", "errors": "1", "skipped": "1"}
    cases = {case.get("name"): case for case in suite.iter("testcase")}
    assert set(cases) == set(jobs)
    properties = {item.get("name"): item.get("value") for item in cases[ok.id].iter("property")}
    assert properties["seed"] == str(ok.seed)
    assert properties["seconds"] == "1.25"
    assert properties["started"] == "2001-09-09T01:46:40Z"
    assert (cases[ok.id].get("time"), properties["cycles"]) == ("1.25", "99")
    failure = cases[bad.id].find("failure")
    assert failure is not None
    assert failure.get("message") == 'word 3 <"&> differs'
    assert f"JOB={bad.id}" in str(failure.text)
    assert cases[slow.id].find("error") is not None
    assert cases[never.id].find("skipped") is not None


def test_eta_weighs_what_is_left_by_its_group():
    jobs = [*make_jobs(4, "short"), *make_jobs(2, "long")]
    progress = Progress({job.id: job for job in jobs}, slots=2, known={("long", "verilator"): 60})
    assert progress.eta() is None
    progress.add(JobRecord(jobs[0].id, Outcome.PASSED, 2.0))
    assert progress.eta() == pytest.approx((3 * 2 + 2 * 60) / 2)
    for job in jobs[1:]:
        progress.add(JobRecord(job.id, Outcome.PASSED, 2.0))
    assert progress.eta() == 0


def test_longest_jobs_start_first_and_unknown_ones_before():
    jobs = [*make_jobs(2, "short"), *make_jobs(1, "new"), *make_jobs(2, "long")]
    known = {("short", "verilator"): 1.0, ("long", "verilator"): 50.0}
    names = [job.name for job in longest_first(jobs, known)]
    assert names == ["new", "long", "long", "short", "short"]


def test_plain_view_prints_failures_and_progress_as_lines():
    (job, other) = make_jobs(2)
    stream = io.StringIO()
    shown = display.PlainView(stream, interval=0)
    progress = Progress({job.id: job, other.id: other}, slots=1)
    shown.start(progress)
    record = failed(job, "word 3 differs")
    record.programs, record.cycles = 40, 2_000_000
    progress.add(record)
    shown.failure(record)
    shown.tick(progress)
    text = stream.getvalue()
    assert "\x1b" not in text
    assert f"FAILED {job.id}: word 3 differs" in text
    assert "1/2 done, 1 failed" in text
    assert "programs/s" in text


def test_live_view_draws_counts_and_latest_failures():
    (job,) = make_jobs(1)
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=120)
    shown = display.LiveView(console)
    progress = Progress({job.id: job}, slots=1)
    shown.start(progress)
    record = failed(job, "[bold] word 3 differs")
    progress.add(record)
    shown.failure(record)
    shown.end(progress)
    text = stream.getvalue()
    assert "1/1 done" in text
    assert "1 failed" in text
    assert "[bold] word 3 differs" in text


def test_what_stays_on_the_screen_is_printed_as_it_is():
    stream = io.StringIO()
    line = "rerun [bold] " + "x" * 300
    display.LiveView(Console(file=stream, force_terminal=True, width=80)).say(line)
    assert stream.getvalue() == line + "\n"


def test_times_and_numbers_are_short():
    assert [display.clock(x) for x in (None, 0, 59.6, 61, 3723)] == [
        "-:--",
        "0:00",
        "1:00",
        "1:01",
        "1:02:03",
    ]
    assert [display.short(x) for x in (0, 12.34, 1234, 5.6e6)] == ["0 ", "12.3 ", "1.23 k", "5.6 M"]


def test_a_run_without_failures_but_with_missing_jobs_did_not_pass():
    jobs = {job.id: job for job in make_jobs(2)}
    records = [JobRecord(next(iter(jobs)), Outcome.PASSED)]
    counts = summary.totals(jobs, records)
    assert summary.verdict(summary.INTERRUPTED, counts) == "incomplete"
    assert summary.verdict(summary.COMPLETE, summary.totals(jobs, [])) == "incomplete"


def test_what_neither_xml_nor_a_terminal_can_hold_is_spelled_out(tmp_path):
    (job,) = make_jobs(1)
    text = printable("\x1b[31mred\x1b[0m \x00\ud800 \ufffe caf\u00e9 \U0001f600")
    assert text == r"\x1b[31mred\x1b[0m \x00\ud800 \ufffe" + " caf\u00e9 \U0001f600"
    suite = junit_of(tmp_path, {job.id: job}, [failed(job, text)])
    failure = next(suite.iter("failure"))
    assert failure.get("message") == text


def test_many_failures_of_one_look_are_shown_once_and_counted(tmp_path):
    jobs = make_jobs(500)
    stream = io.StringIO()
    shown = display.PlainView(stream)
    records = [failed(job, f"word {number} differs") for number, job in enumerate(jobs)]
    records[400].failures = [Failure("counter", "cyc_mm differs")]
    for record in records:
        shown.failure(record)
    lines = stream.getvalue().splitlines()
    assert len(lines) == display.ALIKE + 2
    assert "cyc_mm differs" in lines[-1]
    first, second = buckets.collect({job.id: job for job in jobs}, records, "make ")
    assert (first.count, second.count) == (499, 1)


def test_one_report_that_cannot_be_written_costs_no_other(tmp_path):
    jobs = {job.id: job for job in make_jobs(3)}
    records = [JobRecord(key, Outcome.PASSED, programs=1) for key in jobs]
    corrupt = tmp_path / "jobs" / next(iter(jobs)) / "record.json"
    corrupt.parent.mkdir(parents=True)
    corrupt.write_text('{"id": ')
    (tmp_path / "junit.xml").mkdir()  # where a file must go
    result = summary.summarize(make_plan(list(jobs.values())), records, [], summary.COMPLETE, 1)
    problems = reports.write_all(tmp_path, result, jobs, {}, [], "make ")
    assert len(problems) == 2
    assert str(corrupt) in problems[0]
    assert f"{tmp_path / 'junit.xml'}: " in problems[1]
    assert all("\n" not in line for line in problems)
    assert {path.name for path in tmp_path.iterdir() if path.is_file()} == {
        "summary.json",
        "failures.txt",
        "counters.csv",
    }


def test_sources_edited_during_a_regression_fail_it(tmp_path):
    jobs = {job.id: job for job in make_jobs(1)}
    records = [JobRecord(key, Outcome.PASSED, programs=1) for key in jobs]
    plan = make_plan(list(jobs.values()))
    result = summary.summarize(plan, records, [], summary.COMPLETE, 1, ["verif/env/env.py"])
    assert result["verdict"] == "failed"
    assert "verif/env/env.py" in "".join(display.closing(result, [], ""))
    assert not reports.write_all(tmp_path, result, jobs, {}, [], "")
    suite = ET.parse(tmp_path / "junit.xml").getroot().find("testsuite")
    assert suite is not None
    assert suite.get("failures") == "1"
