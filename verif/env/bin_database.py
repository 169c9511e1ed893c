"""The coverage points of the test plan in cocotb-coverage's database, and their export.

The plan's products of axes are already spelled out as bins, because a point may have several
products and exceptions, of which the library's crosses know one.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cocotb_coverage.coverage import CoverPoint, coverage_db

from verif.bins.sheet import Hit
from verif.plan import Plan

PLANNED = "top.planned"
"""Group of the points with the bins that are to be hit."""
EXCLUDED = "top.excluded"
"""Group of the same points with the bins that the plan takes out; a hit there refutes it."""


class CountedPoint(CoverPoint):
    """A coverage point that takes counts instead of samples.

    The library samples by comparing with every bin in turn, at 0.4 ms a program for this plan;
    counting first and adding at the end costs a fifteenth of that.
    """

    def add(self, counts: Mapping[str, int]) -> None:
        """Add hits of bins of this point."""
        before = self.coverage
        for name, count in counts.items():
            self._hits[name] += count
        self._parent._update_coverage(self.coverage - before)


class BinDatabase:
    """The points of ``plan``. The library keeps one database a process: this replaces it."""

    def __init__(self, plan: Plan) -> None:
        coverage_db.clear()
        self._home: dict[Hit, CountedPoint] = {}
        for point in plan.points.values():
            self._add_point(PLANNED, point.name, point.bins)
            if point.excluded:
                self._add_point(EXCLUDED, point.name, tuple(point.excluded))

    def _add_point(self, group: str, name: str, bins: tuple[str, ...]) -> None:
        point = CountedPoint(f"{group}.{name}", bins=list(bins))
        self._home.update(((name, bin_), point) for bin_ in bins)

    def add(self, counts: Mapping[Hit, int]) -> list[Hit]:
        """Add counted hits; return those that the plan does not name."""
        unknown = []
        for hit, count in counts.items():
            if hit in self._home:
                self._home[hit].add({hit[1]: count})
            else:
                unknown.append(hit)
        return sorted(unknown)

    def export(self, path: Path) -> None:
        """Write everything as the library's XML, which its ``merge_coverage`` reads."""
        coverage_db.export_to_xml(str(path))
