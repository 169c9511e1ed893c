"""Formal proofs (``make formal``): every property on the design, and its failure on a mutant."""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from rich.console import Console
from rich.markup import escape

from sim.formal.proofs import PROOFS, Proof, Property
from sim.formal.sby import FOLDER, Outcome, PatchError
from sim.formal.sby import run as run_sby
from sim.shared.cli import Parser, run
from sim.shared.errors import UsageError
from sim.shared.files import write_json
from sim.shared.paths import RESULTS, shown
from sim.shared.results import Verdict, write_junit
from sim.shared.table import format_table


@dataclass(frozen=True)
class Row:
    """One property: the proof it is part of, and the run on its mutant (None: not asked for)."""

    proof: Proof
    claim: Property
    proved: Outcome
    mutant: Outcome | None

    @property
    def holds(self) -> bool:
        """The proof passed, and the property is among what was asserted."""
        return self.proved.status == "PASS" and self.claim.name in self.proved.asserted

    @property
    def noticed(self) -> bool:
        """The mutant has a counterexample that violates this very property."""
        return self.mutant is None or (
            self.mutant.status == "FAIL" and self.claim.name in self.mutant.failed
        )

    @property
    def passed(self) -> bool:
        """Proved on the design, refuted on the mutant."""
        return self.holds and self.noticed

    @property
    def verdict(self) -> str:
        """One word or two for the table."""
        if self.proved.status == "PASS" and not self.holds:
            return "NOT ASSERTED"
        return "proved" if self.holds else self.proved.status

    @property
    def mutant_verdict(self) -> str:
        """What the mutant showed."""
        if self.mutant is None:
            return "-"
        if self.noticed:
            return f"fails ({self.mutant.seconds:.1f} s)"
        return f"NOT NOTICED ({self.mutant.status})"


def check(proofs: list[Proof], mutants: bool, jobs: int, console: Console) -> list[Row]:
    """Run proofs and mutants, ``jobs`` at a time; return a row a property."""
    with ThreadPoolExecutor(jobs) as pool, console.status("") as status:
        # The long ones are proofs; mutants fill the gaps.
        proved = {proof.name: pool.submit(run_sby, proof) for proof in proofs}
        broken = {
            (proof.name, each.name): pool.submit(run_sby, searching(proof, each), each.mutant)
            for proof in proofs
            for each in proof.properties
            if mutants
        }
        waiting = [*proved.values(), *broken.values()]
        while not all(future.done() for future in waiting):
            done = sum(future.done() for future in waiting)
            status.update(f"{done} of {len(waiting)} runs of sby")
            time.sleep(0.2)
    return [
        Row(
            proof,
            each,
            proved[proof.name].result(),
            broken[proof.name, each.name].result() if mutants else None,
        )
        for proof in proofs
        for each in proof.properties
    ]


def searching(proof: Proof, claim: Property) -> Proof:
    """Return the proof with the task that looks for this property's counterexample."""
    return replace(proof, search=claim.search or proof.search)


def report(rows: list[Row]) -> str:
    """Return the table."""
    head = ["property", "says", "module", "engine", "bound", "time", "verdict", "on its mutant"]
    cells = [
        [
            row.claim.name,
            row.claim.says,
            row.proof.module,
            row.proved.engine,
            row.proved.bound,
            f"{row.proved.seconds:.1f} s",
            row.verdict,
            row.mutant_verdict,
        ]
        for row in rows
    ]
    return format_table([head, *cells], "<<<<<><<")


def chosen(names: str) -> list[Proof]:
    """Return the proofs of the given modules (blank-separated), all of them for none.

    Raises:
        UsageError: there is no such module.
    """
    known = {proof.module.removeprefix("ga2_") for proof in PROOFS}
    wanted = {name.removeprefix("ga2_") for name in names.split()}
    if wanted - known:
        raise UsageError(f"MODULES={names}: choose among {' '.join(sorted(known))}")
    return [p for p in PROOFS if not wanted or p.module.removeprefix("ga2_") in wanted]


def main() -> int:
    """Prove, refute the mutants, print the table; return 0 only if all is as it should be."""
    parser = Parser(prog="formal", description=__doc__)
    parser.add_argument("--modules", default="", help="only these modules, e.g. 'divider load'")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument(
        "--mutants", action=argparse.BooleanOptionalAction, default=True, help="try the mutants"
    )
    args = parser.parse_args()
    console = Console(highlight=False)
    begin = time.monotonic()
    try:
        rows = check(chosen(args.modules), args.mutants, args.jobs, console)
    except PatchError as error:
        raise UsageError(f"{error}: adapt sim/formal/proofs.py to the RTL") from None
    print(report(rows))
    for row in rows:
        if not row.passed:
            outcome = row.proved if not row.holds or row.mutant is None else row.mutant
            console.print(f"[bold red]FAIL[/] {row.proof.module}: {row.claim.name}")
            console.print(escape("\n".join(outcome.log.splitlines()[-12:])), soft_wrap=True)
    passed = bool(rows) and all(row.passed for row in rows)
    write_json(RESULTS / "formal.json", {"passed": passed, "properties": [*map(_figures, rows)]})
    write_junit(RESULTS / "formal.xml", [("formal", [*map(_case, rows)])])
    console.print(
        f"{'[bold green]PASS[/]' if passed else '[bold red]FAIL[/]'}  {len(rows)} properties, "
        f"{time.monotonic() - begin:.1f} s; times of known verdicts are those of the run that found"
        f" them ({shown(FOLDER)}); {shown(RESULTS / 'formal')}.json and .xml",
        soft_wrap=True,
    )
    return 0 if passed else 1


def _figures(row: Row) -> dict[str, object]:
    return {
        "property": row.claim.name,
        "module": row.proof.module,
        "engine": row.proved.engine,
        "bound": row.proved.bound,
        "seconds": row.proved.seconds,
        "verdict": row.verdict,
        "mutant": row.mutant_verdict,
    }


def _case(row: Row) -> Verdict:
    detail = f"{row.verdict}; on its mutant: {row.mutant_verdict}"
    return Verdict(f"{row.proof.module}.{row.claim.name}", row.passed, detail, row.proved.seconds)


if __name__ == "__main__":
    run("formal", main)
