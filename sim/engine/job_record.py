"""What a job was played on, kept in its folder: enough to play it again, or to refuse to.

A failing program, a job of its own in its job's folder, was played on the same.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sim.engine.builds import Build, request_of
from sim.engine.design import Design
from sim.shared.errors import UsageError
from sim.shared.files import write_json
from sim.shared.paths import ROOT, shown

RECORD = "played_on.json"


@dataclass(frozen=True)
class JobRecord:
    """What a job was played on.

    Attributes:
        sim: icarus or verilator.
        request: what the build was asked for: design, files without a list, coverage, defines,
            options, bench, top.
        seed: of Python's ``random`` in the simulator.
        plusargs: for the simulator; an initial state, for example.
        python: interpreter.
    """

    sim: str
    request: Mapping[str, Any]
    seed: int = 1
    plusargs: tuple[str, ...] = ()
    python: str = field(default=sys.executable)

    @classmethod
    def of(cls, built: Build, seed: int, plusargs: tuple[str, ...]) -> JobRecord:
        """The record of a job that is played with a build."""
        return cls(built.sim, request_of(built), seed, plusargs)

    @classmethod
    def load(cls, folder: Path) -> JobRecord:
        """Read the record of a job, or of the one in whose folder it lies.

        Raises:
            UsageError: there is none that can be read.
        """
        for place in (folder, *folder.absolute().parents[:2]):
            if (place / RECORD).is_file():
                try:
                    fields = json.loads((place / RECORD).read_text())
                    return cls(**{**fields, "plusargs": tuple(fields["plusargs"])})
                except (OSError, ValueError, TypeError, KeyError):
                    raise UsageError(f"{place / RECORD}: not what a job was played on") from None
        raise UsageError(f"{folder}: no {RECORD}, which says what the job was played on")

    def save(self, folder: Path) -> None:
        """Write the record into the folder of a job."""
        write_json(folder / RECORD, asdict(self))

    def design(self, changed: bool = False) -> Design:
        """The design that it was played on; with ``changed`` also when it is another by now.

        Raises:
            UsageError: it has changed, and nobody said that it may have.
            DesignError: it is gone.
        """
        stamp, files = self.request["design"], self.request["files"]
        path = ROOT / stamp["path"]
        if files is None:
            design = Design.load(path)
        else:
            design = Design.of_files(path, [Path(name) for name in files])
        if design.hash != stamp["hash"] and not changed:
            raise UsageError(
                f"{shown(path)} has changed since: it was {stamp['hash']}, it is {design.hash}; "
                f"--changed, or RTL={shown(path)}, plays the job on it as it is now"
            )
        return design

    def build(self, design: Design) -> dict[str, Any]:
        """Arguments of ``sim.engine.builds.build`` for the same build of a design."""
        bench = self.request["bench"]
        return {
            "rtl": design,
            "bench": None if bench is None else [Path(name) for name in bench],
            **{name: self.request[name] for name in ("coverage", "defines", "options", "top")},
        }
