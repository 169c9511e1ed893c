"""The kinds of job that simulate: decode, random and directed programs."""

from __future__ import annotations

import dataclasses
import os
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from model.chip.timing import DEFAULT_LATENCY
from model.decode import workload
from model.serving.engine import Engine, run_engine
from model.serving.request import Options, Request
from model.serving.trace import draw_requests
from sim.decode.job import decode_job
from sim.engine.builds import Build
from sim.engine.design import random_command
from sim.engine.job_result import SimulationError
from sim.engine.simulator import simulate
from sim.regress.builds import VARIABLE, read_builds
from sim.regress.records import (
    DecodeParams,
    DirectedParams,
    Failure,
    JobReport,
    JobSpec,
    Params,
    RandomParams,
    ServeParams,
)
from sim.serving.job import Served, serving_job
from sim.shared.paths import RTL
from sim.shared.test_log import test_of
from verif.items.job import COVERAGE_FILE, Job
from verif.items.program_item import ProgramItem
from verif.items.result import ProgramResult
from verif.stimulus.directed import REGISTRY, Directed
from verif.stimulus.profiles import profile_named
from verif.typed import convert

COUNTERS = ("total", "mm", "dma", "vec", "n_inst")
REPORTED_FAILURES = 8
EXCEPTION = re.compile(r"[\w.]*(Error|Exception|Interrupt)\b")

P = TypeVar("P", bound=Params)
Workload = tuple[Job, int]  # and how many programs it plays


class WorkloadError(ValueError):
    """The parameters of a job name something that does not exist."""


def params_of(spec: JobSpec, kind: type[P]) -> P:
    """Return a job's parameters. Raises RecordError, which is a ValueError."""
    return convert(spec.params, kind, f"{spec.name}: params")


def check(spec: JobSpec) -> None:
    """Raise ValueError for a job whose programs cannot be made."""
    if spec.kind == "decode":
        decode_params(spec)
    elif spec.kind == "serve":
        check_serve(spec)
    elif spec.kind == "random":
        profile_named(params_of(spec, RandomParams).profile)
    elif spec.kind == "directed":
        directed_entries(spec)


def check_serve(spec: JobSpec) -> None:
    """Raise ModelError, mostly a ValueError, for requests that could not be served."""
    options, requests = serve_options(spec)
    engine = Engine(options, requests)
    for request in requests:
        engine.submit(request)


def decode_params(spec: JobSpec) -> workload.DecodeParams:
    """Return what the decode is to be. Raises ParameterError, which is a ValueError."""
    params = params_of(spec, DecodeParams)
    return workload.DecodeParams(
        model=params.model,
        seed=spec.seed,
        start=params.start,
        window=spec.window,
        steps=params.steps,
        page=spec.page,
        pool=params.pool,
        latency=spec.lat,
        depth=spec.depth,
    )


def decode_workload(spec: JobSpec) -> Workload:
    """Return the decode steps of one window; the job's seed is that of the model's weights."""
    run = workload.run_decode(decode_params(spec))
    return decode_job({spec.window: run}), len(run.steps)


def serve_options(spec: JobSpec) -> tuple[Options, list[Request]]:
    """Return the engine's options and drawn requests; the seed makes both. Raises ModelError."""
    params = params_of(spec, ServeParams)
    options = Options(
        model=params.model,
        seed=spec.seed,
        window=spec.window,
        sinks=params.sinks,
        page=spec.page,
        pool=params.pool,
        batch=params.batch,
        rows=params.rows,
        draft=params.draft,
        admission=params.admission,
        resident=params.resident,
        latency=spec.lat,
    )
    drawn = draw_requests(spec.seed, params.requests, params.rate, params.longest, params.model)
    return options, drawn


def serve_workload(spec: JobSpec) -> Workload:
    """Return the programs of served requests, each on the memories that the one before left.

    Raises:
        WorkloadError: a request is not served as if it were alone.
    """
    options, requests = serve_options(spec)
    run = run_engine(requests, options)
    if wrong := Served(run, ()).unlike_alone:
        rid, how = next(iter(wrong.items()))
        raise WorkloadError(f"request {rid}: {how}")
    return serving_job(run), len(run.steps)


def random_workload(spec: JobSpec) -> Workload:
    """Return ``programs`` random programs of a profile, which draws memories and latencies, too."""
    params = params_of(spec, RandomParams)
    drawn: dict[str, object] = {"seed": spec.seed, "count": params.programs}
    drawn |= {"profile": profile_named(params.profile).name, "first": params.first}
    settings = f"SIM={spec.simulator}" + (f" RTL={spec.rtl}" if spec.rtl else "")
    drawn["rerun"] = random_command(settings, spec.seed)
    return Job("random", drawn), params.programs


