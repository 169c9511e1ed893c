"""Coverage as one HTML page that needs nothing else: figures, every bin, annotated source."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import jinja2

from sim.coverage.code import GOALS, CodeCoverage, Figure, grouped
from sim.coverage.dat import KINDS, Item
from sim.coverage.functional import GOAL
from sim.coverage.report import Report

TEMPLATE = Path(__file__).with_name("page.html.j2")


@dataclass
class Card:
    """One figure of the head: what it is, and its goal in percent if it has one."""

    title: str
    figure: Figure
    goal: float | None

    @property
    def met(self) -> bool:
        """Whether the goal, if any, is met."""
        return self.goal is None or self.figure.percent >= self.goal


@dataclass
class SourceLine:
    """One line of a source file.

    Attributes:
        number, text: of the line.
        count: times it ran; None where nothing is counted.
        holes: what was not covered in it.
        left_out: what is excluded, each with the reason.
    """

    number: int
    text: str
    count: int | None = None
    holes: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    @property
    def style(self) -> str:
        """Class for the page."""
        if self.holes:
            return "hole"
        if self.count:
            return "ran"
        return "out" if self.left_out else ""


def annotate(code: CodeCoverage, file: str) -> list[SourceLine]:
    """The lines of ``file`` with what was counted in them."""
    lines = [SourceLine(number, text) for number, text in enumerate(code.sources[file], start=1)]
    left_out: dict[str, list[Item]] = defaultdict(list)
    for item, count in code.counts.items():
        if item.file != file:
            continue
        if item.kind == "line":
            line = lines[item.line - 1]
            line.count = (line.count or 0) + count
        if item in code.left_out:
            left_out[code.left_out[item].reason].append(item)
    for item, what in grouped(code.holes(file=file)):
        lines[item.line - 1].holes.append(f"{item.kind} {what}".strip())
    for reason, items in left_out.items():
        for item, what in grouped(sorted(items)):
            lines[item.line - 1].left_out.append(f"{item.kind} {what}".strip() + f": {reason}")
    return lines


def cards(report: Report) -> list[Card]:
    """Figures of the head."""
    functional = Figure(report.functional.bins, report.functional.hit)
    head = [Card("functional", functional, GOAL)]
    if report.code:
        head += [Card(kind, report.code.total(kind), GOALS.get(kind)) for kind in KINDS]
    return head


def render(report: Report) -> str:
    """The page's text."""
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    template = environment.from_string(TEMPLATE.read_text(encoding="utf-8"))
    code = report.code
    return template.render(
        report=report,
        cards=cards(report),
        kinds=KINDS,
        sources={name: annotate(code, name) for name in code.sources} if code else {},
    )


def write_html(path: Path, report: Report) -> None:
    """Write the page, making its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render(report), encoding="utf-8")
