"""``python -m sim.mutate.rtl``: run the campaign, write the report, say what is open."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from rich.console import Console

from model.errors import check_int
from sim.engine.design import add_design_option, design_files, print_design, show_report
from sim.mutate.common.options import add_campaign_options, check_campaign_options
from sim.mutate.common.stages import StageProgress
from sim.mutate.common.store import Store
from sim.mutate.rtl.campaign import Campaign
from sim.mutate.rtl.plan import Plan, every, make_plan, sample
from sim.mutate.rtl.report import cases, summarize
from sim.mutate.rtl.verify import print_verification, verify_sample
from sim.shared.cli import Parser, integer, run
from sim.shared.files import write_json
from sim.shared.junit import Suite
from sim.shared.paths import shown
from sim.shared.results import ResultFiles

NAME = "report"


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = Parser(prog="mutate", description="Judge seeded faults of the RTL by the tests.")
    add_design_option(parser)
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
    design = options.design
    options.folder = (options.folder or design.output("mutate")).resolve()
    console = Console()
    plan = make_plan(design, sample(options.sample) if options.sample else every)
    for text in plan.unfit:
        console.print(f"left out: {text}", highlight=False, markup=False, soft_wrap=True)
    if options.list:
        for mutant in plan.mutants.values():
            console.print(f"{mutant.where}  {mutant.kind}  {mutant.description}", markup=False)
        return 0
    print_design(console, design)
    with design_files(NAME, design, options.folder) as files:
        return judge(plan, options, console, files)


def judge(plan: Plan, options: argparse.Namespace, console: Console, files: ResultFiles) -> int:
    """Run the campaign of a plan and report."""
    store = Store(options.folder / "state.jsonl", plan.basis.of)
    store.load()
    if options.fresh:
        store.forget(plan.keys.values())
    began = time.monotonic()
    progress = StageProgress(console, options.quiet)
    campaign = Campaign(plan, store, options.folder, options.jobs, progress)
    campaign.run()
    agree = True
    if options.verify:
        rows = verify_sample(plan, store, options.verify, options.jobs, progress)
        data = options.folder / "verify.json"
        write_json(data, {"design": plan.design.to_json(), "verdicts": rows})
        agree = print_verification(console, rows) == 0
    summary = summarize(plan, store, campaign.times, time.monotonic() - began)
    data = shown(files.path(".json"))
    text = f"data: {data}; {show_report(plan.design)} shows it"
    console.print(text, highlight=False, markup=False, soft_wrap=True)
    first, *others = summary.lines()
    for line in others:
        console.print(line, highlight=False, markup=False)
    passed = not summary.undecided and agree
    return files.finish(
        console, passed, first, summary.as_json(), [Suite(NAME, cases(summary.rows))]
    )


if __name__ == "__main__":
    run("mutate", main)
