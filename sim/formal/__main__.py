"""Formal proofs (``make formal``): every property on the design, and its failure on a mutant."""

from __future__ import annotations

import argparse
import os
import signal
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from model.errors import check_int
from sim.engine.design import Design, add_design_option, design_files
from sim.formal.counterexample import counterexample_script, explain
from sim.formal.proofs import Proof, Property, catalogue
from sim.formal.sby import FOLDER, SbyResult
from sim.formal.sby import run as run_sby
from sim.formal.script import Script, ScriptError, Task, check_assumptions, write_script
from sim.shared import process
from sim.shared.cli import Parser, run
from sim.shared.errors import UsageError
from sim.shared.junit import Case, Suite
from sim.shared.outcome import Outcome
from sim.shared.part import add_part_options
from sim.shared.patch import PatchError
from sim.shared.paths import shown
from sim.shared.results import ResultFiles, print_verdict
from sim.shared.table import format_table


@dataclass(frozen=True)
class Checked:
    """One property with the runs that it rests on.

    ``mutant`` is None when not asked for, ``search`` (for a counterexample in the design) where the
    proof went through.
    """

    proof: Proof
    claim: Property
    proved: SbyResult
    covers: SbyResult
    mutant: SbyResult | None
    search: SbyResult | None = None

    @property
    def verdict(self) -> str:
        """``proved``, or in capitals why not."""
        if self.proved.status != "PASS":
            refuted = self.search is not None and self.claim.name in self.search.failed
            return "REFUTED" if refuted else self.proved.status
        if self.claim.name not in self.proved.asserted:
            return "NOT ASSERTED"
        return assumption_flaw(self.proof, self.proved) or cover_flaw(self.proof, self.covers)

    @property
    def noticed(self) -> bool:
        """The mutant has a counterexample that violates this very property."""
        return self.mutant is None or (
            self.mutant.status == "FAIL" and self.claim.name in self.mutant.failed
        )

    @property
    def passed(self) -> bool:
        """Proved on the design, refuted on the mutant."""
        return self.verdict == "proved" and self.noticed

    @property
    def mutant_verdict(self) -> str:
        """What the mutant showed."""
        if self.mutant is None:
            return "-"
        if self.noticed:
            return f"fails ({self.mutant.seconds:.1f} s)"
        return f"NOT NOTICED ({self.mutant.status})"

    @property
    def log(self) -> str:
        """Log of the run that is to blame."""
        if self.proved.status != "PASS" or self.mutant is None or self.noticed:
            failed_cover = self.proved.status == "PASS" and self.covers.status != "PASS"
            return self.covers.log if failed_cover else self.proved.log
        return self.mutant.log


def assumption_flaw(proof: Proof, proved: SbyResult) -> str:
    """Say what a proof assumes beyond what it declares, or the reverse; empty if nothing."""
    if hidden := sorted(set(proved.assumed) - set(proof.assumes)):
        return f"ASSUMES {', '.join(hidden)}, NOT DECLARED"
    if idle := sorted(set(proof.assumes) - set(proved.assumed)):
        return f"DOES NOT ASSUME {', '.join(idle)}"
    return ""


def cover_flaw(proof: Proof, covers: SbyResult) -> str:
    """Say why the covers fail: with one out of reach the proof may be empty. Else ``proved``."""
    if covers.status not in ("PASS", "FAIL"):
        return f"COVERS: {covers.status}"
    if missing := sorted(set(proof.covers) - set(covers.covered)):
        return f"VACUOUS: {', '.join(missing)} UNREACHABLE"
    if covers.status != "PASS" or set(covers.covered) != set(proof.covers):
        return "COVERS THAT proofs.yaml LACKS"
    return "proved"


def check(
    proofs: list[Proof], design: Design, mutants: bool, jobs: int, console: Console
) -> list[Checked]:
    """Run proofs, covers and mutants, ``jobs`` at a time; return a line a property.

    Raises:
        ScriptError, PatchError: before anything runs, when one cannot be run.
    """
    check_assumptions(design)
    scripts: dict[tuple[str, ...], tuple[Script, float]] = {}
    # The long ones are proofs; covers and mutants fill the gaps.
    for task in (Task.PROVE, Task.COVER):
        for proof in proofs:
            script = write_script(proof, task, design)
            scripts[task.value, proof.name] = script, proof.limit
    for proof in proofs if mutants else ():
        for claim in proof.properties:
            script = write_script(proof, Task.SEARCH, design, claim)
            scripts[Task.SEARCH.value, proof.name, claim.name] = script, proof.limit
    results = run_all(scripts, jobs, console)
    again: dict[tuple[str, ...], tuple[Script, float]] = {
        ("again", proof.name, claim.name): (
            counterexample_script(proof, claim, design),
            proof.limit,
        )
        for proof in proofs
        for claim in proof.properties
        if results[Task.PROVE.value, proof.name].status in ("FAIL", "UNKNOWN")
    }
    results |= run_all(again, jobs, console)
    return [
        Checked(
            proof,
            claim,
            results[Task.PROVE.value, proof.name],
            results[Task.COVER.value, proof.name],
            results.get((Task.SEARCH.value, proof.name, claim.name)),
            results.get(("again", proof.name, claim.name)),
        )
        for proof in proofs
        for claim in proof.properties
    ]


