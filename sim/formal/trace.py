"""A counterexample as a solver leaves it: values cycle by cycle, and in words what went wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pywellen import Waveform

from sim.formal.script import COMMENT
from sim.shared.table import format_table

STEP = "smt_step"  # the signal in which smtbmc counts cycles
TICKS = 10  # of a cycle
SHOWN_CYCLES = 8
SHOWN_SIGNALS = 18
ALWAYS = ("rst", "start")
LABEL = r"\b{0} : assert \(|`GA2_(?:ENSURE|REQUIRE)\({0},"
WIRE = re.compile(r"\b(?:wire|logic)\b[^;=]*?\b(\w+) = ([^;]*);")


@dataclass(frozen=True)
class Trace:
    """Signals by name below the top, one value a cycle; the property fails in the last one."""

    path: Path
    top: str
    cycles: int
    signals: Mapping[str, tuple[int, ...]]

    @classmethod
    def read(cls, path: Path, top: str) -> Trace:
        """Read a VCD of smtbmc; bits without a value are 0."""
        variables = {each.full_name: each.tv for each in Waveform(str(path)).all_vars()}
        steps = [value for _, value in variables[STEP]]
        # The last step is there to show the clock's edge behind the failure.
        cycles = max(1, len(steps) - 1)
        head = f"{top}."
        signals = {
            name.removeprefix(head): tuple(_by_cycle(changes, cycles))
            for name, changes in variables.items()
            if name.startswith(head)
        }
        return cls(path, top, cycles, signals)

    def at(self, name: str, cycle: int) -> int:
        """Value of a signal in a cycle; 0 for one that the property does not depend on."""
        return self.signals[name][cycle] if name in self.signals else 0

    def any_of(self, *names: str) -> str:
        """The first of these names that is in the trace; the last one if none is."""
        return next((name for name in names if name in self.signals), names[-1])

    def since_reset(self) -> range:
        """Cycles behind the last reset."""
        resets = [cycle for cycle in range(self.cycles) if self.at("rst", cycle)]
        return range(resets[-1] + 1 if resets else 0, self.cycles)


def _by_cycle(changes: list[tuple[int, int | str]], cycles: int) -> Iterator[int]:
    value, left = 0, list(changes)
    for cycle in range(cycles):
        while left and left[0][0] <= cycle * TICKS:
            found = left.pop(0)[1]
            value = found if isinstance(found, int) else int(re.sub("[^01]", "0", found) or "0", 2)
        yield value


def in_words(trace: Trace, label: str, texts: Mapping[str, str]) -> str:
    """Return the signals that a property speaks of, in the last cycles, as a table.

    Args:
        label: of the property.
        texts: of the files that the proof has read; the property and what it names stand there.
    """
    names = [name for name in _named(label, texts) if name in trace.signals][:SHOWN_SIGNALS]
    cycles = range(max(0, trace.cycles - SHOWN_CYCLES), trace.cycles)
    rows = [["cycle", *map(str, cycles)]]
    rows += [[name, *(_shown(trace.at(name, cycle)) for cycle in cycles)] for name in names]
    return format_table(rows, "<" + ">" * len(cycles))


def _named(label: str, texts: Mapping[str, str]) -> list[str]:
    """Names that a property's text has, and those that stand behind its ghost signals."""
    found = dict.fromkeys(ALWAYS)
    for text in texts.values():
        code = COMMENT.sub("", text)
        wires = dict(WIRE.findall(code))
        for place in re.finditer(LABEL.format(re.escape(label)), code):
            words = re.findall(r"\b[a-z]\w*\b", _statement(code, place.end()))
            behind = [each for word in words for each in re.findall(r"\w+", wires.get(word, ""))]
            found |= dict.fromkeys([*words, *behind])
    return list(found)


def _statement(code: str, start: int) -> str:
    """Text up to the bracket that closes the one before ``start``; the condition in front, too."""
    depth, at = 1, start
    while depth and at < len(code):
        depth += {"(": 1, ")": -1}.get(code[at], 0)
        at += 1
    before = code[code.rfind("\n", 0, code.rfind("\n", 0, start)) + 1 : start]
    return before.rpartition(";")[2] + code[start:at]


def _shown(value: int) -> str:
    return str(value) if value < 10 else f"{value:#x}" if value >= 4096 else str(value)
