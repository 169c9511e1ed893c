"""What travels between the engine, its workers and the reports, as typed records."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from sim.shared.outcome import Outcome

Count = Annotated[int, Meta(ge=1, le=1_000_000)]
Natural = Annotated[int, Meta(ge=0)]
# What SQLite, numpy and every simulator can hold.
Seed = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Seconds = Annotated[float, Meta(gt=0, le=1_000_000)]
Simulator = Literal["icarus", "verilator"]
Latency = Annotated[int, Meta(ge=1, le=64)]
Depth = Annotated[int, Meta(ge=1, le=65536)]
Window = Annotated[int, Meta(ge=1, le=64)] | None
Page = Annotated[int, Meta(ge=1, le=8192)]


class Params(Struct, frozen=True, forbid_unknown_fields=True):
    """What a kind of job needs beyond the fields that all jobs have."""


class NoParams(Params, frozen=True):
    """Of a job that does nothing; it measures the engine."""


class CommandParams(Params, frozen=True):
    """The command: words, or one string that is split as a shell would."""

    argv: (
        Annotated[str, Meta(min_length=1)] | Annotated[list[str | int | float], Meta(min_length=1)]
    )


class DecodeParams(Params, frozen=True):
    """Decode steps: the model, the first token, how many steps, and pages of the cache."""

    model: Literal["structured", "random", "trained", "trained-window16", "trained-int4"] = (
        "structured"
    )
    start: Natural = 0
    steps: Count = 32
    pool: Count = 64


class RandomParams(Params, frozen=True):
    """Random programs: of which profile, how many, and the index of the first."""

    profile: str = "typical"
    programs: Count = 50
    first: Natural = 0


class DirectedParams(Params, frozen=True):
    """Directed programs, by name and family; all when none is named, slow ones only if ``slow``."""

    programs: list[str] = []
    families: list[str] = []
    slow: bool = False


class ServeParams(Params, frozen=True):
    """Requests to serve, drawn from the job's seed, and the options of the engine."""

    model: Literal["structured", "random", "trained", "trained-window16"] = "random"
    requests: Count = 6
    rate: Annotated[float, Meta(gt=0)] = 0.5
    longest: Annotated[int, Meta(ge=2, le=128)] = 32
    batch: Count = 8
    rows: Annotated[int, Meta(ge=1, le=64)] = 16
    sinks: Natural = 0
    pool: Count = 48
    draft: Natural = 3
    admission: str = "one page"
    resident: bool = True


class FormalParams(Params, frozen=True):
    """The proofs, or the RTL's mutants against them, in so many parts; ``part`` is of one job.

    Of the mutants ``sample`` of each kind, 0 for all.
    """

    ask: Literal["proofs", "mutants"]
    sample: Natural = 0
    parts: Annotated[int, Meta(ge=1, le=1000)] = 1
    part: Annotated[int, Meta(ge=1, le=1000)] = 1


Kind = Literal["decode", "serve", "random", "directed", "formal", "command", "noop"]
PARAMS: dict[str, type[Params]] = {
    "decode": DecodeParams,
    "serve": ServeParams,
    "random": RandomParams,
    "directed": DirectedParams,
    "formal": FormalParams,
    "command": CommandParams,
    "noop": NoParams,
}


class JobSpec(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One regression job: a workload or profile on one simulator in one configuration.

    Attributes:
        id: unique within the regression and safe as a folder name.
        name: the group in the suite that the job comes from.
        kind: a key of ``PARAMS``; "noop" does nothing.
        params: what ``PARAMS[kind]`` takes, as plain JSON values.
        seed: the seed of everything random in the job.
        simulator: "icarus" or "verilator".
        lat: latency of the external read port in cycles.
        depth: words of external memory.
        window: tokens of the sliding window, None for the full context.
        page: rows of a KV-cache page.
        timeout: seconds until the job is killed with its children.
        rtl: folder of the design, "" for the project's own.
        waves: record waves.
    """

    id: str
    name: str
    kind: Kind
    params: dict[str, Any]
    seed: Seed
    simulator: Simulator
    lat: Latency
    depth: Depth
    window: Window
    page: Page
    timeout: Seconds
    rtl: str = ""
    waves: bool = False

    @property
    def simulates(self) -> bool:
        """Whether it needs a build of the design."""
        return self.kind not in ("formal", "command", "noop")


class Failure(Struct):
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

    def line(self) -> str:
        """Return all but the rerun command in one line."""
        where = f" at {self.instruction}" if self.instruction else ""
        program = f"{self.program}: " if self.program else ""
        return f"{program}{self.kind}: {self.message}{where}"


class Measured(Struct, kw_only=True):
    """What a job counted: programs, simulated cycles, compared values, and what it left.

    ``failures`` are the reasons why it did not pass. ``files`` maps a label ("coverage", "log",
    ...) to a path that the reports may want to read. ``tests`` maps names of the test plan to
    (passed, programs).
    """

    programs: int = 0
    cycles: int = 0
    comparisons: int = 0
    failures: list[Failure] = []
    files: dict[str, str] = {}
    tests: dict[str, tuple[bool, int]] = {}


class JobReport(Measured, kw_only=True):
    """What a job's own process reports; paths are relative to its folder.

    ``rows`` holds ``[program, passed, total, mm, dma, vec, n_inst]`` in cycles and instructions.
    """

    rows: list[list[Any]] = []


class JobRecord(Measured):
    """The final word on one job, written exactly once per regression.

    Times are seconds; ``started`` is seconds since the epoch on the worker. ``attempt`` counts from
    1 and is above 1 when a lost worker's job ran again. ``folder`` is the job's private folder, and
    ``files["coverage"]`` is relative to the run folder. ``design`` is the hash of what was tested.
    """

    id: str
    status: Outcome
    seconds: float = 0.0
    started: float = 0.0
    attempt: int = 1
    worker: str = ""
    folder: str = ""
    design: str = ""

    @property
    def passed(self) -> bool:
        """True when the job ran, compared something and found no fault."""
        return self.status == Outcome.PASSED
