"""The headline: one verdict over all sections, and what stands in its way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sim.report.page import Section, State, count

# Without these nobody can say that the chip is good.
NEEDED = ("regression", "decode", "testplan", "coverage", "mutation")


@dataclass(frozen=True)
class Headline:
    """What the top of the page says.

    Attributes:
        state: good when everything needed ran and held; bad when anything failed.
        title: the headline.
        lines: what failed, what is open, what is missing; (section id, text).
    """

    state: State
    title: str
    lines: list[tuple[str, str]]


def judge(sections: Sequence[Section]) -> Headline:
    """Return the headline over all sections."""
    failed = [s for s in sections if s.state == "bad"]
    open_ = [s for s in sections if s.state == "warn"]
    absent = [s for s in sections if s.state == "missing" and s.id in NEEDED]
    lines = [(s.id, s.problem or s.title) for s in (*failed, *open_)]
    lines += [(s.id, f"{s.title}: not run yet") for s in absent]
    if failed:
        return Headline("bad", f"Broken: {failed[0].problem or failed[0].title}", lines)
    if open_ or absent:
        points = count(len(lines), "point")
        return Headline("warn", f"Nothing has failed, {points} still open", lines)
    return Headline("good", "Good: everything ran, and everything held", lines)
