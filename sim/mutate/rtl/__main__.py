"""``python -m sim.mutate.rtl``: run the campaign, write the report, say what is open."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from rich.console import Console

from model.errors import check_int
from sim.engine.design import design_option, own_design, show_report
from sim.mutate.common.options import add_campaign_options, check_campaign_options
from sim.mutate.common.stages import StageProgress
from sim.mutate.common.store import Store
from sim.mutate.rtl.campaign import Campaign
from sim.mutate.rtl.plan import Plan, every, make_plan, sample
from sim.mutate.rtl.report import summarize
from sim.mutate.rtl.verify import print_verification, verify_sample
from sim.shared.cli import Parser, integer, run
from sim.shared.files import write_json
from sim.shared.paths import shown


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = Parser(prog="mutate", description="Judge seeded faults of the RTL by the tests.")
    parser.add_argument("--rtl", type=design_option, help="folder of the design, with ga2.f")
    parser.add_argument("--folder", type=Path, help="for state and reports")
    add_campaign_options(parser, 0, "mutants of each kind")
    parser.add_argument("--verify", type=integer, default=0, metavar="N",
                        help="check the verdicts of N mutants by builds of their own")  # fmt: skip
    parser.add_argument("--list", action="store_true", help="list the mutants and stop")
    parser.add_argument("--quiet", action="store_true", help="print the result only")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit code: 0 nothing is open, 1 something is."""
    options = parse(arguments)
    check_campaign_options(options)
    check_int("verify", options.verify, 0)
    design = options.rtl or own_design()
    options.folder = (options.folder or design.output("mutate")).resolve()
    console = Console()
    plan = make_plan(design, sample(options.sample) if options.sample else every)
    for text in plan.unfit:
        console.print(f"left out: {text}", highlight=False, markup=False, soft_wrap=True)
    if options.list:
        for mutant in plan.mutants.values():
            console.print(f"{mutant.where}  {mutant.kind}  {mutant.description}", markup=False)
        return 0
    return judge(plan, options, console)


def judge(plan: Plan, options: argparse.Namespace, console: Console) -> int:
    """Run the campaign of a plan and report."""
    store = Store(options.folder / "state.jsonl", plan.basis.of)
    store.load(options.fresh)
    began = time.monotonic()
    progress = StageProgress(console, options.quiet)
    campaign = Campaign(plan, store, options.folder, options.jobs, progress)
    campaign.run()
    if options.verify:
        rows = verify_sample(plan, store, options.verify, options.jobs, progress)
        data = options.folder / "verify.json"
        write_json(data, {"design": plan.design.to_json(), "verdicts": rows})
        return print_verification(console, rows)
    summary = summarize(plan, store, campaign.times, time.monotonic() - began)
    data = options.folder / "report.json"
    write_json(data, summary.as_json())
    text = f"data: {shown(data)}; {show_report(plan.design)} shows it"
    console.print(text, highlight=False, markup=False, soft_wrap=True)
    if not plan.design.is_own:
        console.print(f"design: {plan.design}", highlight=False, markup=False, soft_wrap=True)
    for line in summary.lines():
        console.print(line, highlight=False, markup=False)
    return 1 if summary.undecided else 0


if __name__ == "__main__":
    run("mutate", main)
