"""Read `sim/regress/suites.yaml` and expand a suite into jobs.

A group is one workload or profile; its axes are lists, and the jobs of a group are the product
of them: seed x simulator x lat x depth x window x page.
"""

from __future__ import annotations

import difflib
import hashlib
import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from sim.regress.kinds import KINDS as PLAYED_KINDS
from sim.regress.records import JobSpec

KINDS = (*PLAYED_KINDS, "noop")
SIMULATORS = ("icarus", "verilator")
AXES = ("simulator", "lat", "depth", "window", "page")
GROUP_KEYS = {"name", "kind", "params", "seeds", "seed", "timeout", *AXES}
SUITE_KEYS = {"include", "groups", "about"}
TOP_KEYS = {"defaults", "suites", "clusters", "keep_passed"}
# Random programs draw their own surroundings; directed ones come with a memory of their own.
IGNORED = {"random": ("lat", "depth", "window", "page"), "directed": ("depth", "window", "page")}
BUILT_IN = {
    "simulator": ["verilator"],
    "lat": [8],
    "depth": [8192],
    "window": [None],
    "page": [4],
    "timeout": 300,
    "params": {},
}
LIMITS = {"lat": (1, 64), "depth": (1, 65536), "window": (1, 64), "page": (1, 8192)}


class ConfigError(ValueError):
    """The regression file is wrong; the message says where and what would be right."""


@dataclass(frozen=True)
class Config:
    """The parsed file: suites by name, cluster options by kind, and what to keep."""

    path: Path
    defaults: dict[str, Any]
    suites: dict[str, dict[str, Any]]
    clusters: dict[str, dict[str, Any]] = field(default_factory=dict)
    keep_passed: bool = False


def check_keys(where: str, found: Iterable[str], known: Iterable[str]) -> None:
    """Raise ConfigError for the first key that nobody reads, with the nearest one that is read."""
    allowed = sorted(known)
    for key in found:
        if key not in allowed:
            near = difflib.get_close_matches(str(key), allowed, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(allowed)}"
            raise ConfigError(f"{where}: unknown key {key!r}; {hint}")


def load(path: Path) -> Config:
    """Read and check the file. Raises ConfigError with the place and the offending value."""
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: not YAML: {error}") from error
    if not isinstance(data, dict) or not isinstance(data.get("suites"), dict):
        raise ConfigError(f"{path}: needs a mapping with 'suites'")
    check_keys(str(path), data, TOP_KEYS)
    defaults = {**BUILT_IN, **(data.get("defaults") or {})}
    check_keys(f"{path}: defaults", defaults, GROUP_KEYS - {"name", "kind"})
    for name, suite in data["suites"].items():
        where = f"{path}: suite {name}"
        if not isinstance(suite, dict):
            raise ConfigError(f"{where}: needs a mapping with 'groups' or 'include'")
        check_keys(where, suite, SUITE_KEYS)
        for group in suite.get("groups") or []:
            check_group(f"{where}: group {group.get('name', '?')}", group)
    return Config(
        path=path,
        defaults=defaults,
        suites=data["suites"],
        clusters=data.get("clusters") or {},
        keep_passed=bool(data.get("keep_passed", False)),
    )


def check_group(where: str, group: Mapping[str, Any]) -> None:
    """Raise ConfigError for a key that nobody reads, or that this kind of job would ignore."""
    check_keys(where, group, GROUP_KEYS)
    for key in IGNORED.get(str(group.get("kind")), ()):
        if key in group:
            raise ConfigError(f"{where}: {group['kind']} draws its own {key}; leave it out")


