"""The headline: one verdict over all sections, and what stands in its way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sim.report.page import Section, State, count

# Without these nobody can say that the chip is good.
NEEDED = ("regression", "decode", "testplan", "coverage", "mutation")


@dataclass(frozen=True)
class Verdict:
    """What the top of the page says.

    Attributes:
        state: good when everything needed ran and held; bad when anything failed.
        title: the headline.
        lines: what failed, what is open, what is missing; (section id, text).
    """

    state: State
    title: str
    lines: list[tuple[str, str]]


def judge(sections: Sequence[Section]) -> Verdict:
    """Return the verdict over all sections."""
    failed = [s for s in sections if s.state == "bad"]
    open_ = [s for s in sections if s.state == "warn"]
    absent = [s for s in sections if s.state == "missing" and s.id in NEEDED]
    lines = [(s.id, s.problem or s.title) for s in (*failed, *open_)]
    lines += [(s.id, f"{s.title}: not run yet") for s in absent]
    if failed:
        return Verdict("bad", f"Broken: {failed[0].problem or failed[0].title}", lines)
    if open_ or absent:
        points = count(len(lines), "point")
        return Verdict("warn", f"Nothing has failed, {points} still open", lines)
    return Verdict("good", "Good: everything ran, and everything held", lines)
