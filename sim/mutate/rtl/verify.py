"""Are the schemata honest? Builds a sample of mutants by themselves and compares the verdicts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from rich.console import Console

from sim.mutate.common.finding import KILLED, PROVEN
from sim.mutate.common.stages import StageProgress
from sim.mutate.common.store import Store
from sim.mutate.rtl.own_build import power_up_tests, run_programs
from sim.mutate.rtl.parallel import each
from sim.mutate.rtl.plan import Plan
from verif.mutation.protocol import MutantVerdict


def choose(plan: Plan, store: Store, count: int) -> list[int]:
    """Return numbers of decided schema mutants, spread over kinds and verdicts."""
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, mutant in plan.mutants.items():
        finding = store.findings.get(plan.keys[number])
        if finding is not None and mutant.schema and finding.stage in ("schema", "proof"):
            groups[mutant.kind, finding.status].append(number)
    chosen: list[int] = []
    rank = 0
    while len(chosen) < count and any(len(group) > rank for group in groups.values()):
        for group in groups.values():
            if len(group) > rank and len(chosen) < count:
                # A stride without common factor walks through the whole group in large steps.
                chosen.append(group[rank * _stride(len(group)) % len(group)])
        rank += 1
    return sorted(chosen)


def _stride(length: int) -> int:
    stride = max(1, round(length * 0.618))
    while length > 1 and any(length % d == 0 and stride % d == 0 for d in range(2, stride + 1)):
        stride += 1
    return stride


def verify_sample(
    plan: Plan, store: Store, count: int, jobs: int, progress: StageProgress
) -> list[dict[str, Any]]:
    """Return verdicts beside those of mutants that are built by themselves.

    A killed mutant must fail the test that killed it, a proven one pass a test of each family.
    """
    numbers = choose(plan, store, count)
    verdicts: dict[int, MutantVerdict] = {}
    with progress.stage("mutants by themselves", len(numbers)) as stage:
        for number, verdict in each(partial(_alone, plan, store), numbers, jobs):
            verdicts[number] = verdict
            stage.advance("killed" if verdict.killed else "survived")
    return [_row(plan, store, number, verdicts[number]) for number in sorted(verdicts)]


def print_verification(console: Console, rows: Sequence[Mapping[str, Any]]) -> int:
    """Print what disagrees; return 0 when all agree, 1 when not or when there is nothing."""
    wrong = [row for row in rows if not row["agrees"]]
    for row in wrong:
        console.print(
            f"DISAGREE {row['file']}:{row['line']} {row['description']}: {row['status']} in the "
            f"schema, {row['alone']} by itself ({row['message']})",
            markup=False,
        )
    console.print(f"{len(rows) - len(wrong)} of {len(rows)} verdicts agree", highlight=False)
    return 1 if wrong or not rows else 0


def _alone(plan: Plan, store: Store, number: int) -> MutantVerdict:
    finding = store.findings[plan.keys[number]]
    tests = {test.name: test for test in plan.tests}
    if finding.status == KILLED and finding.test:
        return run_programs(plan.mutated(number), [tests[finding.test]])
    # Proofs are about two values: Icarus may tell some by the unknown values of power-up.
    return run_programs(plan.mutated(number), power_up_tests(plan.tests, each=1), sim="verilator")


def _row(plan: Plan, store: Store, number: int, verdict: MutantVerdict) -> dict[str, Any]:
    mutant, status = plan.mutants[number], store.findings[plan.keys[number]].status
    return {
        "file": mutant.file,
        "line": mutant.line,
        "description": mutant.description,
        "status": status,
        "alone": "killed" if verdict.killed else "survived",
        "message": verdict.message,
        # A survivor that is neither killed nor proven says nothing that could be wrong.
        "agrees": status not in (KILLED, PROVEN) or verdict.killed == (status == KILLED),
    }
