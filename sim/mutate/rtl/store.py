"""The campaign's memory: one JSON line a verdict, so that a run can be interrupted and resumed.

A verdict holds as long as what it was made of stays the same: the RTL and the testbench for a kill,
the tests as well for a survivor, the RTL alone for a proof.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

KILLED, PROVEN, SURVIVED, OPEN = "killed", "proven", "survived", "open"


@dataclass(frozen=True)
class Outcome:
    """What is known of one mutant.

    Attributes:
        key: the mutant's name (see ``key_of``).
        status: killed, proven (equivalent), survived (so far) or open (nothing decided).
        stage: what decided: schema, icarus, own build, proof.
        checks, test, program, message: of the kill.
        seconds: that the decision took.
        programs: that ran.
        survived: tests passed.
        engine, scope, assumptions: of the proof.
        tried: engines that did not prove it.
    """

    key: str
    status: str
    stage: str = ""
    checks: tuple[str, ...] = ()
    test: str = ""
    program: str = ""
    message: str = ""
    seconds: float = 0.0
    programs: int = 0
    survived: tuple[str, ...] = ()
    engine: str = ""
    scope: str = ""
    assumptions: tuple[str, ...] = ()
    tried: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Outcome:
        """Inverse of ``as_json``."""
        known = {name: fields[name] for name in cls.__dataclass_fields__ if name in fields}
        for name in ("checks", "survived", "assumptions", "tried"):
            known[name] = tuple(known.get(name, ()))
        return cls(**known)


@dataclass(frozen=True)
class Context:
    """Digests of what verdicts depend on."""

    rtl: str
    bench: str
    tests: str

    def accepts(self, line: dict[str, Any]) -> bool:
        """Whether a stored line still holds."""
        same_rtl: bool = line["rtl"] == self.rtl
        if line["status"] == PROVEN:
            return same_rtl
        same_bench: bool = same_rtl and line["bench"] == self.bench
        if line["status"] == KILLED:
            return same_bench
        return same_bench and line["tests"] == self.tests


@dataclass
class Store:
    """Outcomes by key, in memory and on disk."""

    path: Path
    context: Context
    outcomes: dict[str, Outcome] = field(default_factory=dict)

    def load(self) -> None:
        """Read what still holds; a last line cut off by an interruption is ignored."""
        for line in read_lines(self.path):
            if self.context.accepts(line):
                self.outcomes[line["key"]] = Outcome.from_json(line)

    def add(self, outcome: Outcome) -> None:
        """Remember an outcome; tests survived and proofs tried earlier are kept."""
        before = self.outcomes.get(outcome.key)
        if before is not None:
            survived = dict.fromkeys((*before.survived, *outcome.survived))
            tried = dict.fromkeys((*before.tried, *outcome.tried))
            outcome = replace(outcome, survived=tuple(survived), tried=tuple(tried))
        self.outcomes[outcome.key] = outcome
        append_line(self.path, {**outcome.as_json(), **asdict(self.context)})

    def undecided(self, keys: Iterable[str]) -> list[str]:
        """Return the keys that are neither killed nor proven, in the given order."""
        return [
            key
            for key in keys
            if key not in self.outcomes or self.outcomes[key].status not in (KILLED, PROVEN)
        ]


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file of JSON lines, if there is one; one cut off is left out."""
    if not path.exists():
        return
    for text in path.read_text(encoding="utf-8").splitlines():
        with suppress(json.JSONDecodeError):
            yield json.loads(text)


def append_line(path: Path, fields: dict[str, Any]) -> None:
    """Append an object to a file of JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(fields) + "\n")


def digest_files(paths: Iterable[Path]) -> str:
    """Return a name for the contents of files."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def digest_texts(texts: dict[str, str]) -> str:
    """Return a name for the contents of sources."""
    digest = hashlib.sha256()
    for name, text in texts.items():
        digest.update(f"{name}\0{text}\0".encode())
    return digest.hexdigest()[:16]
