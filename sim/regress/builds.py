"""Compile what the jobs need, once, before the first of them starts."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from sim.engine.builds import Build, BuildError, build
from sim.regress.records import JobSpec
from sim.regress.worker import BUILDS
from sim.shared import files

__all__ = ["BuildError", "build_all", "needed", "read_builds"]


def needed(jobs: Sequence[JobSpec]) -> list[str]:
    """Return the simulators that the jobs run on, each once, in order of first use."""
    return list(dict.fromkeys(job.simulator for job in jobs if job.kind not in ("command", "noop")))


def build_all(jobs: Sequence[JobSpec], folder: Path, say: Callable[[str], None]) -> None:
    """Compile every needed simulator and note in `folder` where it is, for the jobs to use.

    LAT, DEPTH, window and page are run-time values, so one build a simulator serves them all.
    A build whose sources and options did not change is found, not made.

    Raises:
        BuildError: a compilation failed.
    """
    made: dict[str, Build] = {}
    for simulator in needed(jobs):
        begin = time.monotonic()
        made[simulator] = build(simulator)
        seconds = time.monotonic() - begin
        if seconds > 1.0:
            say(f"built {simulator} in {seconds:.1f} s")
    write_builds(folder / BUILDS, made)


def write_builds(path: Path, made: dict[str, Build]) -> None:
    """Write the builds by simulator, in one step."""
    data = {
        name: {
            "sim": item.sim,
            "folder": str(item.folder),
            "waves": item.waves,
        }
        for name, item in made.items()
    }
    files.write_json(path, data, indent=1)


def read_builds(path: Path) -> dict[str, Build]:
    """Return the builds by simulator that `write_builds` noted."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return {
        name: Build(
            item["sim"],
            Path(item["folder"]),
            item["waves"],
        )
        for name, item in data.items()
    }