def run_all(
    scripts: dict[tuple[str, ...], tuple[Script, float]], jobs: int, console: Console
) -> dict[tuple[str, ...], SbyResult]:
    """Run scripts, each with its limit in seconds; Ctrl-C ends all of them at once."""
    pool = ThreadPoolExecutor(jobs)
    waiting: dict[tuple[str, ...], Future[SbyResult]] = {}
    try:
        with console.status("") as status:
            for key, (script, limit) in scripts.items():
                waiting[key] = pool.submit(run_sby, script, limit)
            while not all(future.done() for future in waiting.values()):
                done = sum(future.done() for future in waiting.values())
                status.update(f"{done} of {len(waiting)} runs of sby")
                time.sleep(0.1)
        return {key: future.result() for key, future in waiting.items()}
    except KeyboardInterrupt:
        # A second Ctrl-C must not cut the cleaning up short.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise
    finally:
        if not all(future.done() for future in waiting.values()):
            pool.shutdown(wait=False, cancel_futures=True)
            process.stop()
        pool.shutdown()


def properties_table(rows: list[Checked]) -> str:
    """Return the table of properties."""
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


def assumptions_table(proofs: list[Proof]) -> str:
    """Return the table of everything that these proofs take for granted."""
    rows = [["assumption", "says", "in the proofs of"]]
    for name, says in catalogue().assumptions.items():
        users = [proof.name for proof in proofs if name in proof.assumes]
        if users:
            rows.append([name, says, ", ".join(users)])
    return format_table(rows, "<<<")


def chosen(names: str | None) -> list[Proof]:
    """Return the proofs of the given modules (blank-separated), all of them for None.

    Raises:
        UsageError: there is no such module, or none is given.
    """
    proofs = list(catalogue().proofs)
    if names is None:
        return proofs
    known = {proof.module.removeprefix("ga2_") for proof in proofs}
    wanted = {name.removeprefix("ga2_") for name in names.split()}
    if not wanted or wanted - known:
        raise UsageError(f"MODULES={names}: choose among {' '.join(sorted(known))}")
    return [proof for proof in proofs if proof.module.removeprefix("ga2_") in wanted]


def main() -> int:
    """Prove, refute the mutants, print the tables; return 0 only if all is as it should be."""
    parser = Parser(prog="formal", description=__doc__)
    parser.add_argument("--modules", help="only these modules, e.g. 'divider load'")
    add_design_option(parser)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument(
        "--mutants", action=argparse.BooleanOptionalAction, default=True, help="try the mutants"
    )
    add_part_options(parser, "the proofs")
    args = parser.parse_args()
    check_int("jobs", args.jobs, 1)
    design: Design = args.design
    proofs = args.part.dealt(chosen(args.modules))
    with design_files("formal", design, args.out and args.out.resolve()) as files:
        return prove(proofs, design, args, files)


def prove(proofs: list[Proof], design: Design, args: argparse.Namespace, files: ResultFiles) -> int:
    """Do it all; return the exit code."""
    console = Console(highlight=False)
    begin = time.monotonic()
    try:
        rows = check(proofs, design, args.mutants, args.jobs, console)
    except PatchError as error:
        raise UsageError(f"{error}: adapt hw/formal/proofs.yaml to the RTL") from None
    except ScriptError as error:
        raise UsageError(str(error)) from None
    print(properties_table(rows), assumptions_table(proofs), sep="\n\n", end="\n\n")
    for row in rows:
        if not row.passed:
            what = row.verdict if row.verdict != "proved" else row.mutant_verdict
            again = f"make formal MODULES={row.proof.module.removeprefix('ga2_')}"
            again += "" if design.is_own else f" RTL={design.path}"
            more = explain(row.proof, row.claim, design) if row.search else ""
            more = more or "\n".join(row.log.splitlines()[-12:])
            text = f"{row.proof.module}: {row.claim.name}: {what}; again: {again}\n{more}"
            print_verdict(console, False, text)
    covers = sum(len(proof.covers) for proof in proofs)
    return files.finish(
        console,
        bool(rows) and all(row.passed for row in rows),
        f"{len(rows)} properties and {covers} covers of {design}, {time.monotonic() - begin:.1f} s;"
        f" times of known verdicts are those of the run that found them ({shown(FOLDER)})",
        {"properties": [*map(_figures, rows)]},
        [Suite("formal", [*map(_case, rows)])],
    )


def _figures(row: Checked) -> dict[str, Any]:
    return {
        "property": row.claim.name,
        "module": row.proof.module,
        "engine": row.proved.engine,
        "bound": row.proved.bound,
        "seconds": row.proved.seconds,
        "verdict": row.verdict,
        "mutant": row.mutant_verdict,
        "assumes": list(row.proved.assumed),
        "covers": list(row.covers.covered),
    }


def _case(row: Checked) -> Case:
    detail = f"{row.verdict}; on its mutant: {row.mutant_verdict}"
    name = f"{row.proof.name}.{row.claim.name}"
    return Case(name, Outcome.of(row.passed), detail, row.proved.seconds)


if __name__ == "__main__":
    run("formal", main)
