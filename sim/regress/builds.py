"""Compile what the jobs need, once, before the first of them starts."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from sim.engine.builds import Build, build
from sim.engine.design import Design
from sim.regress.records import JobSpec
from sim.regress.run_folder import BUILDS
from sim.shared import files
from verif.typed import plain, read_json

VARIABLE = "GA2_REGRESS_BUILDS"  # names the file of the builds to a job


def needed(jobs: Sequence[JobSpec]) -> list[str]:
    """Return the simulators that the jobs run on, each once, in order of first use."""
    return list(dict.fromkeys(job.simulator for job in jobs if job.simulates))


def build_all(
    jobs: Sequence[JobSpec], design: Design, folder: Path, say: Callable[[str], None]
) -> None:
    """Compile every needed simulator and note in ``folder`` where it is, for the jobs to use.

    LAT, DEPTH, window and page are run-time values, so one build a simulator serves them all.
    A build whose sources and options did not change is found, not made.

    Raises:
        BuildError: a compilation failed.
    """
    made: dict[str, Build] = {}
    for simulator in needed(jobs):
        begin = time.monotonic()
        made[simulator] = build(simulator, rtl=design)
        seconds = time.monotonic() - begin
        if seconds > 1.0:
            say(f"built {simulator} in {seconds:.1f} s")
    files.write_json(folder / BUILDS, plain(made))


def read_builds(path: Path) -> dict[str, Build]:
    """Return the builds by simulator that ``build_all`` noted. Raises RecordError."""
    return read_json(path, dict[str, Build])
