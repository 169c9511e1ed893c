"""``python -m sim.mutate.model``: mutate the reference model, run its tests, say what survives."""

from __future__ import annotations

import argparse
import random
import signal
import time
from collections.abc import Mapping
from dataclasses import replace

from rich.console import Console

from sim.mutate.common.dependencies import imported
from sim.mutate.common.finding import EXPLAINED, KILLED, SURVIVED, Finding
from sim.mutate.common.options import add_campaign_options, check_campaign_options
from sim.mutate.common.stages import StageProgress
from sim.mutate.common.store import Store
from sim.mutate.common.summary import Row
from sim.mutate.model.equivalents import load_reasons, stale
from sim.mutate.model.generate import Mutant, generate
from sim.mutate.model.report import ModuleReport, show
from sim.mutate.model.runner import Ending, Runner
from sim.mutate.model.targets import TARGETS, Target
from sim.shared.cli import Parser, integer, run
from sim.shared.errors import UsageError
from sim.shared.files import digest, write_json
from sim.shared.paths import BUILD, RESULTS, ROOT, shown
from sim.shared.results import print_verdict

STATE = BUILD / "mutate-model" / "state.jsonl"
OUT = RESULTS / "mutate-model.json"
SAMPLE = 100
JUDGING = "sim.mutate.model.runner"


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = Parser(prog="mutate-model", description="Judge mutants of the model by its tests.")
    names = " ".join(target.name for target in TARGETS)
    parser.add_argument("--modules", default=names, help=f"some of: {names}")
    add_campaign_options(
        parser, SAMPLE, "mutants of each module where a survivor may go unexplained"
    )
    parser.add_argument("--seed", type=integer, default=1, help="of the sample")
    options = parser.parse_args(arguments)
    options.modules = named_targets(options.modules)
    return options


def named_targets(text: str) -> list[Target]:
    """Return the targets of blank-separated names.

    Raises:
        UsageError: there is no name, or one that no target has.
    """
    names, known = text.split(), [target.name for target in TARGETS]
    wrong = [name for name in names if name not in known]
    if wrong or not names:
        what = f"{wrong[0]}: no such module" if wrong else "names no module"
        raise UsageError(f"MODULES={what}; give some of {' '.join(known)}")
    return [target for target in TARGETS if target.name in names]


def judge(
    target: Target, options: argparse.Namespace, store: Store, progress: StageProgress
) -> ModuleReport:
    """Run a module's mutants, or a sample of them, as far as the store does not know them."""
    begin = time.monotonic()
    source = (ROOT / "model" / f"{target.module.replace('.', '/')}.py").read_text()
    mutants = generate(target.module, source)
    whole = target.strict or options.sample == 0
    chosen = list(mutants)
    if not whole:
        random.Random(options.seed).shuffle(chosen)
        del chosen[options.sample :]
    runner = Runner(ROOT, target.tests)
    judging, packages = imported([JUDGING])
    context = digest(*runner.baseline(target.module, source), *judging, *packages)
    keys = {mutant: digest(context, mutant.module, mutant.text) for mutant in chosen}
    known = [key for key in keys.values() if key in store.findings]
    runner.kills.update(store.findings[key].test for key in known)
    with progress.stage(target.module, len(chosen)) as stage:
        for key in known:
            stage.advance(store.findings[key].status)

        def decided(mutant: Mutant, verdict: Ending, test: str) -> None:
            what = f"{mutant.where}: {mutant.key}"
            finding = Finding(keys[mutant], SURVIVED, "pytest", message=what)
            if verdict != "survived":
                finding = replace(finding, status=KILLED, checks=(verdict,), test=test)
            store.add(finding)
            stage.advance(finding.status)

        runner.run([m for m in chosen if keys[m] not in store.findings], options.jobs, decided)
    reasons = load_reasons()
    findings = {mutant: store.findings[keys[mutant]] for mutant in chosen}
    survived = [mutant.key for mutant, finding in findings.items() if finding.status == SURVIVED]
    report = ModuleReport(target, len(mutants))
    report.rows = rows(findings, reasons.get(target.module, {}))
    report.stale = stale(target.module, reasons, mutants, survived if whole else None)
    report.seconds = time.monotonic() - begin
    return report


def rows(findings: Mapping[Mutant, Finding], reasons: Mapping[str, str]) -> list[Row]:
    """Return what a report says of each mutant, by line; a survivor with a reason is explained."""
    found = []
    for number, mutant in enumerate(sorted(findings, key=lambda mutant: mutant.line), 1):
        finding = findings[mutant]
        if finding.status == SURVIVED and mutant.key in reasons:
            reason = (reasons[mutant.key],)
            finding = replace(finding, status=EXPLAINED, assumptions=reason)
        found.append(Row.of(number, mutant, finding))
    return found


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit code: 0 nothing unexplained where all were run."""
    options = parse(arguments)
    check_campaign_options(options)
    console = Console()
    store = Store(STATE)
    store.load(options.fresh)
    progress = StageProgress(console)
    modules = [judge(target, options, store, progress) for target in options.modules]
    show(console, modules)
    passed = all(module.ok for module in modules)
    data = {"passed": passed, "seed": options.seed, "modules": [m.as_json() for m in modules]}
    write_json(OUT, data)
    ran = sum(len(module.rows) for module in modules)
    alive = sum(len(module.unexplained) for module in modules)
    print_verdict(console, passed, f"{ran:,} mutants, {alive} survive unexplained; {shown(OUT)}")
    return 0 if passed else 1


if __name__ == "__main__":
    # However it is told to stop, it ends the processes that it started.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    run("mutate-model", main)
