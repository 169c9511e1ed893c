"""Failures of a regression that look alike, with an example of each and how to rerun it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from sim.regress.records import Failure, JobRecord, JobSpec
from sim.shared.buckets import bucket_key

MAX_EXAMPLES = 20


@dataclass
class Bucket:
    """Failures of one look.

    `count` is the number of jobs, `job`, `seed`, `message`, `instruction` and `rerun` are of the
    example, the job whose process took the least time. `jobs` lists up to `MAX_EXAMPLES` ids.
    """

    kind: str
    pattern: str
    operation: str
    count: int = 0
    job: str = ""
    seed: int = 0
    simulator: str = ""
    seconds: float = 0.0
    message: str = ""
    instruction: str = ""
    program: str = ""
    rerun: str = ""
    jobs: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return the bucket as plain JSON values."""
        return asdict(self)


def rerun_command(spec: JobSpec, failure: Failure, run: str) -> str:
    """Return the command that reruns the failure with its seed and waves.

    The testbench's own command reruns a single program; without one the whole job is rerun.
    """
    return failure.rerun or f"make regress-rerun RUN={run} JOB={spec.id}"


def collect(jobs: Mapping[str, JobSpec], records: Iterable[JobRecord], run: str) -> list[Bucket]:
    """Return the buckets of all records that did not pass, the most frequent first.

    A job counts once, by its first failure: what came later may only follow from that.
    """
    buckets: dict[tuple[str, str, str], Bucket] = {}
    for record in sorted(records, key=lambda item: item.id):
        if record.passed:
            continue
        first = record.failures[0] if record.failures else Failure(record.status, "no reason")
        key = bucket_key(first.kind, first.message, first.instruction)
        bucket = buckets.setdefault(key, Bucket(*key))
        bucket.count += 1
        if len(bucket.jobs) < MAX_EXAMPLES:
            bucket.jobs.append(record.id)
        if bucket.count == 1 or record.seconds < bucket.seconds:
            spec = jobs[record.id]
            bucket.job, bucket.seed, bucket.seconds = spec.id, spec.seed, record.seconds
            bucket.simulator = spec.simulator
            bucket.message, bucket.instruction = first.message, first.instruction
            bucket.program = first.program
            bucket.rerun = rerun_command(spec, first, run)
    return sorted(buckets.values(), key=lambda item: (-item.count, item.kind, item.pattern))
