"""Read ``sim/regress/suites.yaml`` and expand a suite into jobs.

A group is one workload or profile; its axes are lists, and the jobs of a group are the product
of them: seed x simulator x lat x depth x window x page.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta, Struct

from sim.regress.records import (
    PARAMS,
    Count,
    Depth,
    FormalParams,
    JobSpec,
    Kind,
    Latency,
    Page,
    Seconds,
    Seed,
    Simulator,
    Window,
)
from verif.typed import RecordError, convert, read_yaml

AXES = ("simulator", "lat", "depth", "window", "page")
# Random programs draw their own surroundings; directed ones come with a memory of their own, and
# serving lays out its own.
IGNORED = {
    "random": ("lat", "depth", "window", "page"),
    "directed": ("depth", "window", "page"),
    "serve": ("depth",),
    "formal": (*AXES, "seed", "seeds"),
}

# A job is named after its group, and a folder after the job.
Name = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{1,80}$")]
Some = Meta(min_length=1)


def axis(values: list[Any]) -> Any:
    """Return the default of an axis."""
    return msgspec.field(default_factory=lambda: list(values))


class Group(Struct, forbid_unknown_fields=True, kw_only=True):
    """Jobs of one kind, with the values of each axis; ``seed`` lists what ``seeds`` derives."""

    name: Name
    kind: Kind
    params: dict[str, Any] = {}
    timeout: Seconds = 300.0
    seeds: Count = 1
    seed: Annotated[list[Seed], Some] | None = None
    simulator: Annotated[list[Simulator], Some] = axis(["verilator"])
    lat: Annotated[list[Latency], Some] = axis([8])
    depth: Annotated[list[Depth], Some] = axis([8192])
    window: Annotated[list[Window], Some] = axis([None])
    page: Annotated[list[Page], Some] = axis([4])


class Suite(Struct, forbid_unknown_fields=True):
    """Groups, and suites whose groups belong to it as well."""

    about: str = ""
    include: list[str] = []
    groups: list[dict[str, Any]] = []


class FarmOptions(Struct, forbid_unknown_fields=True, kw_only=True):
    """How workers are asked for; what is left out is the farm's default.

    ``memory`` "none" asks for none at all: some farms refuse any. ``slots`` is how many jobs run in
    one worker.
    """

    queue: str | None = None
    account: str | None = None
    project: str | None = None
    resource_spec: str | None = None
    memory: Annotated[str, Meta(pattern=r"^(none|\d+(\.\d+)? ?[kMGT]i?B)$")] | None = None
    walltime: str | None = None
    slots: Annotated[int, Meta(ge=1, le=1024)] = 1
    interface: str | None = None
    port: Annotated[int, Meta(ge=1, le=65535)] | None = None
    directives: list[str] = []
    prologue: list[str] = []


Farm = Literal["slurm", "lsf", "sge", "pbs"]
CLUSTERS = ("local", *get_args(Farm))


class File(Struct, forbid_unknown_fields=True):
    """The file as it stands; its suites are converted one by one, to be named in errors."""

    suites: Annotated[dict[Name, Any], Some]
    defaults: dict[str, Any] = {}
    clusters: dict[Farm, dict[str, Any]] = {}
    keep_passed: bool = False


class Config(Struct):
    """The checked file: groups and inclusions by suite, farm options, and what to keep."""

    path: Path
    groups: dict[str, list[Group]]
    include: dict[str, list[str]]
    clusters: dict[str, FarmOptions]
    keep_passed: bool = False


def load(path: Path) -> Config:
    """Read and check the file. Raises RecordError with the place and the offending value."""
    file = convert(read_yaml(path), File, str(path))
    defaults = {"name": "defaults", "kind": "noop", **file.defaults}
    convert(_listed(defaults), Group, f"{path}: defaults")
    config = Config(path, {}, {}, {}, file.keep_passed)
    for name, body in file.suites.items():
        where = f"{path}: suite {name}"
        suite = convert(body, Suite, where)
        config.include[name] = suite.include
        config.groups[name] = [read_group(where, file.defaults, one) for one in suite.groups]
    for farm, options in file.clusters.items():
        config.clusters[farm] = convert(options, FarmOptions, f"{path}: clusters: {farm}")
    return config


def read_group(where: str, defaults: Mapping[str, Any], found: Mapping[str, Any]) -> Group:
    """Return a group over the defaults. Raises RecordError, also for what its kind would ignore."""
    where = f"{where}: group {found.get('name', '?')}"
    group = convert(_listed({**defaults, **found}), Group, where)
    convert(group.params, PARAMS[group.kind], f"{where}: params")
    for key in IGNORED.get(group.kind, ()):
        if key in found:
            raise RecordError(f"{where}: jobs of kind {group.kind} heed no {key}; leave it out")
    if "seed" in found and "seeds" in found:
        raise RecordError(f"{where}: has seed and seeds; choose one")
    return group


def _listed(group: Mapping[str, Any]) -> dict[str, Any]:
    """Return a group whose axes are lists; a single value counts as a list of one."""
    data = dict(group)
    for key in (*AXES, "seed"):
        if key in data:
            values = data[key] if isinstance(data[key], list) else [data[key]]
            data[key] = [None if one == "none" and key == "window" else one for one in values]
    return data


def groups_of(config: Config, suite: str, seen: tuple[str, ...] = ()) -> list[Group]:
    """Return the groups of a suite with those it includes. Raises RecordError."""
    if suite not in config.groups:
        known = ", ".join(sorted(config.groups))
        raise RecordError(f"{config.path}: no suite {suite!r}; known: {known}")
    if suite in seen:
        raise RecordError(f"{config.path}: suite {suite!r} includes itself")
    included = (groups_of(config, other, (*seen, suite)) for other in config.include[suite])
    return [*itertools.chain.from_iterable(included), *config.groups[suite]]


def derive_seed(master: int, name: str, index: int) -> int:
    """Return seed ``index`` of group ``name``: the same on every machine and Python version."""
    digest = hashlib.sha256(f"{master}/{name}/{index}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def expand(
    config: Config,
    suite: str,
    master: int,
    *,
    rtl: str = "",
    check: Callable[[JobSpec], None] | None = None,
) -> list[JobSpec]:
    """Return the jobs of a suite in file order; their ids are unique.

    Args:
        config: the file.
        suite: which suite of it.
        master: the seed from which others are derived.
        rtl: folder of the design, "" for the project's own.
        check: raises ValueError for a job that cannot be made.

    Raises:
        RecordError: names the group.
    """
    jobs: dict[str, JobSpec] = {}
    for group in groups_of(config, suite):
        for job in expand_group(group, master, rtl):
            if job.id in jobs:
                raise RecordError(f"{config.path}: job {job.id!r} appears twice; name its groups")
            jobs[job.id] = job
            try:
                if check:
                    check(job)
            except ValueError as error:
                raise RecordError(f"{config.path}: group {group.name}: {error}") from None
    if not jobs:
        raise RecordError(f"{config.path}: suite {suite!r} has no job")
    return list(jobs.values())


def expand_group(group: Group, master: int, rtl: str = "") -> list[JobSpec]:
    """Return the jobs of one group: the product of its axes and seeds, or the parts of its work."""
    if group.kind == "formal":
        shares = convert(group.params, FormalParams, f"{group.name}: params").parts
        return [part_of(group, number, rtl) for number in range(1, shares + 1)]
    derived = (derive_seed(master, group.name, index) for index in range(group.seeds))
    seeds = group.seed or list(derived)
    axes = [getattr(group, key) for key in AXES]
    # An axis with one value says nothing in the name of a job.
    shown = {key for key, values in zip(AXES, axes, strict=True) if len(values) > 1}
    jobs = []
    for *point, seed in itertools.product(*axes, seeds):
        values = dict(zip(AXES, point, strict=True))
        parts = [group.name, str(values["simulator"])]
        parts += [f"{key}{values[key] or 'none'}" for key in AXES[1:] if key in shown]
        jobs.append(
            JobSpec(
                id=".".join([*parts, f"seed{seed}"]),
                name=group.name,
                kind=group.kind,
                params=group.params,
                seed=seed,
                timeout=group.timeout,
                rtl=rtl,
                **values,
            )
        )
    return jobs


def part_of(group: Group, number: int, rtl: str) -> JobSpec:
    """Return the job that does one part of a group's work."""
    return JobSpec(
        id=f"{group.name}.part{number}",
        name=group.name,
        kind=group.kind,
        params={**group.params, "part": number},
        seed=0,
        timeout=group.timeout,
        rtl=rtl,
        **{key: getattr(group, key)[0] for key in AXES},
    )
