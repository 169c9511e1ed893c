"""Code coverage of the design: figures by file and kind, and every hole with its source line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sim.coverage.dat import KINDS, Counts, CoverageDataError, Item, Kind
from sim.coverage.exclusions import Exclusion, Sources, apply
from sim.engine.design import Design

GOALS: Mapping[Kind, float] = {"line": 100.0, "branch": 100.0, "toggle": 98.0}
"""Percent that must be covered; expressions are reported only."""


@dataclass
class Figure:
    """How much of something was covered; what is left out counts in neither number."""

    total: int = 0
    hit: int = 0
    excluded: int = 0

    @property
    def percent(self) -> float:
        """100 when there is nothing to cover."""
        return 100.0 * self.hit / self.total if self.total else 100.0

    def __add__(self, other: Figure) -> Figure:
        return Figure(
            self.total + other.total, self.hit + other.hit, self.excluded + other.excluded
        )


@dataclass
class CodeCoverage:
    """Merged code coverage.

    Attributes:
        counts: of every item.
        sources: lines of the source files, in the order of the design's list.
        left_out: excluded items.
        exclusions: all of them.
        problems: what is wrong with the exclusions.
        figures: by file and kind.
    """

    counts: Counts
    sources: Sources
    left_out: Mapping[Item, Exclusion]
    exclusions: list[Exclusion]
    problems: list[str]
    figures: dict[str, dict[Kind, Figure]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.figures = {name: {kind: Figure() for kind in KINDS} for name in self.sources}
        for item, count in self.counts.items():
            figure = self.figures[item.file][item.kind]
            if item in self.left_out:
                figure.excluded += 1
            else:
                figure.total += 1
                figure.hit += count > 0

    def total(self, kind: Kind) -> Figure:
        """Figure of a kind over all files."""
        return sum((by_kind[kind] for by_kind in self.figures.values()), Figure())

    def holes(self, kind: Kind | None = None, file: str | None = None) -> list[Item]:
        """What was not covered and is not left out, in the order of the source."""
        order = {name: number for number, name in enumerate(self.sources)}
        found = [
            item
            for item, count in self.counts.items()
            if not count
            and item not in self.left_out
            and kind in (None, item.kind)
            and file in (None, item.file)
        ]
        return sorted(found, key=lambda item: (order[item.file], item))

    def source(self, item: Item) -> str:
        """The line in which ``item`` is written, without its indentation."""
        return self.sources[item.file][item.line - 1].strip()

    def annotated(self, file: str) -> list[dict[str, Any]]:
        """Lines of a file: text, how often it ran where that is counted, what is left out in it."""
        lines: list[dict[str, Any]] = [{"text": text} for text in self.sources[file]]
        left_out: dict[str, list[Item]] = {}
        for item, count in self.counts.items():
            if item.file != file:
                continue
            line = lines[item.line - 1]
            if item.kind == "line":
                line["count"] = line.get("count", 0) + count
            if item in self.left_out:
                left_out.setdefault(self.left_out[item].reason, []).append(item)
        for reason, items in left_out.items():
            for item, what in grouped(sorted(items)):
                text = f"{item.kind} {what}".strip() + f": {reason}"
                lines[item.line - 1].setdefault("left_out", []).append(text)
        return lines

    @property
    def missed(self) -> list[str]:
        """Goals that are not met, one line each."""
        return [
            f"{kind} coverage {self.total(kind).percent:.2f}%, goal {goal:g}%"
            for kind, goal in GOALS.items()
            if self.total(kind).percent < goal
        ]


def read_sources(design: Design) -> dict[str, list[str]]:
    """Lines of every file of the design by its name."""
    return {
        path.name: data.decode(errors="replace").splitlines()
        for path, data in design.contents.items()
    }


def measure(counts: Counts, sources: Sources, exclusions: Iterable[Exclusion]) -> CodeCoverage:
    """Put counts, sources and exclusions together; items of other files are ignored.

    Raises:
        CoverageDataError: nothing of the design was counted, or the data are of other sources.
    """
    known = {item: count for item, count in counts.items() if item.file in sources}
    if not known:
        raise CoverageDataError("the coverage data count nothing of the design")
    for item in known:
        if item.line > len(sources[item.file]):
            raise CoverageDataError(f"the coverage data are of another version of {item.file}")
    entries = list(exclusions)
    left_out, problems = apply(entries, known, sources)
    return CodeCoverage(known, sources, left_out, entries, problems)


def grouped(holes: Iterable[Item]) -> list[tuple[Item, str]]:
    """Holes with what is missing, the bits of one signal in one line: ``sum[31:28] 0->1, 1->0``."""
    rows: list[tuple[Item, str]] = []
    bits: dict[tuple[str, int, str], tuple[Item, dict[str, list[int]]]] = {}
    for item in holes:
        if item.kind != "toggle":
            rows.append((item, item.what))
            continue
        signal, _, edge = item.what.rpartition(":")
        name, _, bit = signal.rstrip("]").partition("[")
        key = (item.file, item.line, name)
        _, edges = bits.setdefault(key, (item, {}))
        # Wider dimensions than one are left as they are.
        edges.setdefault(edge, []).append(int(bit) if bit.isdigit() else -1)
    for (_, _, name), (item, edges) in bits.items():
        rows.append((item, _bits_text(name, edges)))
    return rows


def _bits_text(name: str, edges: dict[str, list[int]]) -> str:
    by_range: dict[str, list[str]] = {}
    for edge, numbers in edges.items():
        by_range.setdefault(_ranges(sorted(numbers, reverse=True)), []).append(edge)
    return "; ".join(f"{name}{bits} {', '.join(found)}" for bits, found in by_range.items())


def _ranges(numbers: list[int]) -> str:
    """``[31:28,5]`` of descending numbers; empty for a signal of one bit."""
    if numbers[0] < 0:
        return ""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][-1] - 1 == number:
            parts[-1].append(number)
        else:
            parts.append([number])
    return (
        "["
        + ",".join(f"{run[0]}:{run[-1]}" if len(run) > 1 else str(run[0]) for run in parts)
        + "]"
    )
