"""What the campaign's front end and its simulations tell each other: JSON lines in files."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

QUEUE_FILE = "queue"


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant in a simulation.

    Attributes:
        number: of the mutant in the instrumented copy; 0 is the design itself.
        killed: a check failed.
        checks: kinds of the checks that failed, in the order found (memory, counter, fault,
            traffic, retire, protocol, hang, x, crash).
        test, program: what was running.
        message: the first mismatch in words.
        programs: programs run until the verdict.
        seconds: wall-clock time until the verdict.
        survived: names of the tests that a surviving mutant passed.
    """

    number: int
    killed: bool
    checks: tuple[str, ...] = ()
    test: str = ""
    program: str = ""
    message: str = ""
    programs: int = 0
    seconds: float = 0.0
    survived: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Verdict:
        """Inverse of ``as_json``; unknown fields are ignored."""
        known = {name: fields[name] for name in cls.__dataclass_fields__ if name in fields}
        for name in ("checks", "survived"):
            known[name] = tuple(known.get(name, ()))
        return cls(**known)


class Queue:
    """Positions 0, 1, 2, ... handed out to several processes, each once."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def reset(self) -> None:
        """Begin again at 0."""
        self.path.write_text("0")

    def take(self) -> int:
        """Return the next position."""
        with open(self.path, "r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            position = int(file.read() or 0)
            file.seek(0)
            file.write(str(position + 1))
            file.truncate()
        return position


class LineWriter:
    """Appends JSON lines to a file, each at once: the process may be killed by a mutant."""

    def __init__(self, path: Path) -> None:
        self.file = open(path, "a", encoding="utf-8")  # noqa: SIM115

    def write(self, kind: str, **fields: Any) -> None:
        """Append one line."""
        self.file.write(json.dumps({"type": kind, **fields}) + "\n")
        self.file.flush()


class LineReader:
    """Reads the JSON lines that were appended since the last look."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.offset = 0

    def new(self) -> Iterator[dict[str, Any]]:
        """Yield complete new lines."""
        if not self.path.exists():
            return
        with open(self.path, "rb") as file:
            file.seek(self.offset)
            data = file.read()
        end = data.rfind(b"\n") + 1
        self.offset += end
        for line in data[:end].decode().splitlines():
            yield json.loads(line)
