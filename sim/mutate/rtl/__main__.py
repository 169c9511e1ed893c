"""``python -m sim.mutate.rtl``: run the campaign, write the report, say what is open."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from rich.console import Console

from sim.engine.builds import BuildError
from sim.mutate.rtl.campaign import Campaign
from sim.mutate.rtl.plan import Plan, every, make_plan, sample
from sim.mutate.rtl.progress import StageProgress
from sim.mutate.rtl.report import summarize, write_reports
from sim.mutate.rtl.runner import CampaignError, processors
from sim.mutate.rtl.source import SourceError
from sim.mutate.rtl.store import Store
from sim.mutate.rtl.verify import verify_sample
from sim.shared.cli import Parser, integer, run
from sim.shared.errors import UsageError
from sim.shared.patch import PatchError
from sim.shared.paths import BUILD, RTL

FOLDER = BUILD / "mutate"


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = Parser(prog="mutate", description="Judge seeded faults of the RTL by the tests.")
    parser.add_argument("--rtl", type=Path, default=RTL, help="folder of the design")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="for state and reports")
    parser.add_argument("--sample", type=integer, default=0, help="mutants of each kind; 0: all")
    parser.add_argument("--fresh", action="store_true", help="forget what earlier runs found")
    parser.add_argument("--no-proofs", action="store_true", help="simulate only")
    parser.add_argument("--jobs", type=integer, default=processors(), help="processes")
    parser.add_argument("--verify", type=integer, default=0, metavar="N",
                        help="check the verdicts of N mutants by builds of their own")  # fmt: skip
    parser.add_argument("--list", action="store_true", help="list the mutants and stop")
    parser.add_argument("--quiet", action="store_true", help="print the result only")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit code: 0 nothing is open, 1 something is."""
    options = parse(arguments)
    options.folder = options.folder.resolve()
    console = Console()
    if options.sample < 0 or options.jobs < 1 or options.verify < 0:
        raise UsageError("--sample and --verify must be 0 or more, --jobs 1 or more")
    try:
        plan = make_plan(options.rtl, sample(options.sample) if options.sample else every)
        if options.list:
            for mutant in plan.mutants.values():
                console.print(f"{mutant.where}  {mutant.kind}  {mutant.description}", markup=False)
            return 0
        return judge(plan, options, console)
    except (SourceError, PatchError, CampaignError, BuildError) as error:
        raise UsageError(str(error)) from None


def judge(plan: Plan, options: argparse.Namespace, console: Console) -> int:
    """Run the campaign of a plan and report."""
    store = Store(options.folder / "state.jsonl", plan.context)
    if options.fresh:
        store.path.unlink(missing_ok=True)
    store.load()
    began = time.monotonic()
    progress = StageProgress(console, options.quiet)
    campaign = Campaign(plan, store, options.folder, options.jobs, progress)
    campaign.run(proofs=not options.no_proofs)
    if options.verify:
        return verify_sample(plan, store, options.verify, options.jobs, console, progress)
    summary = summarize(plan, store, campaign.times, time.monotonic() - began)
    for path in write_reports(summary, options.folder):
        console.print(f"report: {path}", highlight=False)
    for line in summary.lines():
        console.print(line, highlight=False, markup=False)
    return 1 if summary.undecided else 0


if __name__ == "__main__":
    run("mutate", main)
