"""One regression from start to end: plan, build, run, report, remember."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sim.engine.design import Design
from sim.regress import buckets, clusters, dispatch, history, reports, rerun, run_folder, summary
from sim.regress.display import View, closing
from sim.regress.farms import ClusterError
from sim.regress.inputs import changes, read_sources
from sim.regress.planning import Options, Session, prepare
from sim.regress.progress import Group, Progress, longest_first
from sim.regress.records import JobRecord, JobSpec
from sim.regress.stop import Stop, kill_descendants
from sim.regress.suites import Config, load
from sim.shared import jsonl, test_log
from verif.typed import plain

PATIENCE_SECONDS = 30.0
Builder = Callable[[Sequence[JobSpec], Design, Path, Callable[[str], None]], None]


def regress(options: Options, view: View, build: Builder) -> dict[str, Any]:
    """Run a regression and return its summary; the reports are written also when it is stopped.

    ``build`` is called once with all jobs that are to run, before the first one starts. What kept
    the regression from its end, and reports that could not be written, are in ``problems``.

    Raises:
        RecordError, ResumeError, ClusterError, BuildError, OSError: nothing was run.
    """
    begin = time.monotonic()
    settings = load(options.file)
    stop = Stop()
    with stop.on_signals():
        session = prepare(options, settings)
        plan = session.plan
        view.say(f"{plan.suite}: {len(plan.jobs)} jobs, seed {plan.seed}, {plan.inputs.design}")
        known = known_seconds(options.base / run_folder.HISTORY, view)
        todo = [spec for spec in plan.jobs if spec.id not in session.records]
        cluster = None
        problems = []
        try:
            cluster = make_ready(options, settings, session, todo, build, view)
            run_part(session, cluster, longest_first(todo, known), known, view, stop, settings)
        except KeyboardInterrupt:
            stop.set("interrupted")
        except (OSError, ClusterError) as error:
            if cluster is None:
                raise
            # What has come back is reported, and can be gone on with.
            stop.set(f"{error}")
            problems.append(describe(error))
        finally:
            if stop:
                kill_descendants()
        # An impatient second Ctrl-C must not cost the report.
        with stop.quietly():
            result, missing = conclude(options, session, view, time.monotonic() - begin)
        if cluster is not None:
            cluster.close(timeout=1.0 if stop else 5.0)
    return {**result, "problems": [*problems, *missing]}


def known_seconds(path: Path, view: View) -> dict[Group, float]:
    """Return the mean seconds of a job by group; what the history cannot tell costs nothing."""
    try:
        return history.mean_seconds(path)
    except history.HistoryError as error:
        view.say(f"no history: {error}")
        return {}


def describe(error: Exception) -> str:
    """Return an error with the file that it is about."""
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def make_ready(
    options: Options,
    settings: Config,
    session: Session,
    todo: Sequence[JobSpec],
    build: Builder,
    view: View,
) -> clusters.Cluster | None:
    """Return a cluster with everything compiled; None when there is nothing to do.

    A farm that refuses us says so before anything is compiled. When there is no cluster or no
    build, a new run folder goes again: nothing was run in it.
    """
    cluster = None
    try:
        if todo:
            cluster = clusters.start(
                options.cluster,
                options.jobs,
                session.folder,
                settings.clusters.get(options.cluster),
                processes=options.processes,
            )
            build(todo, options.design, session.folder, view.say)
            cluster.keep_size()
        run_folder.point_latest(session.folder)
    except BaseException as error:
        if cluster is not None:
            cluster.close(timeout=1.0)
        if not options.resume and not isinstance(error, KeyboardInterrupt):
            shutil.rmtree(session.folder, ignore_errors=True)
        raise
    return cluster


def run_part(
    session: Session,
    cluster: clusters.Cluster | None,
    todo: list[JobSpec],
    known: dict[Group, float],
    view: View,
    stop: Stop,
    settings: Config,
) -> None:
    """Run the jobs that have no record yet, and log each record as it comes in.

    Raises:
        OSError: a record cannot be kept.
        ClusterError: there is no worker, and the farm takes no more.
    """
    progress = Progress(session.jobs, cluster.jobs if cluster else 1, known)
    progress.resume(session.records.values())
    with jsonl.Writer(session.folder / run_folder.RESULTS) as log:
        # Includes records that a worker wrote but that nobody collected before the interruption.
        logged = run_folder.logged_ids(session.folder)
        log.add(*(plain(one) for one in session.records.values() if one.id not in logged))

        def take(record: JobRecord) -> None:
            if record.id in session.records:
                raise AssertionError(f"job {record.id} was accounted for twice")
            log.add(plain(record))
            session.records[record.id] = record
            progress.add(record)
            if not record.passed:
                view.failure(record)

        view.start(progress)
        try:
            if cluster is not None:
                with stop.quietly():
                    dispatch.run_jobs(
                        cluster,
                        todo,
                        session.folder,
                        design=session.design,
                        stop=stop,
                        on_record=take,
                        on_tick=ticker(progress, view, session.folder),
                        keep_passed=settings.keep_passed,
                    )
        finally:
            progress.running = 0
            view.end(progress)


def ticker(progress: Progress, view: View, folder: Path) -> Callable[[int, int], None]:
    """Return what shows running jobs and workers, and says when no worker comes for long."""
    seen = time.monotonic()

    def tick(running: int, workers: int) -> None:
        nonlocal seen
        progress.running, progress.workers = running, workers
        now = time.monotonic()
        if workers:
            seen = now
        elif now - seen > PATIENCE_SECONDS:
            seen = now
            view.say(f"no worker yet: is the farm full? see {folder}/dask.log")
        view.tick(progress)

    return tick


def conclude(
    options: Options, session: Session, view: View, seconds: float
) -> tuple[dict[str, Any], list[str]]:
    """Write every report of a regression, remember it in the history, and say how it went.

    Returns the summary, and a line about each report that could not be written.
    """
    plan, folder = session.plan, session.folder
    records = [session.records[key] for key in session.jobs if key in session.records]
    rerun_words = rerun.rerun_prefix(folder, options.design)
    found = buckets.collect(session.jobs, records, rerun_words)
    complete = len(records) == len(session.jobs)
    result = summary.summarize(
        plan,
        records,
        found,
        summary.COMPLETE if complete else summary.INTERRUPTED,
        sum(plan.parts) + seconds,
        changes(plan.inputs.sources, read_sources()),
    )
    problems = reports.write_all(folder, result, session.jobs, session.records, found, rerun_words)
    plan.parts = [*plan.parts, seconds]
    try:
        run_folder.write_plan(folder, plan)
        if not result["changed"]:
            log = options.design.output("results")
            for simulator, outcomes in summary.tests(session.jobs, records).items():
                test_log.record(simulator, outcomes, log, session.design)
    except OSError as error:
        problems.append(describe(error))
    try:
        path = options.base / run_folder.HISTORY
        history.record(path, result, session.jobs, records, found)
    except history.HistoryError as error:
        view.say(f"no history: {error}")
    for line in closing(result, found, str(folder)):
        view.say(line)
    return result, problems
