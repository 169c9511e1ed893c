"""What a report is made of: sections with figures, tables and texts. Data only, no HTML.

Colours in figures are names of the style sheet, as in "var(--mm)": the page puts in the values for
a light or a dark screen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

State = Literal["good", "warn", "bad", "info", "missing"]
DASH = "-"  # the figure of a card that has none
UNIT_COLOURS = {
    "mm": "var(--mm)",
    "dma": "var(--dma)",
    "vec": "var(--vec)",
    "fetch+issue": "var(--front)",
}


@dataclass(frozen=True)
class Figure:
    """A figure, drawn by plotly.

    Attributes:
        id: unique in the page, safe in HTML.
        title: what it shows.
        caption: what to see in it.
        data: plotly traces.
        layout: what differs from the page's own layout.
        height: in pixels.
    """

    id: str
    title: str
    caption: str
    data: list[dict[str, Any]]
    layout: dict[str, Any] = field(default_factory=dict)
    height: int = 340
    kind: str = "figure"


@dataclass(frozen=True)
class Cell:
    """A cell that is more than its text.

    Attributes:
        text: what it says.
        style: class of the style sheet: "mono", "good", "bad", "warn", "soft".
        bar: percent of the cell's width that a bar behind the text fills.
        href: where the text leads.
    """

    text: str
    style: str = ""
    bar: float | None = None
    href: str = ""


@dataclass(frozen=True)
class Table:
    """A table; `align` has a letter a column, "<" or ">"."""

    head: Sequence[str]
    rows: Sequence[Sequence[str | Cell]]
    align: str
    title: str = ""
    caption: str = ""
    kind: str = "table"


@dataclass(frozen=True)
class Text:
    """A paragraph, in the colour of a state."""

    text: str
    state: State = "info"
    kind: str = "text"


@dataclass(frozen=True)
class Failure:
    """A bucket of failures: how many, what, the example, and the command that plays it again."""

    count: int
    what: str
    message: str
    where: str
    example: str
    rerun: str
    jobs: Sequence[str]
    kind: str = "failure"


@dataclass(frozen=True)
class Fold:
    """Blocks that are closed at first, unless `open`; a link to `id` opens them."""

    summary: str
    blocks: Sequence[Block]
    open: bool = False
    id: str = ""
    kind: str = "fold"


@dataclass(frozen=True)
class Bins:
    """Short texts one after the other, each in its colour."""

    cells: Sequence[Cell]
    kind: str = "bins"


@dataclass(frozen=True)
class Line:
    """A line of source: how often it ran, what to say of it, and its style as in `Cell`."""

    number: int
    text: str
    count: int | None
    notes: Sequence[str]
    style: str = ""


@dataclass(frozen=True)
class Listing:
    """A source file."""

    lines: Sequence[Line]
    kind: str = "listing"


@dataclass(frozen=True)
class Missing:
    """Something that has not been produced yet, and the command that does it."""

    what: str
    command: str
    kind: str = "missing"


Block = Figure | Table | Text | Failure | Fold | Bins | Listing | Missing


@dataclass(frozen=True)
class Section:
    """A part of the page.

    Attributes:
        id: its anchor.
        title: its heading.
        state: how it stands; "missing" when there is nothing to show.
        figure: the card's one figure, as in "98.9%".
        note: the card's small print.
        lead: what the section is about, one or two sentences.
        blocks: what is in it.
        problem: what is wrong, for the headline; empty when nothing is.
        design: which design it is about; empty when it is about none.
        details: parts of a page of its own, `<id>.html`.
    """

    id: str
    title: str
    state: State
    figure: str
    note: str
    lead: str
    blocks: Sequence[Block]
    problem: str = ""
    design: str = ""
    details: Sequence[Section] = ()


def design_text(result: Mapping[str, Any]) -> str:
    """Return which design a result is about, empty when it does not say so."""
    stamp = result.get("design")
    if not isinstance(stamp, dict):
        return ""
    revision = f", revision {stamp['revision'][:10]}" if stamp["revision"] else ""
    return f"{stamp['path']} ({stamp['hash']}{revision}{' and changes' * stamp['dirty']})"


def missing(
    section: str, title: str, lead: str, what: str, command: str, more: Sequence[Block] = ()
) -> Section:
    """Return a section that says what to run to fill it."""
    blocks = [Missing(what, command), *more]
    return Section(section, title, "missing", DASH, "not run yet", lead, blocks)


def count(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: "1 job", "2,000 jobs"."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def percent(value: float, digits: int = 1) -> str:
    """Return a percentage that never rounds up to 100.

    >>> percent(100), percent(99.99), percent(12.34, 0)
    ('100%', '99.9%', '12%')
    """
    if value == 100:
        return "100%"
    text = f"{value:.{digits}f}"
    if value < 100 <= float(text):
        text = f"{100 - 10**-digits:.{digits}f}"
    return f"{text}%"
