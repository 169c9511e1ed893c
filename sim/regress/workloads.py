"""The kinds of job that simulate: decode, random and directed programs."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from model.chip.timing import DEFAULT_LATENCY
from model.decode.workload import DecodeParams, run_decode
from sim.decode.job import decode_job
from sim.engine.builds import Build
from sim.engine.simulator import SimulationError, simulate
from sim.regress.builds import read_builds
from sim.regress.records import Failure, JobSpec, Outcome
from sim.regress.worker import BUILDS_VARIABLE
from sim.shared.test_log import test_of
from verif.items.job import COVERAGE_FILE, Job
from verif.items.program_item import ProgramItem
from verif.items.result import ProgramResult
from verif.stimulus.directed import REGISTRY
from verif.stimulus.profiles import profile_named

COUNTERS = ("total", "mm", "dma", "vec", "n_inst")
REPORTED_FAILURES = 8
EXCEPTION = re.compile(r"[\w.]*(Error|Exception|Interrupt)\b")

Workload = tuple[Job, int]  # and how many programs it plays


class WorkloadError(ValueError):
    """The parameters of a job name something that does not exist."""


def take_params(spec: JobSpec, **defaults: Any) -> dict[str, Any]:
    """Return a job's parameters over their defaults. Raises WorkloadError for unknown ones."""
    known = {**defaults, "waves": False, "rtl": ""}
    unknown = sorted(set(spec.params) - set(known))
    if unknown:
        raise WorkloadError(f"{spec.kind} takes no {', '.join(unknown)}; {', '.join(known)} exist")
    return {**known, **spec.params}


def decode_workload(spec: JobSpec) -> Workload:
    """Return the decode steps of one window; the job's seed is that of the model's weights."""
    params = take_params(spec, model="structured", start=0, steps=32, pool=64)
    run = run_decode(
        DecodeParams(
            model=params["model"],
            seed=spec.seed,
            start=params["start"],
            window=spec.window,
            steps=params["steps"],
            page=spec.page,
            pool=params["pool"],
            latency=spec.lat,
            depth=spec.depth,
        )
    )
    return decode_job({spec.window: run}), len(run.steps)


def random_workload(spec: JobSpec) -> Workload:
    """Return `programs` random programs of a profile, which draws memories and latencies, too."""
    params = take_params(spec, profile="typical", programs=50, first=0)
    count = params["programs"]
    drawn = {"seed": spec.seed, "count": count}
    drawn |= {"profile": profile_named(params["profile"]).name, "first": params["first"]}
    drawn["where"] = f"SIM={spec.simulator}" + (f" RTL={params['rtl']}" if params["rtl"] else "")
    return Job("random", drawn), count


def directed_workload(spec: JobSpec) -> Workload:
    """Return directed programs: those named, of a family, or all; slow ones only if asked for.

    The job's latency replaces that of programs which do not ask for one of their own.
    """
    params = take_params(spec, programs=(), families=(), slow=False)
    missing = sorted(set(params["programs"]) - set(REGISTRY))
    if missing:
        raise WorkloadError(f"no directed program {', '.join(missing)}")
    families = {entry.family for entry in REGISTRY.values()}
    absent = sorted(set(params["families"]) - families)
    if absent:
        raise WorkloadError(f"no family {', '.join(absent)}; known: {', '.join(sorted(families))}")
    items: list[ProgramItem] = []
    for entry in REGISTRY.values():
        wanted = entry.name in params["programs"] or entry.family in params["families"]
        everything = not params["programs"] and not params["families"]
        if wanted or (everything and (params["slow"] or not entry.slow)):
            items += [at_latency(item, spec.lat) for item in entry.items()]
    return Job("items", items=items), len(items)


def at_latency(item: ProgramItem, latency: int) -> ProgramItem:
    """Return the item with another latency, unless it was made for one of its own."""
    if item.latencies or item.latency != DEFAULT_LATENCY:
        return item
    return dataclasses.replace(item, latency=latency)


WORKLOADS: dict[str, Callable[[JobSpec], Workload]] = {
    "decode": decode_workload,
    "random": random_workload,
    "directed": directed_workload,
}


def run_workload(spec: JobSpec, folder: Path) -> Outcome:
    """Make the programs, simulate them, and report them; a dead simulation is a failure, too."""
    outcome = Outcome()
    job, count = WORKLOADS[spec.kind](spec)
    waves = bool(spec.params.get("waves"))
    rtl = spec.params.get("rtl")
    options: dict[str, Any] = {"rtl": Path(rtl)} if rtl else {}
    if not waves and not rtl:
        options["built"] = shared_build(spec.simulator)
    try:
        result = simulate(
            spec.simulator,
            job,
            seed=spec.seed,
            # The supervisor of this process keeps the time, and kills all of it.
            timeout=10 * spec.timeout,
            waves=waves,
            folder=folder / "sim",
            on_result=lambda program: add_result(outcome, program),
            **options,
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
    path = os.environ.get(BUILDS_VARIABLE)
    return read_builds(Path(path)).get(simulator) if path else None


def brief(text: str) -> str:
    """Return the first line of a simulation's error with the line of its log that says why.

    That is the last exception, else the last line that is not make's.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    why = [line for line in lines[1:] if EXCEPTION.match(line)]
    why = why or [line for line in lines[1:] if not line.startswith("make")]
    return " ".join([*lines[:1], *why[-1:]])


def add_result(outcome: Outcome, result: ProgramResult) -> None:
    """Add what the testbench said about one program."""
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
    if not result.mismatches:
        outcome.failures.append(
            Failure("testbench", "nothing was compared", program=result.name, rerun=result.rerun)
        )
        return
    first = result.mismatches[0]
    instruction = result.first_divergence or first.instruction
    outcome.failures.append(
        Failure(first.kind, first.message, instruction, result.name, result.rerun)
    )
