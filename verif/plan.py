"""The test plan as data: features, their tests and coverage points, read from testplan.yaml.

Tests are named ``directed/<program>``, ``random/<profile>``, ``unit/<module>::<test>`` and
``pytest/<file>::<test>``; ``*`` stands for any characters. Coverage points list their bins:
``bins`` by name, ``cross`` as the product of axes joined by ``/``, and both together. ``3..7`` in a
list stands for the numbers 3 to 7. ``except`` takes bins away, each with its reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import yaml

PLAN_FILE = Path(__file__).with_name("testplan.yaml")

_RANGE = re.compile(r"(-?\d+)\.\.(-?\d+)")


class PlanError(ValueError):
    """The plan's text does not have the form described above."""


@dataclass(frozen=True)
class Point:
    """A coverage point.

    Attributes:
        name: as the classifying functions in ``verif.bins`` give it.
        about: what it looks at.
        bins: names of all bins to be hit.
        excluded: bins that cannot or need not be hit, with the reason.
    """

    name: str
    about: str
    bins: tuple[str, ...]
    excluded: dict[str, str]


@dataclass(frozen=True)
class Feature:
    """Something the design promises, with the tests and coverage points that look at it."""

    name: str
    about: str
    tests: tuple[str, ...]
    coverage: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """Features and coverage points by name, and tests that look at tools, not at the design."""

    features: dict[str, Feature]
    points: dict[str, Point]
    beside: dict[str, str] = field(default_factory=dict)


def load_plan(path: Path = PLAN_FILE) -> Plan:
    """Read a plan.

    Raises:
        PlanError: unknown or missing keys, a repeated name, an exception that is no bin.
    """
    data = yaml.load(path.read_text(), Loader=_Strict)
    _only(data, {"features", "coverage", "beside"}, "plan")
    features = {name: _feature(name, entry) for name, entry in data["features"].items()}
    points = {name: _point(name, entry) for name, entry in data["coverage"].items()}
    return Plan(features, points, data.get("beside", {}))


class _Strict(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """A YAML loader that refuses a repeated key instead of keeping the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Construct a mapping whose keys are all different."""
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        if len(mapping) != len(node.value):
            line = node.start_mark.line + 1
            raise PlanError(f"a name is given twice in the mapping that starts in line {line}")
        return mapping


def _only(entry: dict[str, Any], allowed: set[str], where: str) -> None:
    unknown = set(entry) - allowed
    if unknown:
        raise PlanError(f"{where}: unknown {', '.join(sorted(unknown))}")


def _feature(name: str, entry: dict[str, Any]) -> Feature:
    _only(entry, {"about", "tests", "coverage"}, f"feature {name}")
    if "about" not in entry:
        raise PlanError(f"feature {name}: no text about it")
    return Feature(
        name, entry["about"], tuple(entry.get("tests", ())), tuple(entry.get("coverage", ()))
    )


def _point(name: str, entry: dict[str, Any]) -> Point:
    _only(entry, {"about", "bins", "cross", "except"}, f"coverage point {name}")
    if "about" not in entry:
        raise PlanError(f"coverage point {name}: no text about it")
    bins = _expand(entry.get("bins", ()))
    # A point may take several products of axes.
    crosses = entry.get("cross", [])
    if crosses and not isinstance(crosses[0][0], list):
        crosses = [crosses]
    for axes in crosses:
        bins += ["/".join(parts) for parts in product(*(_expand(axis) for axis in axes))]
    excluded = {str(bin_): reason for bin_, reason in entry.get("except", {}).items()}
    for bin_ in excluded:
        if bin_ not in bins:
            raise PlanError(f"coverage point {name}: exception {bin_!r} is no bin")
    kept = tuple(bin_ for bin_ in dict.fromkeys(bins) if bin_ not in excluded)
    if not kept:
        raise PlanError(f"coverage point {name}: no bins")
    return Point(name, entry["about"], kept, excluded)


def _expand(entries: Iterable[Any]) -> list[str]:
    names: list[str] = []
    for entry in entries:
        text = str(entry)
        match = _RANGE.fullmatch(text)
        if match:
            names += [str(number) for number in range(int(match[1]), int(match[2]) + 1)]
        else:
            names.append(text)
    return names
