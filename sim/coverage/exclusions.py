"""What code coverage leaves out, each entry with its reason (verif/coverage_exclusions.yaml).

An entry selects items of some files. ``toggle`` names signals, ``name``, ``name[5]`` or
``name[31:17]``, with ``:0->1`` or ``:1->0`` behind for one direction. The other kinds are found by
a piece of the source line (``source``), so that they survive edits elsewhere in the file; ``what``
narrows them to one outcome. An entry must select something, and nothing that was covered.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct

from sim.coverage.dat import KINDS, Counts, Item
from sim.shared.paths import ROOT
from verif.typed import RecordError, convert, read_yaml

EXCLUSIONS_FILE = ROOT / "verif" / "coverage_exclusions.yaml"

Sources = Mapping[str, list[str]]
"""Lines of each source file by its name."""

_SIGNAL = re.compile(r"(\w+)(?:\[(\d+)(?::(\d+))?\])?(?::([01]->[01]))?")
_BIT = re.compile(r"(?P<name>[\w.]+)(?:\[(?P<bit>\d+)\])?.*:(?P<edge>[01]->[01])")


class ExclusionEntry(Struct, forbid_unknown_fields=True):
    """An entry as it is written."""

    files: Annotated[tuple[str, ...], Meta(min_length=1)]
    kind: str
    reason: Annotated[str, Meta(min_length=1)]
    signals: tuple[str, ...] = ()
    source: str = ""
    what: str = ""


class ExclusionFile(Struct, forbid_unknown_fields=True):
    """The file as it is written."""

    code: list[Any] | None = None


@dataclass(frozen=True)
class Signal:
    """Bits of a signal whose toggling is left out; ``edge`` is empty for both directions."""

    name: str
    high: int | None
    low: int | None
    edge: str

    def selects(self, what: str) -> bool:
        """Whether the toggle ``what``, such as ``sum[3]:0->1``, is one of these."""
        match = _BIT.fullmatch(what)
        if match is None or match["name"] != self.name or self.edge not in ("", match["edge"]):
            return False
        if self.high is None or self.low is None:
            return True
        return match["bit"] is not None and self.low <= int(match["bit"]) <= self.high


@dataclass(frozen=True)
class Exclusion:
    """One entry.

    Attributes:
        files: names of source files.
        kind: of the items.
        signals: for toggles.
        source: piece of the source line, for the other kinds.
        what: outcome; empty for all.
        reason: why it cannot, or need not, be covered.
    """

    files: tuple[str, ...]
    kind: str
    reason: str
    signals: tuple[Signal, ...] = ()
    source: str = ""
    what: str = ""
    text: str = ""

    def selects(self, item: Item, sources: Sources) -> bool:
        """Whether ``item`` is left out by this entry."""
        if item.kind != self.kind or item.file not in self.files:
            return False
        if self.kind == "toggle":
            return any(signal.selects(item.what) for signal in self.signals)
        lines = sources.get(item.file, [])
        text = lines[item.line - 1] if item.line <= len(lines) else ""
        return self.source in text and self.what in ("", item.what)

    def __str__(self) -> str:
        return f"{', '.join(self.files)}: {self.kind} {self.text or self.source}"


def load_exclusions(path: Path = EXCLUSIONS_FILE) -> list[Exclusion]:
    """Read the exclusions.

    Raises:
        RecordError: an entry is not of the form.
    """
    entries = convert(read_yaml(path) or {}, ExclusionFile, str(path)).code or []
    return [
        _exclusion(f"{path}: exclusion {number}", entry) for number, entry in enumerate(entries, 1)
    ]


def _exclusion(where: str, data: Any) -> Exclusion:
    entry = convert(data, ExclusionEntry, where)
    if entry.kind not in KINDS:
        raise RecordError(f"{where}: kind {entry.kind!r} is none of {', '.join(KINDS)}")
    if bool(entry.signals) != (entry.kind == "toggle"):
        raise RecordError(f"{where}: toggles, and only they, are selected by signals")
    if bool(entry.source) == (entry.kind == "toggle"):
        raise RecordError(f"{where}: all but toggles are selected by a piece of the source")
    return Exclusion(
        entry.files,
        entry.kind,
        entry.reason,
        tuple(_signal(where, text) for text in entry.signals),
        entry.source,
        entry.what,
        ", ".join(entry.signals),
    )


def _signal(where: str, text: str) -> Signal:
    match = _SIGNAL.fullmatch(text)
    if match is None:
        raise RecordError(f"{where}: {text!r} is no signal, bit or range of bits")
    high = int(match[2]) if match[2] else None
    return Signal(match[1], high, int(match[3]) if match[3] else high, match[4] or "")


def apply(
    exclusions: Iterable[Exclusion], counts: Counts, sources: Sources
) -> tuple[dict[Item, Exclusion], list[str]]:
    """Items left out with the entry that does it, and what is wrong with the entries.

    An entry that selects nothing, or something that was covered, is no longer needed as it stands.
    Covered items are not left out.
    """
    left_out: dict[Item, Exclusion] = {}
    problems = []
    for exclusion in exclusions:
        selected = [item for item in counts if exclusion.selects(item, sources)]
        covered = sorted(item for item in selected if counts[item])
        left_out.update((item, exclusion) for item in selected if not counts[item])
        if not selected:
            problems.append(f"exclusion no longer needed: {exclusion} is nowhere in the source")
        elif covered:
            first = covered[0]
            problems.append(
                f"exclusion no longer needed: {exclusion} was covered, "
                f"{first.file}:{first.line} {first.what} {counts[first]:,} times"
                + (f" and {len(covered) - 1} more" if len(covered) > 1 else "")
            )
        for signal in exclusion.signals:
            if selected and not any(signal.selects(item.what) for item in selected):
                problems.append(f"exclusion no longer needed: {exclusion}: no signal {signal.name}")
    return left_out, problems
