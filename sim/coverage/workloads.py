"""What coverage is collected from: directed and random programs, decoding and serving."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from model.decode.workload import DecodeParams, run_decode
from model.serving import Request, serve
from sim.decode.job import decode_job
from sim.engine.design import Design, make_settings, own_design, random_command
from sim.serving.job import serving_job
from verif.items.job import Job
from verif.stimulus.directed import REGISTRY
from verif.stimulus.profiles import PROFILES

DECODE_STEPS = 32
WINDOWS = (None, 8, 4)


@dataclass(frozen=True)
class Workload:
    """One simulation.

    Attributes:
        name: for folders and listings.
        job: what it plays.
        programs: how many that are.
    """

    name: str
    job: Job
    programs: int


def workloads(
    sim: str,
    programs: int,
    seed: int,
    *,
    slow: bool = True,
    decode: bool = True,
    design: Design | None = None,
) -> list[Workload]:
    """Every directed program, ``programs`` random ones of each profile, decoding and serving.

    Args:
        sim: simulator, for the commands that play single programs again.
        programs: of each profile; 0 for none.
        seed: of the random programs.
        slow: with the directed programs that are marked as slow.
        design: for these commands; None: the own one.
        decode: with the steps of a structured model under three windows, and served requests.
    """
    items = [
        item for entry in REGISTRY.values() if slow or not entry.slow for item in entry.items()
    ]
    made = [Workload("directed", Job("items", {}, items), len(items))]
    for profile in PROFILES if programs else ():
        params = {"seed": seed, "profile": profile, "count": programs, "first": 0}
        params["rerun"] = random_command(make_settings(sim, design or own_design()), seed)
        made.append(Workload(f"random-{profile}", Job("random", params), programs))
    if decode:
        made += [decode_workload(WINDOWS), serve_workload()]
    return made


def serve_workload() -> Workload:
    """A few requests with a common prompt, one drafting, on little memory: pages are copied."""
    requests = [Request(f"r{n}", n, [3, 1, 4, 1, *range(n % 2)], 5) for n in range(3)]
    run = serve(
        requests, model="random", seed=2, window=6, sinks=2, page=2, pool=7, rows=6, draft=2
    )
    job = serving_job(run)
    return Workload("serve", job, len(job.items))


def decode_workload(windows: Sequence[int | None]) -> Workload:
    """The decode steps of the structured model under each window."""
    runs = {
        window: run_decode(
            DecodeParams(
                model="structured",
                seed=1,
                start=0,
                window=window,
                steps=DECODE_STEPS,
                page=4,
                pool=64,
            )
        )
        for window in windows
    }
    job = decode_job(runs)
    return Workload("decode", job, len(job.items))
