"""Reads and merges the coverage data that Verilator's models write (``coverage.dat``).

One line a point: ``C '<attributes>' <count>``, each attribute ``\\x01<name>\\x02<value>``. Those
used here: f file, l line, n column, t type, o comment, S source lines. Where a point lies in the
hierarchy (h) is dropped: a module is covered by all its instances together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Kind = Literal["line", "branch", "expression", "toggle"]
KINDS: tuple[Kind, ...] = ("line", "branch", "expression", "toggle")

HEADER = "# SystemC::Coverage"


class CoverageDataError(ValueError):
    """A file that is not coverage data, or has a point in it that this reader does not know."""


@dataclass(frozen=True, order=True)
class Item:
    """Something in the source that has to happen.

    Attributes:
        file: name of the source file, without its folder.
        line: where it is written.
        kind: line, branch, expression or toggle.
        what: what has to happen: empty for a line; the outcome of a decision (``if``, ``else``,
            ``case``, ...); the values of an expression's terms; a signal's bit and direction.
        column: tells decisions in one line apart.
    """

    file: str
    line: int
    kind: Kind
    what: str = ""
    column: int = 0


Counts = Mapping[Item, int]


def read_points(path: Path) -> Counter[Item]:
    """Counts of every item in a data file.

    Raises:
        CoverageDataError: it is no such file.
    """
    counts: Counter[Item] = Counter()
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        if not file.readline().startswith(HEADER):
            raise CoverageDataError(f"{path} is no coverage data: no line {HEADER}")
        for number, line in enumerate(file, start=2):
            try:
                _add(counts, line)
            except (KeyError, ValueError) as error:
                raise CoverageDataError(f"{path}, line {number}: {error!r} in {line!r}") from error
    return counts


def _add(counts: Counter[Item], line: str) -> None:
    if not line.startswith("C '"):
        raise ValueError("no point")
    text, count = line[3:].rsplit("' ", 1)
    fields = dict(part.split("\x02", 1) for part in text.split("\x01")[1:])
    for item in _items(fields):
        # Points without a count are items all the same.
        counts[item] += int(count)


def _items(fields: dict[str, str]) -> Iterable[Item]:
    """What a point stands for: a decision's outcome and the lines that run by it, for example."""
    file = fields["f"].rsplit("/", 1)[-1]
    line, column, what, type_ = int(fields["l"]), int(fields["n"]), fields["o"], fields["t"]
    if type_ == "toggle":
        yield Item(file, line, "toggle", what)
    elif type_ == "expr":
        yield Item(file, line, "expression", what, column)
    elif type_ in ("line", "branch"):
        # The first arm of an if-else chain is of type branch or line, depending on the chain.
        if what != "block":
            yield Item(file, line, "branch", what, column)
        for number in _numbers(fields.get("S", "")):
            yield Item(file, number, "line")
    else:
        raise ValueError(f"type {type_!r}")


def _numbers(ranges: str) -> Iterable[int]:
    """Numbers of ranges like ``5,7-9``."""
    for part in filter(None, ranges.split(",")):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def merge(parts: Iterable[Counts]) -> Counter[Item]:
    """Sum of the counts of several runs."""
    merged: Counter[Item] = Counter()
    for part in parts:
        for item, count in part.items():
            merged[item] += count
    return merged


def read_all(paths: Iterable[Path]) -> Counter[Item]:
    """Merged counts of several files.

    Raises:
        CoverageDataError: there is none, or one is no such file.
    """
    files = list(paths)
    if not files:
        raise CoverageDataError("no coverage data")
    return merge(read_points(path) for path in files)
