"""``python -m sim.mutate.model``: mutate the reference model, run its tests, say what survives."""

from __future__ import annotations

import argparse
import random
import signal
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

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
from sim.shared.files import digest
from sim.shared.junit import Case, Suite
from sim.shared.outcome import Outcome as Ended
from sim.shared.paths import BUILD, RESULTS, ROOT
from sim.shared.results import ResultFiles

STATE = BUILD / "mutate-model" / "state.jsonl"
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
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the result files")
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
    if options.fresh:
        store.forget(keys.values())
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
    store.load()
    progress = StageProgress(console)
    head = {"seed": options.seed, "model": {"path": "model", "hash": model_hash()}}
    with ResultFiles("mutate-model", options.results, **head) as files:
        modules = [judge(target, options, store, progress) for target in options.modules]
        show(console, modules)
        ran = sum(len(module.rows) for module in modules)
        alive = sum(len(module.unexplained) for module in modules)
        return files.finish(
            console,
            all(module.ok for module in modules),
            f"{ran:,} mutants, {alive} survive unexplained",
            {"modules": [module.as_json() for module in modules]},
            [Suite("mutate-model", [*map(case, modules)])],
        )


def model_hash() -> str:
    """Return what names the model that a result is about: a digest of all its sources."""
    files = sorted((ROOT / "model").rglob("*.py"))
    return digest(*(part for path in files for part in (str(path.relative_to(ROOT)), path)))


def case(module: ModuleReport) -> Case:
    """Return the test case of a module: what survives where nothing may, and untrue reasons."""
    wrong = [f"{row.file}:{row.line}: {row.description}" for row in module.unexplained]
    detail = "\n".join([*wrong, *module.stale]) or "no mutant was run"
    return Case(module.target.name, Ended.of(module.ok), detail, module.seconds)


if __name__ == "__main__":
    # However it is told to stop, it ends the processes that it started.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    run("mutate-model", main)
