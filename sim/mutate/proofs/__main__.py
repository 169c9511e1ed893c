"""``python -m sim.mutate.proofs``: the RTL's mutants against the proofs; says which none sees."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console

from sim.engine.design import add_design_option, design_files, print_design
from sim.formal.script import ScriptError, check_assumptions
from sim.mutate.common.finding import PROVEN
from sim.mutate.common.options import add_campaign_options, check_campaign_options
from sim.mutate.common.stages import StageProgress
from sim.mutate.common.store import Store
from sim.mutate.proofs.campaign import Campaign
from sim.mutate.proofs.report import FormalSummary, cases, summarize
from sim.mutate.proofs.scope import Scopes
from sim.mutate.rtl.mutant import Mutant
from sim.mutate.rtl.plan import Plan, make_plan, sample
from sim.shared.cli import Parser, run
from sim.shared.errors import UsageError
from sim.shared.junit import Suite
from sim.shared.part import Part, add_part_options
from sim.shared.results import ResultFiles

NAME = "formal"


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = Parser(prog="mutate", description=__doc__)
    add_design_option(parser)
    parser.add_argument("--folder", type=Path, help="for state and reports")
    add_campaign_options(parser, 0, "mutants of each kind")
    add_part_options(parser, "the mutants")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit code: 0 if a proof refutes every mutant, else 1."""
    options = parse(arguments)
    check_campaign_options(options)
    design = options.design
    options.folder = (options.folder or design.output("mutate")).resolve()
    console = Console()
    try:
        check_assumptions(design)
        plan = make_plan(design, chosen(options.sample, options.part))
        files = {plan.keys[number]: mutant.file for number, mutant in plan.mutants.items()}
        scopes = Scopes(design, files)
    except ScriptError as error:
        raise UsageError(str(error)) from None
    print_design(console, design)
    out = options.out.resolve() if options.out else options.folder
    with design_files(NAME, design, out) as results:
        return judge(plan, scopes, options, console, results)


def judge(
    plan: Plan, scopes: Scopes, options: argparse.Namespace, console: Console, files: ResultFiles
) -> int:
    """Run the campaign of a plan and report."""
    store = open_store(options.folder, options.part, scopes)
    if options.fresh:
        store.forget(plan.keys.values())
    simulated = Store(options.folder / "state.jsonl", plan.basis.of)
    simulated.load()
    numbers = [n for n, key in plan.keys.items() if not _equivalent(simulated, key)]
    campaign = Campaign(plan, scopes, store, numbers, options.jobs, StageProgress(console))
    try:
        campaign.run()
    except KeyboardInterrupt:
        _finish(files, summarize(plan, scopes, store, simulated, campaign.times), console)
        raise
    summary = summarize(plan, scopes, store, simulated, campaign.times)
    return _finish(files, summary, console)


def chosen(per_kind: int, part: Part) -> Callable[[Sequence[Mutant]], Sequence[Mutant]]:
    """Return a choice of mutants: those of a sample (0: all) that are a part's."""

    def choose(mutants: Sequence[Mutant]) -> Sequence[Mutant]:
        picked = sample(per_kind)(mutants) if per_kind else mutants
        # Those of one file share models.
        return part.stretch(sorted(picked, key=lambda mutant: mutant.file))

    return choose


def open_store(folder: Path, part: Part, scopes: Scopes) -> Store:
    """Return what is known, whichever part found it out; a part appends to a file of its own.

    On file systems of a network two writers of one file would overwrite each other.
    """
    own = f"-{part.number}-of-{part.of}" if part.of > 1 else ""
    store = Store(folder / f"{NAME}{own}.jsonl", scopes.basis)
    store.load(*sorted(folder.glob(f"{NAME}*.jsonl")))
    return store


def _finish(files: ResultFiles, summary: FormalSummary, console: Console) -> int:
    first, *others = summary.lines()
    for line in others:
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    suite = Suite(NAME, cases(summary.rows))
    return files.finish(console, not summary.left, first, summary.as_json(), [suite])


def _equivalent(simulated: Store, key: str) -> bool:
    found = simulated.findings.get(key)
    return found is not None and found.status == PROVEN


if __name__ == "__main__":
    run("mutate", main)
