"""Whether two simulations of the same programs did the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.markup import escape

from sim.shared.junit import Case
from sim.shared.outcome import Outcome
from verif.items.result import ProgramResult

SHOWN = 5


def compare_results(
    names: Sequence[str], first: Sequence[ProgramResult], second: Sequence[ProgramResult]
) -> list[tuple[str, str]]:
    """Compare what two simulators said about the same programs; return (program, difference).

    A program that one of them did not finish, or that left nothing to compare, is a difference.
    """
    sides = [{result.name: result for result in results} for results in (first, second)]
    differences = []
    for name in names:
        one, other = (side.get(name) for side in sides)
        if one is None or other is None:
            differences.append((name, "not finished in both"))
        elif difference := compare_programs(one, other):
            differences.append((name, difference))
    return differences


def compare_programs(one: ProgramResult, other: ProgramResult) -> str:
    """Say how two results of one program differ, empty if they do not."""
    # A program of one HALT has no retire records, but it has a list of them.
    if not (one.memory_digest and one.counters) or one.retires is None:
        return "left no memory, counters or retire records to compare"
    if one.counters != other.counters:
        return f"counters {one.counters} and {other.counters}"
    fault, other_fault = ((r.fault, r.fault_code, r.fault_pc) for r in (one, other))
    if fault != other_fault:
        return f"fault outputs {fault} and {other_fault}"
    if one.retires != other.retires:
        pairs = zip(one.retires, other.retires or [], strict=False)
        index = next((i for i, (a, b) in enumerate(pairs) if a != b), None)
        return "numbers of retire records" if index is None else f"retire record {index}"
    return "" if one.memory_digest == other.memory_digest else "final memory"


def print_differences(console: Console, differences: Sequence[tuple[str, str]]) -> None:
    """Print the first differences, and count the others."""
    for name, what in differences[:SHOWN]:
        console.print(f"[bold red]DIFFERENT[/] {escape(f'{name}: {what}')}", soft_wrap=True)
    if len(differences) > SHOWN:
        console.print(f"... and {len(differences) - SHOWN} more")


def difference_cases(names: Sequence[str], differences: Mapping[str, str]) -> list[Case]:
    """Return a test case a program: whether it did the same in both."""
    return [
        Case(name, Outcome.of(name not in differences), differences.get(name, "")) for name in names
    ]
