"""Functional coverage: the merged export of cocotb-coverage against the test plan."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cocotb_coverage.coverage import merge_coverage

from verif.env.bin_database import EXCLUDED, PLANNED
from verif.plan import Plan, Point

GOAL = 100.0

Hits = Mapping[str, Mapping[str, int]]
"""Programs that hit each bin, by coverage point."""


class FunctionalDataError(ValueError):
    """An export that does not fit the test plan: it was made with another one."""


@dataclass(frozen=True)
class PointCoverage:
    """One coverage point.

    Attributes:
        point: as planned.
        hits: programs that hit each bin.
        refuted: hits of bins that the plan takes out.
    """

    point: Point
    hits: Mapping[str, int]
    refuted: Mapping[str, int]

    @property
    def holes(self) -> list[str]:
        """Bins never hit, in the plan's order."""
        return [name for name in self.point.bins if not self.hits[name]]

    @property
    def percent(self) -> float:
        """Share of bins that were hit."""
        bins = len(self.point.bins)
        return 100.0 * (bins - len(self.holes)) / bins


@dataclass(frozen=True)
class FunctionalCoverage:
    """All points of the plan."""

    points: dict[str, PointCoverage]

    @property
    def bins(self) -> int:
        """How many bins there are."""
        return sum(len(point.point.bins) for point in self.points.values())

    @property
    def hit(self) -> int:
        """How many of them were hit."""
        return self.bins - sum(len(point.holes) for point in self.points.values())

    @property
    def percent(self) -> float:
        """Share of bins that were hit."""
        return 100.0 * self.hit / self.bins

    @property
    def problems(self) -> list[str]:
        """Exceptions of the plan that programs refuted."""
        return [
            f"exception no longer needed: {name} {bin_} was hit by {count:,} programs"
            for name, point in self.points.items()
            for bin_, count in point.refuted.items()
            if count
        ]


def merge(files: Sequence[Path], merged: Path) -> None:
    """Merge exports of several runs into the file ``merged``.

    Raises:
        FunctionalDataError: there is nothing to merge.
    """
    if not files:
        raise FunctionalDataError("no program passed: there is no functional coverage")
    merged.parent.mkdir(parents=True, exist_ok=True)
    merge_coverage(lambda text: None, str(merged), *map(str, files))


def read_export(path: Path) -> dict[str, dict[str, dict[str, int]]]:
    """Hits of an export: {group: {point: {bin: hits}}}.

    Raises:
        FunctionalDataError: it cannot be read.
    """
    groups: dict[str, dict[str, dict[str, int]]] = {PLANNED: {}, EXCLUDED: {}}
    try:
        root = ET.parse(path).getroot()
    except ET.ParseError as error:
        raise FunctionalDataError(f"{path}: no coverage data: {error}") from None
    for group in root:
        for point in group:
            bins = {bin_.attrib["bin"]: int(bin_.attrib["hits"]) for bin_ in point}
            groups.setdefault(group.attrib["abs_name"], {})[point.tag] = bins
    return groups


def measure(export: Path, plan: Plan) -> FunctionalCoverage:
    """Coverage of the plan's points in an export.

    Raises:
        FunctionalDataError: the export's bins are not those of the plan.
    """
    groups = read_export(export)
    points = {}
    for name, point in plan.points.items():
        hits = groups[PLANNED].get(name, {})
        if tuple(hits) != point.bins:
            raise FunctionalDataError(f"{export}: the bins of {name} are not those of the plan")
        points[name] = PointCoverage(point, hits, groups[EXCLUDED].get(name, {}))
    return FunctionalCoverage(points)
