"""What is printed about programs that failed."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape

from verif.items.result import ProgramResult

REPORTED = 3  # programs reported in full
SHOWN = 4  # mismatches of one program


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


def print_failures(console: Console, results: Sequence[ProgramResult]) -> None:
    """Report the first failing programs in full, and count the others."""
    failed = [result for result in results if not result.passed]
    for result in failed[:REPORTED]:
        console.print(f"[bold red]FAIL[/] {escape(failure_text(result))}", soft_wrap=True)
    if len(failed) > REPORTED:
        console.print(f"... and {len(failed) - REPORTED} more failing programs")
