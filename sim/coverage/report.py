"""The whole of a coverage run: verdict, JSON for other reports, text for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console
from rich.markup import escape

from sim.coverage import functional
from sim.coverage.code import GOALS, CodeCoverage, Figure, grouped
from sim.coverage.dat import KINDS
from sim.coverage.functional import FunctionalCoverage
from sim.engine.play import Batch
from sim.shared.failures import print_failures
from sim.shared.table import format_table

SHORT = {"line": "line", "branch": "branch", "expression": "expr.", "toggle": "toggle"}


@dataclass(frozen=True)
class Report:
    """Everything that was found.

    Attributes:
        played: the simulations.
        functional: merged over all of them.
        by_simulator: functional coverage of each simulator alone.
        code: None when Verilator did not run.
        seconds: that it took.
    """

    played: Batch
    functional: FunctionalCoverage
    by_simulator: Mapping[str, FunctionalCoverage]
    code: CodeCoverage | None
    seconds: float = 0.0

    @property
    def problems(self) -> list[str]:
        """All that keeps this from passing, one line each."""
        found = [
            f"{one.sim} {one.title}: {run.error.splitlines()[0]}"
            for one, run in self.played.each()
            if run.error
        ]
        failed = len(self.played.failed)
        if failed:
            found.append(f"{failed} programs failed; they cover nothing")
        if self.functional.percent < functional.GOAL:
            bins = f"{self.functional.hit:,} of {self.functional.bins:,} bins"
            found.append(f"functional coverage {self.functional.percent:.2f}% ({bins}), goal 100%")
        found += self.functional.problems
        if self.code:
            found += self.code.missed + self.code.problems
        return found

    def to_json(self) -> dict[str, Any]:
        """Figures and holes, for machines."""
        return {
            "passed": not self.problems,
            "problems": self.problems,
            "seconds": round(self.seconds, 1),
            "runs": [
                {
                    "simulator": one.sim,
                    "name": one.title,
                    "programs": len(run.results),
                    "failed": len(run.failed),
                    "seconds": round(run.seconds, 1),
                }
                for one, run in self.played.each()
            ],
            "functional": _functional_json(self.functional, self.by_simulator),
            "code": _code_json(self.code) if self.code else None,
        }


def _functional_json(
    coverage: FunctionalCoverage, by_simulator: Mapping[str, FunctionalCoverage]
) -> dict[str, Any]:
    return {
        "goal": functional.GOAL,
        "percent": round(coverage.percent, 2),
        "bins": coverage.bins,
        "hit": coverage.hit,
        "simulators": {sim: round(one.percent, 2) for sim, one in by_simulator.items()},
        "points": {
            name: {
                "about": point.point.about,
                "bins": len(point.hits),
                "hit": len(point.hits) - len(point.holes),
                "percent": round(point.percent, 2),
                "holes": point.holes,
                "excluded": point.point.excluded,
                "hits": dict(point.hits),
            }
            for name, point in coverage.points.items()
        },
    }


def _figure_json(figure: Figure) -> dict[str, Any]:
    return {**asdict(figure), "percent": round(figure.percent, 2)}


def _code_json(code: CodeCoverage) -> dict[str, Any]:
    kinds = {kind: _figure_json(code.total(kind)) for kind in KINDS}
    for kind, goal in GOALS.items():
        kinds[kind]["goal"] = goal
    return {
        "kinds": kinds,
        "files": {
            name: {
                **{kind: _figure_json(figure) for kind, figure in figures.items()},
                "holes": [
                    {"line": item.line, "kind": item.kind, "what": what, "text": code.source(item)}
                    for item, what in grouped(code.holes(file=name))
                ],
                "lines": code.annotated(name),
            }
            for name, figures in code.figures.items()
        },
        "exclusions": [
            {
                "what": str(exclusion),
                "reason": exclusion.reason,
                "items": sum(other is exclusion for other in code.left_out.values()),
            }
            for exclusion in code.exclusions
        ],
    }


def print_report(console: Console, report: Report) -> None:
    """Print runs, both coverages with every hole, and the verdict."""
    rows = [["run", "simulator", "programs", "failed", "seconds"]]
    for one, run in report.played.each():
        counts = (len(run.results), len(run.failed))
        rows.append([one.title, one.sim, *(f"{n:,}" for n in counts), f"{run.seconds:.1f}"])
    console.print(format_table(rows, "<<>>>") + "\n", soft_wrap=True)
    print_failures(console, report.played.results)
    print_functional(console, report)
    if report.code:
        print_code(console, report.code)
    else:
        console.print("code coverage needs Verilator, which was not asked for")
    for problem in report.problems:
        console.print(f"[red]{escape(problem)}[/]", soft_wrap=True)


def print_functional(console: Console, report: Report) -> None:
    """Print the sum and every bin that was not hit."""
    coverage = report.functional
    each = ", ".join(f"{sim} {one.percent:.2f}%" for sim, one in report.by_simulator.items())
    console.print(
        f"functional coverage {coverage.percent:.2f}%: {coverage.hit:,} of {coverage.bins:,} bins "
        f"of {len(coverage.points)} points ({each})",
        soft_wrap=True,
    )
    for name, point in coverage.points.items():
        for hole in point.holes:
            console.print(f"  [yellow]hole[/]  {name}: {escape(hole)}", soft_wrap=True)


def print_code(console: Console, code: CodeCoverage) -> None:
    """Print one row a file and every item that was not covered, with its source line."""
    rows = [["code coverage, %", *(SHORT[kind] for kind in KINDS), "left out"]]
    for name, figures in code.figures.items():
        if any(figure.total + figure.excluded for figure in figures.values()):
            rows.append([name, *_cells(list(figures.values()))])
    rows.append(["all", *_cells([code.total(kind) for kind in KINDS])])
    console.print("\n" + format_table(rows, "<>>>>>"), soft_wrap=True)
    for item, what in grouped(code.holes()):
        text = f"{item.file}:{item.line}  {item.kind}  {what}  | {code.source(item)}"
        console.print(f"  [yellow]hole[/]  {escape(text)}", soft_wrap=True)


def _cells(figures: Sequence[Figure]) -> list[str]:
    cells = [f"{figure.percent:.2f}" if figure.total else "-" for figure in figures]
    excluded = sum(figure.excluded for figure in figures)
    return [*cells, f"{excluded:,}" if excluded else "-"]
