"""What travels between the engine and its workers: job specifications and job records."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

PASSED = "passed"
FAILED = "failed"
TIMEOUT = "timeout"
CRASHED = "crashed"
LOST = "lost"
STATUSES = (PASSED, FAILED, TIMEOUT, CRASHED, LOST)


@dataclass(frozen=True)
class JobSpec:
    """One regression job: a workload or profile on one simulator in one configuration.

    Attributes:
        id: unique within the regression and safe as a folder name.
        name: the group in the suite that the job comes from.
        kind: a key of `kinds.KINDS` ("decode", "random", "directed", "command") or "noop".
        params: what the kind needs beyond the fields below; plain JSON values only.
        seed: the seed of everything random in the job.
        simulator: "icarus" or "verilator".
        lat: latency of the external read port in cycles.
        depth: words of external memory.
        window: tokens of the sliding window, None for the full context.
        page: rows of a KV-cache page.
        timeout: seconds until the job is killed with its children.
    """

    id: str
    name: str
    kind: str
    params: dict[str, Any]
    seed: int
    simulator: str
    lat: int
    depth: int
    window: int | None
    page: int
    timeout: float

    def to_json(self) -> dict[str, Any]:
        """Return the specification as plain JSON values."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> JobSpec:
        """Rebuild a specification; unknown or missing keys raise TypeError."""
        return cls(**data)


@dataclass
class Failure:
    """One reason why a job did not pass.

    Attributes:
        kind: mismatch kind ("memory", "counter", ...), "error", "timeout", "crash" or "lost".
        message: one line for people.
        instruction: the first divergent instruction, disassembled, when one is known.
        program: name of the program it happened in.
        rerun: a command that reruns only that program with waves, when the testbench gave one.
    """

    kind: str
    message: str
    instruction: str = ""
    program: str = ""
    rerun: str = ""


@dataclass
class Outcome:
    """What a job's own process reports: totals, failures and one row of counters a program.

    `rows` holds `[program, passed, total, mm, dma, vec, n_inst]` in cycles and instructions.
    `files` maps a label ("coverage", "log", ...) to a path that the reports may want to read,
    relative to the job's folder. `tests` maps names of the test plan to (passed, programs).
    """

    programs: int = 0
    cycles: int = 0
    comparisons: int = 0
    failures: list[Failure] = field(default_factory=list)
    rows: list[list[Any]] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    tests: dict[str, tuple[bool, int]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as plain JSON values."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Outcome:
        """Rebuild an outcome from `to_json`."""
        failures = [Failure(**item) for item in data.pop("failures", [])]
        return cls(failures=failures, **data)


@dataclass
class JobRecord:
    """The final word on one job, written exactly once per regression.

    Times are seconds; `started` is seconds since the epoch on the worker. `attempt` counts from 1
    and is above 1 when a lost worker's job ran again. `folder` is the job's private folder and
    `files` holds what belongs to it; `files["coverage"]` is relative to the run folder.
    """

    id: str
    status: str
    seconds: float = 0.0
    started: float = 0.0
    attempt: int = 1
    worker: str = ""
    folder: str = ""
    programs: int = 0
    cycles: int = 0
    comparisons: int = 0
    failures: list[Failure] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    tests: dict[str, tuple[bool, int]] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """True when the job ran, compared something and found no fault."""
        return self.status == PASSED

    def to_json(self) -> dict[str, Any]:
        """Return the record as plain JSON values."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> JobRecord:
        """Rebuild a record from `to_json`; keys that belong to other readers are ignored."""
        known = {item.name for item in dataclasses.fields(cls)} - {"failures"}
        failures = [Failure(**item) for item in data.get("failures", [])]
        return cls(failures=failures, **{k: v for k, v in data.items() if k in known})
