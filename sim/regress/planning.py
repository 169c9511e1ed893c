"""What a regression is to do: a new plan, or an interrupted one that nothing has changed since."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sim.engine.design import Design
from sim.regress import run_folder
from sim.regress.builds import needed
from sim.regress.inputs import differences, read_inputs
from sim.regress.records import JobRecord, JobSpec
from sim.regress.suites import Config, expand
from sim.regress.summary import revision


@dataclass(frozen=True)
class Options:
    """What ``make regress`` was asked for.

    Attributes:
        file: the regression file.
        base: where run folders and the history go, on a file system that all workers share.
        suite: the suite's name.
        design: what is tested.
        jobs: jobs at a time.
        seed: master seed of all derived seeds; None takes 1, or that of the resumed regression.
        cluster: one of ``suites.CLUSTERS``.
        resume: go on with the latest interrupted regression of the suite.
        processes: local only: a worker process for each job at a time.
    """

    file: Path
    base: Path
    suite: str
    design: Design
    jobs: int
    seed: int | None = None
    cluster: str = "local"
    resume: bool = False
    processes: bool = False


@dataclass
class Session:
    """A planned regression: its folder, its jobs by id, and the records it has so far."""

    folder: Path
    plan: run_folder.Plan
    jobs: dict[str, JobSpec]
    records: dict[str, JobRecord]

    @property
    def design(self) -> str:
        """Hash of what is tested."""
        return self.plan.inputs.design.hash


def jobs_of(options: Options, settings: Config, seed: int) -> list[JobSpec]:
    """Return the jobs that the suite has now. Raises RecordError."""

    def check(spec: JobSpec) -> None:
        if spec.simulates:
            # The model and the testbench are imported only when something is simulated.
            from sim.regress import workloads

            workloads.check(spec)

    rtl = "" if options.design.is_own else str(options.design.path)
    return expand(settings, options.suite, seed, rtl=rtl, check=check)


def prepare(options: Options, settings: Config) -> Session:
    """Plan a new regression, or take up an interrupted one with what it has.

    Raises:
        RecordError: the suite cannot be expanded.
        run_folder.ResumeError: there is nothing to resume, or its results are of something else.
    """
    if options.resume:
        return resume(options, settings)
    seed = 1 if options.seed is None else options.seed
    specs = jobs_of(options, settings, seed)
    inputs = read_inputs(options.design, needed(specs))
    folder = run_folder.new_run_folder(options.base, options.suite)
    plan = run_folder.Plan(
        id=folder.name,
        suite=options.suite,
        seed=seed,
        started=time.time(),
        revision=revision(),
        cluster=options.cluster,
        slots=options.jobs,
        inputs=inputs,
        jobs=specs,
    )
    run_folder.write_plan(folder, plan)
    return Session(folder, plan, {spec.id: spec for spec in specs}, {})


def resume(options: Options, settings: Config) -> Session:
    """Take up the latest interrupted regression of the suite, if nothing has changed since.

    Raises:
        run_folder.ResumeError: names what has changed.
    """
    folder = run_folder.find_unfinished(options.base, options.suite)
    plan = run_folder.read_plan(folder)
    specs = jobs_of(options, settings, plan.seed)
    now = read_inputs(options.design, needed(specs))
    found = differences(plan.inputs, now)
    if options.seed not in (None, plan.seed):
        found.insert(0, f"SEED was {plan.seed}, now it is {options.seed}")
    if changed := changed_jobs(plan.jobs, specs):
        more = f" and {len(changed) - 1} more" if changed[1:] else ""
        found.append(f"the suite is another: job {changed[0]}{more}")
    if found:
        raise run_folder.ResumeError(
            f"RESUME=1: the results in {folder} are of something else: {'; '.join(found)}; "
            "start anew without RESUME=1"
        )
    plan.cluster, plan.slots = options.cluster, options.jobs
    run_folder.write_plan(folder, plan)
    records = run_folder.read_results(folder, specs, plan.inputs.design.hash)
    return Session(folder, plan, {spec.id: spec for spec in specs}, records)


def changed_jobs(old: Sequence[JobSpec], new: Sequence[JobSpec]) -> list[str]:
    """Return the ids of jobs that differ, or that only one of the two has."""
    was, now = ({spec.id: spec for spec in specs} for specs in (old, new))
    return [key for key in {**was, **now} if was.get(key) != now.get(key)]
