"""Failures of a regression that look alike, with an example of each and how to rerun it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from sim.regress.records import Failure, JobRecord, JobSpec
from sim.shared.buckets import bucket_key

MAX_EXAMPLES = 20


class Bucket(Struct):
    """Failures of one look.

    ``count`` is the number of jobs, ``job``, ``seed``, ``message``, ``instruction`` and ``rerun``
    are of the example, the job whose process took the least time. ``jobs`` lists up to
    ``MAX_EXAMPLES`` ids.
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
    jobs: list[str] = []


def first_failure(record: JobRecord) -> Failure:
    """Return the failure a job counts by: what came later may only follow from the first."""
    return record.failures[0] if record.failures else Failure(record.status, "no reason")


def likeness(failure: Failure) -> tuple[str, str, str]:
    """Return what failures of one bucket have in common: kind, pattern, operation."""
    return bucket_key(failure.kind, failure.message, failure.instruction)


def collect(jobs: Mapping[str, JobSpec], records: Iterable[JobRecord], rerun: str) -> list[Bucket]:
    """Return the buckets of all records that did not pass, the most frequent first.

    ``rerun`` is the command that plays a whole job again, up to the job's id. The testbench's own
    command, which plays a single program, is preferred.
    """
    buckets: dict[tuple[str, str, str], Bucket] = {}
    for record in sorted(records, key=lambda item: item.id):
        if record.passed:
            continue
        first = first_failure(record)
        key = likeness(first)
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
            bucket.rerun = first.rerun or rerun + spec.id
    return sorted(buckets.values(), key=lambda item: (-item.count, item.kind, item.pattern))