def directed_entries(spec: JobSpec) -> list[Directed]:
    """Return the directed programs of a job. Raises WorkloadError for a name nobody has."""
    params = params_of(spec, DirectedParams)
    if missing := sorted(set(params.programs) - set(REGISTRY)):
        raise WorkloadError(f"no directed program {', '.join(missing)}")
    families = {entry.family for entry in REGISTRY.values()}
    if absent := sorted(set(params.families) - families):
        raise WorkloadError(f"no family {', '.join(absent)}; known: {', '.join(sorted(families))}")
    everything = not params.programs and not params.families
    return [
        entry
        for entry in REGISTRY.values()
        if entry.name in params.programs
        or entry.family in params.families
        or (everything and (params.slow or not entry.slow))
    ]


def directed_workload(spec: JobSpec) -> Workload:
    """Return directed programs: those named, of a family, or all; slow ones only if asked for.

    The job's latency replaces that of programs which do not ask for one of their own.
    """
    items = [at_latency(i, spec.lat) for entry in directed_entries(spec) for i in entry.items()]
    return Job("items", items=items), len(items)


def at_latency(item: ProgramItem, latency: int) -> ProgramItem:
    """Return the item with another latency, unless it was made for one of its own."""
    if item.latencies or item.latency != DEFAULT_LATENCY:
        return item
    return dataclasses.replace(item, latency=latency)


WORKLOADS: dict[str, Callable[[JobSpec], Workload]] = {
    "decode": decode_workload,
    "serve": serve_workload,
    "random": random_workload,
    "directed": directed_workload,
}


def run_workload(spec: JobSpec, folder: Path) -> JobReport:
    """Make the programs, simulate them, and report them; a dead simulation is a failure, too."""
    outcome = JobReport()
    job, count = WORKLOADS[spec.kind](spec)
    built = None if spec.waves else shared_build(spec.simulator)
    try:
        result = simulate(
            spec.simulator,
            job,
            seed=spec.seed,
            # The supervisor of this process keeps the time, and kills all of it.
            timeout=10 * spec.timeout,
            waves=spec.waves,
            rtl=Path(spec.rtl) if spec.rtl else RTL,
            built=built,
            folder=folder / "sim",
            on_result=lambda program: add_result(outcome, program, spec.rtl),
        )
    except SimulationError as error:
        outcome.failures.append(Failure("simulation", brief(str(error))))
        return outcome
    outcome.files["log"] = os.path.relpath(result.log, folder)
    if (result.folder / COVERAGE_FILE).exists():
        outcome.files["coverage"] = os.path.relpath(result.folder / COVERAGE_FILE, folder)
    if result.waves:
        outcome.files["waves"] = str(result.waves)
    if not result.passed and not outcome.failures:
        outcome.failures.append(Failure("simulation", result.error or "nothing was compared"))
    if outcome.programs != count and not outcome.failures:
        message = f"{outcome.programs} of {count} programs came back"
        outcome.failures.append(Failure("simulation", message))
    return outcome


def shared_build(simulator: str) -> Build | None:
    """Return the build made before the regression, None when a job runs by itself."""
    path = os.environ.get(VARIABLE)
    return read_builds(Path(path)).get(simulator) if path else None


def brief(text: str) -> str:
    """Return the first line of a simulation's error with the line of its log that says why.

    That is the last exception, else the last line that is not make's.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    why = [line for line in lines[1:] if EXCEPTION.match(line)]
    why = why or [line for line in lines[1:] if not line.startswith("make")]
    return " ".join([*lines[:1], *why[-1:]])


def add_result(outcome: JobReport, result: ProgramResult, rtl: str = "") -> None:
    """Add what the testbench said about one program of the design in ``rtl``."""
    counters = [result.counters.get(name) for name in COUNTERS]
    outcome.rows.append([result.name, result.passed, *counters])
    test = test_of(result.provenance)
    if test is not None:
        passed, count = outcome.tests.get(test, (True, 0))
        outcome.tests[test] = (passed and result.passed, count + 1)
    outcome.programs += 1
    outcome.cycles += counters[0] or 0
    outcome.comparisons += result.comparisons
    if result.passed or len(outcome.failures) >= REPORTED_FAILURES:
        return
    failure = Failure("testbench", "nothing was compared", "", result.name, result.rerun)
    if result.mismatches:
        first = result.mismatches[0]
        failure.kind, failure.message = first.kind, first.message
        failure.instruction = result.first_divergence or first.instruction
    # The testbench does not know which folder its design came from.
    if rtl and "sim.programs.rerun" in result.rerun and " --rtl " not in result.rerun:
        failure.rerun += f" --rtl {shlex.quote(rtl)}"
    outcome.failures.append(failure)
