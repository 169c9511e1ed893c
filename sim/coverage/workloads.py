"""What coverage is collected from: directed and random programs, and the decode workload."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from model.decode.workload import DecodeParams, run_decode
from sim.decode.job import decode_job
from sim.engine.design import Design, make_settings, own_design, random_command
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
    """Every directed program, ``programs`` random ones of each profile, and decoding.

    Args:
        sim: simulator, for the commands that play single programs again.
        programs: of each profile; 0 for none.
        seed: of the random programs.
        slow: with the directed programs that are marked as slow.
        design: for these commands; None: the own one.
        decode: with the steps of a structured model under three windows.
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
        made.append(decode_workload(WINDOWS))
    return made


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
