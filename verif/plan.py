"""The test plan as data: features, their tests and coverage points, read from testplan.yaml.

Tests are named ``directed/<program>``, ``random/<profile>``, ``unit/<module>::<test>`` and
``pytest/<file>::<test>``; ``*`` stands for any characters. Coverage points list their bins:
``bins`` by name, ``cross`` as the product of axes joined by ``/``, and both together. ``3..7`` in a
list stands for the numbers 3 to 7, ``$name`` for the names of ``NAMED_LISTS``, which come from the
table of operations. ``except`` takes bins away, each with its reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from model.chip.operation_table import (
    EXECUTED,
    MAX_LENGTH,
    OPERATIONS,
    UNDEFINED_OPS,
    VECTORS,
    Operand,
)
from verif.bins.boundaries import (
    ENDS,
    LONGEST_SUM,
    around,
    counter_bins,
    length_bins,
    region_bins,
)
from verif.bins.dependencies import dependency_bins
from verif.typed import RecordError, convert, read_yaml

PLAN_FILE = Path(__file__).with_name("testplan.yaml")

_CLASHING = [row for row in EXECUTED if row.overlap != "free"]


def _address_causes() -> Iterable[str]:
    for row in EXECUTED:
        for operand in row.regions:
            external = operand.memory == "ext"
            if not external:  # no 16-bit base lies beyond the external memory
                yield f"{row.name}.{operand.name}_base"
            if operand.size(MAX_LENGTH) > 1:
                yield f"{row.name}.{'ext' if external else operand.name}_end"


def _overlap_causes() -> Iterable[str]:
    for row in _CLASHING:
        for operand in row.sources:
            suffix = f"_{operand.name}" if len(row.sources) > 1 else ""
            yield from (f"{row.name}{suffix}_above", f"{row.name}{suffix}_below")


def _regions(keep: Callable[[Operand], bool]) -> list[str]:
    return [f"{row.name}.{o.name}" for row in EXECUTED for o in row.regions if keep(o)]


NAMED_LISTS: dict[str, list[str]] = {
    "all": [row.name for row in OPERATIONS.values()],
    "executed": [row.name for row in EXECUTED],
    "vectors": [row.name for row in VECTORS],
    "addressed": [row.name for row in EXECUTED if row.regions],
    "shaped": [row.name for row in EXECUTED if row.shape],
    "clashing": [row.name for row in _CLASHING],
    "one_source": [r.name for r in _CLASHING if r.overlap == "same" and len(r.sources) == 1],
    "two_sources": [row.name for row in _CLASHING if len(row.sources) == 2],
    "expanding": [row.name for row in _CLASHING if row.overlap == "never"],
    "undefined": [str(op) for op in UNDEFINED_OPS],
    "spad_operands": _regions(lambda operand: operand.memory == "spad"),
    "int8_operands": _regions(lambda operand: operand.reads == "int8"),
    "length_causes": [f"{row.name}_{why}" for row in VECTORS for why in ("zero", "above")],
    "shape_causes": [
        f"{o.name}_{why}" for row in EXECUTED for o in row.shape for why in ("zero", "above")
    ],
    "address_causes": list(_address_causes()),
    "overlap_causes": list(_overlap_causes()),
    "boundary_regions": region_bins(),
    "boundary_lengths": length_bins(),
    "boundary_counters": counter_bins(),
    "boundary_ends": [str(value) for value in around(ENDS)],
    "boundary_indices": [str(value) for value in around(4094)],
    "sm_sums": [str(1 << k) for k in range(16, LONGEST_SUM + 1)],
    "mm_sums": [str(1 << k) for k in range(3, 20)],
    "dependencies": dependency_bins(),
}
"""Names that follow from the table of operations, in its order."""

_RANGE = re.compile(r"(-?\d+)\.\.(-?\d+)")


class FeatureEntry(Struct, forbid_unknown_fields=True):
    """A feature as it is written."""

    about: str
    tests: tuple[str, ...] = ()
    coverage: tuple[str, ...] = ()


class PointEntry(Struct, forbid_unknown_fields=True):
    """A coverage point as it is written; ``cross`` is one product of axes or several."""

    about: str
    bins: list[str | int] = []
    cross: list[list[str | int | list[str | int]]] = []
    excluded: dict[str | int, str] = field(name="except", default_factory=dict)


class PlanEntry(Struct, forbid_unknown_fields=True):
    """A plan as it is written."""

    features: dict[str, dict[str, Any]]
    coverage: dict[str, dict[str, Any]]
    beside: dict[str, str] = {}


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
    beside: dict[str, str]


def load_plan(path: Path = PLAN_FILE) -> Plan:
    """Read a plan.

    Raises:
        RecordError: unknown or missing keys, a repeated name, an exception that is no bin.
    """
    plan = convert(read_yaml(path), PlanEntry, str(path))
    features = {}
    for name, data in plan.features.items():
        entry = convert(data, FeatureEntry, f"{path}: feature {name}")
        features[name] = Feature(name, entry.about, entry.tests, entry.coverage)
    points = {}
    for name, data in plan.coverage.items():
        where = f"{path}: coverage point {name}"
        points[name] = _point(name, convert(data, PointEntry, where), where)
    return Plan(features, points, plan.beside)


def _point(name: str, entry: PointEntry, where: str) -> Point:
    bins = _expand(entry.bins, where)
    # A point may take several products of axes.
    several = bool(entry.cross) and isinstance(entry.cross[0][0], list)
    for axes in entry.cross if several else [entry.cross]:
        parts = [_expand(axis, where) for axis in axes if isinstance(axis, list)]
        bins += ["/".join(words) for words in product(*parts)] if parts else []
    excluded = {str(bin_): reason for bin_, reason in entry.excluded.items()}
    for bin_ in excluded:
        if bin_ not in bins:
            raise RecordError(f"{where}: exception {bin_!r} is no bin")
    kept = tuple(bin_ for bin_ in dict.fromkeys(bins) if bin_ not in excluded)
    if not kept:
        raise RecordError(f"{where}: no bins")
    return Point(name, entry.about, kept, excluded)


def _expand(entries: Iterable[Any], where: str) -> list[str]:
    names: list[str] = []
    for entry in entries:
        text = str(entry)
        match = _RANGE.fullmatch(text)
        if text.startswith("$"):
            if text[1:] not in NAMED_LISTS:
                raise RecordError(
                    f"{where}: {text} is none of: {', '.join(f'${n}' for n in NAMED_LISTS)}"
                )
            names += NAMED_LISTS[text[1:]]
        elif match:
            names += [str(number) for number in range(int(match[1]), int(match[2]) + 1)]
        else:
            names.append(text)
    return names
