"""What is printed and written about programs that failed."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from sim.shared.buckets import Key, bucket_key
from sim.shared.junit import Case
from sim.shared.outcome import Outcome
from sim.shared.results import print_verdict
from verif.items.result import ProgramResult

REPORTED = 3  # buckets reported in full
SHOWN = 4  # mismatches of one program
NAMED = 3  # other programs of a bucket


def failure_text(result: ProgramResult) -> str:
    """Describe one failing program: the first wrong instruction, what differed, how to rerun it."""
    if result.passed:
        return ""
    lines = [f"{result.name} ({result.provenance})" if result.provenance else result.name]
    if result.first_divergence:
        lines.append(f"first wrong instruction: {result.first_divergence}")
    lines += [f"{mismatch.kind}: {mismatch.message}" for mismatch in result.mismatches[:SHOWN]]
    hidden = len(result.mismatches) - SHOWN
    if hidden > 0:
        lines.append(f"... and {hidden} more")
    if not result.comparisons:
        lines.append("nothing was compared")
    if result.rerun:
        lines.append(f"rerun: {result.rerun}")
    return "\n  ".join(lines)


def buckets_of(results: Sequence[ProgramResult]) -> list[list[ProgramResult]]:
    """Put failing programs that look alike together, the largest bucket first."""
    buckets: dict[Key, list[ProgramResult]] = {}
    for result in results:
        if not result.passed:
            # The wrong instruction says more than the memory it left behind, or did not.
            found = sorted(result.mismatches, key=lambda mismatch: mismatch.kind != "retire")
            kind, message = (found[0].kind, found[0].message) if found else ("", "")
            key = bucket_key(kind, message, result.first_divergence)
            buckets.setdefault(key, []).append(result)
    return sorted(buckets.values(), key=lambda bucket: -len(bucket))


def print_failures(console: Console, results: Sequence[ProgramResult]) -> None:
    """Report one failing program of each bucket in full, name some that look alike, count all."""
    buckets = buckets_of(results)
    for bucket in buckets[:REPORTED]:
        text = failure_text(bucket[0])
        if len(bucket) > 1:
            names = ", ".join(result.name for result in bucket[1 : 1 + NAMED])
            more = f", ... {len(bucket) - 1 - NAMED} more" if len(bucket) - 1 > NAMED else ""
            text += f"\n  {len(bucket)} programs fail alike: also {names}{more}"
        print_verdict(console, False, text)
    rest = buckets[REPORTED:]
    if rest:
        programs = sum(len(bucket) for bucket in rest)
        console.print(f"... and {programs} more failing programs, of {len(rest)} other kinds")


def program_cases(results: Sequence[ProgramResult]) -> list[Case]:
    """Return a test case a program."""
    return [
        Case(
            result.name,
            Outcome.of(result.passed),
            failure_text(result),
            kind=result.mismatches[0].kind if result.mismatches else "",
        )
        for result in results
    ]


def simulation_case(errors: Sequence[str]) -> Case:
    """Return the test case of the simulations themselves: whatever went wrong beside programs."""
    return Case("simulation", Outcome.ERROR if errors else Outcome.PASSED, "\n".join(errors))
