"""What a mutant is: one small change of the RTL source, with everything a report says about it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum


class Form(str, Enum):
    """How an edit can be switched on at run time.

    EXPR: the range is an expression and its replacement has the same width and sign, so a
    conditional operator in its place is exact. STMT: the range is a whole statement, switched by
    ``if``. DECLARATION: an insertion that changes nothing by itself, state that the mutant reads.
    TEXT: none of these; the mutant needs a build of its own.
    """

    EXPR = "expr"
    STMT = "stmt"
    DECLARATION = "declaration"
    TEXT = "text"


@dataclass(frozen=True)
class Edit:
    """Bytes ``start`` to ``end`` (exclusive) of ``file`` become ``text``."""

    file: str
    start: int
    end: int
    text: str
    form: Form


@dataclass(frozen=True)
class Mutant:
    """One fault: ``edits`` applied together, at ``line`` of ``file`` (1-based)."""

    kind: str
    file: str
    line: int
    description: str
    edits: tuple[Edit, ...]
    name: str = ""

    @property
    def schema(self) -> bool:
        """Whether every edit can be switched at run time."""
        return all(edit.form is not Form.TEXT for edit in self.edits)

    @property
    def where(self) -> str:
        """File and line, as editors understand them."""
        return f"{self.file}:{self.line}"


Sources = Mapping[str, str]


def apply_edits(sources: Sources, edits: Sequence[Edit]) -> dict[str, str]:
    """Return the sources with the edits made, as a person would have typed them."""
    result = dict(sources)
    for edit in sorted(edits, key=lambda e: (e.file, e.start), reverse=True):
        text = result[edit.file]
        result[edit.file] = text[: edit.start] + edit.text + text[edit.end :]
    return result


def canonical(text: str) -> str:
    """Return source text without white space, to see when two mutants are the same design."""
    return "".join(text.split())


def key_of(mutant: Mutant, sources: Sources) -> str:
    """Name a mutant by what it makes of its files: the same in every run on the same RTL."""
    mutated = apply_edits(sources, mutant.edits)
    digest = hashlib.sha256()
    for file in sorted({edit.file for edit in mutant.edits}):
        digest.update(f"{file}\0{canonical(mutated[file])}\0".encode())
    return digest.hexdigest()[:16]


def in_order(mutants: Sequence[Mutant], sources: Sources) -> list[Mutant]:
    """Return mutants by file and place: those of one place get numbers side by side."""
    order = {name: at for at, name in enumerate(sources)}
    return sorted(mutants, key=lambda m: (order[m.file], m.edits[0].start, m.edits[0].end))
