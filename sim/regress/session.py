"""One regression from start to end: plan, build, run, report, remember."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sim.regress import buckets as bucketing
from sim.regress import clusters, dispatch, history, junit, reports, run_folder, suites
from sim.regress.display import View, closing
from sim.regress.progress import Progress, longest_first
from sim.regress.records import JobRecord, JobSpec
from sim.shared import test_log as ran

HISTORY = "history.sqlite"
PATIENCE_SECONDS = 30.0
Builder = Callable[[list[JobSpec], Path, Callable[[str], None]], None]


@dataclass(frozen=True)
class Options:
    """What `make regress` was asked for.

    Attributes:
        file: the regression file.
        base: where run folders and the history go, on a file system that all workers share.
        suite: the suite's name.
        seed: master seed of all derived seeds.
        jobs: jobs at a time.
        cluster: one of `clusters.KINDS`.
        resume: go on with the latest interrupted regression of the suite.
        processes: local only: a worker process for each job at a time.
    """

    file: Path
    base: Path
    suite: str
    seed: int
    jobs: int
    cluster: str = "local"
    resume: bool = False
    processes: bool = False


@dataclass
class Session:
    """A planned regression: its folder, its jobs by id, and the records it has so far."""

    folder: Path
    plan: dict[str, Any]
    jobs: dict[str, JobSpec]
    records: dict[str, JobRecord]
    before: float


def prepare(options: Options, settings: suites.Config) -> Session:
    """Plan a new regression, or take up an interrupted one with what it has.

    Raises:
        suites.ConfigError: the suite cannot be expanded.
        run_folder.ResumeError: there is nothing to resume.
    """
    if options.resume:
        folder = run_folder.find_unfinished(options.base, options.suite)
        plan, specs = run_folder.read_plan(folder)
        records = run_folder.read_results(folder, specs)
        before = sum(plan.get("parts", []))
    else:
        specs = suites.expand(settings, options.suite, options.seed)
        folder = run_folder.new_run_folder(options.base, options.suite)
        plan = {
            "id": folder.name,
            "suite": options.suite,
            "seed": options.seed,
            "started": time.time(),
            "revision": reports.revision(),
        }
        records, before = {}, 0.0
    plan["cluster"], plan["slots"] = options.cluster, options.jobs
    run_folder.write_plan(folder, plan, specs)
    run_folder.point_latest(folder)
    return Session(folder, plan, {spec.id: spec for spec in specs}, records, before)


def regress(options: Options, view: View, build: Builder) -> dict[str, Any]:
    """Run a regression and return its summary; the reports are written also when it is stopped.

    `build` is called once with all jobs that are to run, before the first one starts.

    Raises:
        suites.ConfigError, run_folder.ResumeError, clusters.ClusterError: nothing was run.
    """
    begin = time.monotonic()
    settings = suites.load(options.file)
    stop = dispatch.Stop()
    with stop.on_signals():
        session = prepare(options, settings)
        view.say(f"{options.suite}: {len(session.jobs)} jobs, seed {session.plan['seed']}")
        known = history.mean_seconds(options.base / HISTORY)
        todo = [job for job in session.jobs.values() if job.id not in session.records]
        cluster = None
        try:
            if todo:
                build(todo, session.folder, view.say)
                cluster = clusters.start(
                    options.cluster,
                    options.jobs,
                    settings.clusters.get(options.cluster) or {},
                    session.folder,
                    processes=options.processes,
                )
            run_part(session, cluster, longest_first(todo, known), known, view, stop, settings)
        except KeyboardInterrupt:
            stop.set("interrupted")
        finally:
            if stop:
                dispatch.kill_descendants()
        # An impatient second Ctrl-C must not cost the report.
        with stop.quietly():
            summary = conclude(options, session, view, time.monotonic() - begin)
        if cluster is not None:
            cluster.close(timeout=1.0 if stop else 5.0)
    return summary


def run_part(
    session: Session,
    cluster: clusters.Cluster | None,
    todo: list[JobSpec],
    known: dict[tuple[str, str], float],
    view: View,
    stop: dispatch.Stop,
    settings: suites.Config,
) -> None:
    """Run the jobs that have no record yet, and log each record as it comes in."""
    progress = Progress(session.jobs, cluster.jobs if cluster else 1, known)
    progress.resume(session.records.values())
    with run_folder.ResultLog(session.folder) as log:
        # Includes records that a worker wrote but that nobody collected before the interruption.
        logged = run_folder.logged_ids(session.folder)
        for record in session.records.values():
            if record.id not in logged:
                log.add(record)

        def take(record: JobRecord) -> None:
            if record.id in session.records:
                raise AssertionError(f"job {record.id} was accounted for twice")
            log.add(record)
            session.records[record.id] = record
            progress.add(record)
            if not record.passed:
                view.failure(record)

        seen = time.monotonic()

        def tick(running: int, workers: int) -> None:
            nonlocal seen
            progress.running, progress.workers = running, workers
            if workers:
                seen = time.monotonic()
            elif time.monotonic() - seen > PATIENCE_SECONDS:
                seen = time.monotonic()
                view.say(f"no worker yet: is the farm full? see {session.folder}/dask.log")
            view.tick(progress)

        view.start(progress)
        try:
            if cluster is not None:
                with stop.quietly():
                    dispatch.run_jobs(
                        cluster,
                        todo,
                        session.folder,
                        stop=stop,
                        on_record=take,
                        on_tick=tick,
                        keep_passed=settings.keep_passed,
                    )
        finally:
            progress.running = 0
            view.end(progress)


def conclude(options: Options, session: Session, view: View, seconds: float) -> dict[str, Any]:
    """Write every report of a regression, remember it in the history, and say how it went."""
    records = [session.records[key] for key in session.jobs if key in session.records]
    complete = len(records) == len(session.jobs)
    state = reports.COMPLETE if complete else reports.INTERRUPTED
    found = bucketing.collect(session.jobs, records, session.folder.name)
    total = session.before + seconds
    summary = reports.summarize(session.plan, session.jobs, records, found, state, total)
    reports.write(session.folder, summary, found)
    properties = {key: summary[key] for key in ("id", "seed", "cluster", "revision", "state")}
    path = session.folder / "junit.xml"
    junit.write(path, options.suite, session.jobs, records, session.folder.name, properties)
    reports.write_counters(session.folder, session.jobs)
    for simulator, outcomes in reports.tests(session.jobs, records).items():
        ran.record(simulator, outcomes)
    parts = [*session.plan.get("parts", []), seconds]
    run_folder.write_plan(session.folder, {**session.plan, "parts": parts}, session.jobs.values())
    history.record(options.base / HISTORY, summary, session.jobs, records, found)
    for line in closing(summary, found, str(session.folder)):
        view.say(line)
    return summary