def groups_of(config: Config, suite: str, seen: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """Return the groups of a suite with those it includes, each with the defaults filled in."""
    if suite not in config.suites:
        known = ", ".join(sorted(config.suites))
        raise ConfigError(f"{config.path}: no suite {suite!r}; known: {known}")
    if suite in seen:
        raise ConfigError(f"{config.path}: suite {suite!r} includes itself")
    body = config.suites[suite]
    groups: list[dict[str, Any]] = []
    for other in body.get("include") or []:
        groups += groups_of(config, other, (*seen, suite))
    groups += [{**config.defaults, **group} for group in body.get("groups") or []]
    return groups


def derive_seed(master: int, name: str, index: int) -> int:
    """Return seed `index` of group `name`: the same on every machine and Python version."""
    digest = hashlib.sha256(f"{master}/{name}/{index}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def seeds_of(group: Mapping[str, Any], master: int, where: str) -> list[int]:
    """Return the seeds of a group: the listed ones, or so many derived from the master seed."""
    if "seed" in group:
        return [int(value) for value in _listed(group["seed"])]
    count = group.get("seeds", 1)
    if not isinstance(count, int) or count < 1:
        raise ConfigError(f"{where}: seeds is {count!r}, needs a count of 1 or more")
    return [derive_seed(master, group["name"], index) for index in range(count)]


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) else [value]


def axis(group: Mapping[str, Any], key: str, where: str) -> list[Any]:
    """Return the values of one axis, checked; a single value counts as a list of one."""
    values = [None if item == "none" else item for item in _listed(group[key])]
    for value in values:
        if key == "simulator":
            if value not in SIMULATORS:
                raise ConfigError(f"{where}: simulator {value!r}; known: {', '.join(SIMULATORS)}")
        elif value is None and key == "window":
            continue
        else:
            low, high = LIMITS[key]
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                raise ConfigError(f"{where}: {key} is {value!r}, needs {low}..{high}")
    return values


def expand(config: Config, suite: str, master: int) -> list[JobSpec]:
    """Return the jobs of a suite in file order. Raises ConfigError; ids are unique."""
    jobs: dict[str, JobSpec] = {}
    for group in groups_of(config, suite):
        for job in expand_group(group, master, f"{config.path}: group {group.get('name', '?')}"):
            if job.id in jobs:
                raise ConfigError(f"{config.path}: job {job.id!r} appears twice; name its groups")
            jobs[job.id] = job
    if not jobs:
        raise ConfigError(f"{config.path}: suite {suite!r} has no job")
    return list(jobs.values())


def expand_group(group: Mapping[str, Any], master: int, where: str) -> list[JobSpec]:
    """Return the jobs of one group: the product of its axes and seeds."""
    name, kind = group.get("name"), group.get("kind")
    if not isinstance(name, str) or not name.replace("-", "").replace("_", "").isalnum():
        raise ConfigError(f"{where}: name {name!r} needs letters, digits, - and _ only")
    if kind not in KINDS:
        raise ConfigError(f"{where}: kind {kind!r}; known: {', '.join(KINDS)}")
    timeout = group["timeout"]
    if not isinstance(timeout, (int, float)) or timeout <= 0:
        raise ConfigError(f"{where}: timeout is {timeout!r}, needs seconds above 0")
    if not isinstance(group["params"], dict):
        raise ConfigError(f"{where}: params is {group['params']!r}, needs a mapping")
    axes = [axis(group, key, where) for key in AXES]
    seeds = seeds_of(group, master, where)
    # An axis with one value says nothing in the name of a job.
    shown = {key for key, values in zip(AXES, axes, strict=True) if len(values) > 1}
    jobs = []
    for *point, seed in itertools.product(*axes, seeds):
        values = dict(zip(AXES, point, strict=True))
        parts = [name, str(values["simulator"])]
        parts += [f"{key}{values[key] or 'none'}" for key in AXES[1:] if key in shown]
        jobs.append(
            JobSpec(
                id=".".join([*parts, f"seed{seed}"]),
                name=name,
                kind=str(kind),
                params=dict(group["params"]),
                seed=seed,
                timeout=float(timeout),
                **values,
            )
        )
    return jobs
