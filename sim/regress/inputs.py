"""What the results of a regression depend on besides its jobs: design, sources, tools.

Their digests are kept with the plan. A regression goes on only with what it began with, and does
not pass when something was changed while it ran.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path

from msgspec import Struct

from sim.engine.compilers import compiler_version
from sim.engine.design import Design
from sim.shared import files
from sim.shared.paths import ROOT

# Every file of these counts, whether a job reads it or not: none can be forgotten.
FOLDERS = ("model", "verif", "sim", "hw/formal")
# Its jobs are compared one by one.
APART = "sim/regress/suites.yaml"
SHOWN = 4


class Stamp(Struct, frozen=True):
    """Which design it was: folder, hash of its sources, Git revision, and whether that differs."""

    path: str
    hash: str
    revision: str = ""
    dirty: bool = False

    @classmethod
    def of(cls, design: Design) -> Stamp:
        """Return the stamp of a design."""
        return cls(**design.to_json())

    def __str__(self) -> str:
        revision = f", revision {self.revision[:10]}" if self.revision else ""
        return f"{self.path} ({self.hash}{revision}{' and changes' if self.dirty else ''})"


class Inputs(Struct):
    """The design, digests of our sources by path, versions of the tools by name."""

    design: Stamp
    sources: dict[str, str]
    tools: dict[str, str]


def read_inputs(design: Design, simulators: Iterable[str]) -> Inputs:
    """Return what there is now. Raises BuildError when a simulator is not installed."""
    tools = {"Python": sys.version.split()[0]}
    tools |= {name: compiler_version(name) for name in simulators}
    tools |= {one.name: one.version for one in metadata.distributions() if one.name}
    return Inputs(Stamp.of(design), read_sources(), tools)


def read_sources() -> dict[str, str]:
    """Return the digest of every source by its path in the project."""
    return {name: files.digest(ROOT / name) for name in sorted(_sources())}


def _sources() -> Iterator[str]:
    for folder in FOLDERS:
        for place, folders, names in os.walk(ROOT / folder):
            folders[:] = [name for name in folders if not name.startswith((".", "__"))]
            inside = Path(place).relative_to(ROOT)
            paths = (str(inside / name) for name in names if not name.startswith("."))
            yield from (path for path in paths if path != APART)


def differences(old: Inputs, new: Inputs) -> list[str]:
    """Return what differs, in a few words each; empty when nothing does."""
    found = []
    if (old.design.path, old.design.hash) != (new.design.path, new.design.hash):
        found.append(f"the design was {old.design}, now it is {new.design}")
    if changed := changes(old.sources, new.sources):
        more = f" and {len(changed) - SHOWN} more" if len(changed) > SHOWN else ""
        found.append(f"changed since: {', '.join(changed[:SHOWN])}{more}")
    for name in changes(old.tools, new.tools):
        was, now = (tools.get(name, "missing") for tools in (old.tools, new.tools))
        found.append(f"{name} was {was}, now it is {now}")
    return found


def changes(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """Return the keys whose values differ, or that only one of the two has."""
    return sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
