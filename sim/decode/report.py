"""The decode workload's report for a reader: verdicts, pages, and cycles per step side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console

from model.checks.subject import Check
from model.decode.workload import DecodeParams
from model.trained.lm import KINDS as TRAINED
from sim.decode.job import WindowOutcome
from sim.decode.options import window_name
from sim.engine.design import Design, print_design
from sim.shared.results import verdict
from sim.shared.table import format_table

Outcomes = Mapping[int | None, WindowOutcome]


def print_heading(console: Console, simulator: str, params: DecodeParams, design: Design) -> None:
    """Say what runs, with everything needed to run it again."""
    seed = "" if params.model in TRAINED else f", seed {params.seed}"
    console.print(
        f"GA-2 windowed decode on {simulator}: {params.model} model{seed}, start token "
        f"{params.start}, {params.steps} steps, pages of {params.page} rows, pool of "
        f"{params.pool}, latency {params.latency}",
        soft_wrap=True,
    )
    print_design(console, design)


def print_checks(console: Console, checks: Sequence[Check]) -> bool:
    """Print the software checks' verdict, with a line for each that did not pass."""
    failed = [check for check in checks if check.verdict == "fail"]
    skipped = [check for check in checks if check.verdict == "skip"]
    passed = len(checks) - len(failed) - len(skipped)
    counts = f"{passed} passed, {len(failed)} failed, {len(skipped)} skipped"
    seconds = sum(check.seconds for check in checks)
    ok = not failed and passed > 0
    console.print(f"software checks: {verdict(ok)} ({counts}, {seconds:.1f} s)")
    for check in [*failed, *skipped]:
        console.print(f"  {check.name}: {check.verdict}: {check.detail}", soft_wrap=True)
    return ok


def print_windows(console: Console, outcomes: Outcomes) -> None:
    """Print what was compiled and what the pool holds, one row a window."""
    rows = [("window", "rule followed", "programs compiled", "pages in use", "peak pages")]
    for window, outcome in outcomes.items():
        run, followed = outcome.run, outcome.tokens_by_rule
        rows.append(
            (
                window_name(window),
                "no rule" if followed is None else f"{followed}/{len(run.steps)} tokens",
                str(run.programs),
                f"{run.steps[-1].pages_in_use} at step {len(run.steps)}",
                str(run.peak_pages),
            )
        )
    console.print(format_table(rows, "<>>>>"), soft_wrap=True)
    for window, outcome in outcomes.items():
        if outcome.text is not None:
            console.print(f"window {window_name(window):>4} wrote {outcome.text!r}", soft_wrap=True)
        for note in outcome.run.notes:
            console.print(f"note (window {window_name(window)}): {note}", soft_wrap=True)


def print_window_verdicts(console: Console, outcomes: Outcomes) -> None:
    """Print PASS or FAIL of every window, with its programs and cycles."""
    for window, outcome in outcomes.items():
        played, wanted = len(outcome.results), len(outcome.run.steps)
        count = f"{played} programs" if played == wanted else f"{played} of {wanted} programs"
        bad = sum(not result.passed for result in outcome.results)
        console.print(
            f"window {window_name(window):>4}: {verdict(outcome.passed)}  {count}, "
            f"{outcome.total_cycles:,} cycles" + (f", {bad} failed" if bad else "")
        )


def print_cycles(console: Console, outcomes: Outcomes) -> None:
    """Print the RTL's cycles of every step, the windows side by side."""
    titles = ["no window" if window is None else f"window {window}" for window in outcomes]
    rows = [["step", *titles]]
    for index in range(max(len(outcome.run.steps) for outcome in outcomes.values())):
        rows.append([str(index + 1), *(_cycles(o, index) for o in outcomes.values())])
    rows.append(["all", *(f"{o.total_cycles:,}" for o in outcomes.values())])
    console.print("cycles per step")
    console.print(format_table(rows, ">" * len(rows[0])), soft_wrap=True)


def _cycles(outcome: WindowOutcome, index: int) -> str:
    if index >= len(outcome.results):
        return "-"
    result = outcome.results[index]
    text = f"{result.counters['total']:,}" if "total" in result.counters else "-"
    return text if result.passed else f"{text} !"
