"""What the shrinking sequence leaves in its job's folder, for the front end."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

SHRUNK = "shrunk"  # subfolder: the reduced series as a job of its own
REPORT = "shrunk.json"


@dataclass(frozen=True)
class ShrinkReport:
    """How a search went.

    Attributes:
        reproduced: the program failed again, alone or after those before it.
        finished: nothing was left to try; False when the time was over.
        candidates: series played.
        seconds: wall-clock time.
    """

    reproduced: bool
    finished: bool
    candidates: int
    seconds: float

    def save(self, folder: Path) -> None:
        """Write the report into a job's folder."""
        (folder / REPORT).write_text(json.dumps(asdict(self)))

    @classmethod
    def load(cls, folder: Path) -> ShrinkReport:
        """Read the report of a job's folder."""
        return cls(**json.loads((folder / REPORT).read_text()))
