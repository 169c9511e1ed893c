"""``python -m sim.mutate.model``: mutate the reference model, run its tests, say what survives."""

from __future__ import annotations

import argparse
import json
import random
import signal
import time

from rich.console import Console

from sim.mutate.model.generate import Mutant, generate
from sim.mutate.model.run import MutationError, Runner, Verdict
from sim.mutate.model.score import Score, show
from sim.mutate.model.store import Outcome, Store, key_of
from sim.mutate.model.survivors import load_reasons, stale
from sim.mutate.model.targets import TARGETS, Target
from sim.mutate.rtl.progress import StageProgress
from sim.mutate.rtl.runner import processors
from sim.mutate.rtl.store import digest_files
from sim.shared.cli import Parser, integer, run
from sim.shared.errors import UsageError
from sim.shared.paths import BUILD, RESULTS, ROOT, shown
from sim.shared.results import print_verdict

STATE = BUILD / "mutate-model" / "state.jsonl"
OUT = RESULTS / "mutate-model.json"
SAMPLE = 100


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = Parser(prog="mutate-model", description="Judge mutants of the model by its tests.")
    names = [target.name for target in TARGETS]
    parser.add_argument(
        "--modules",
        default=" ".join(names),
        help=f"some of {', '.join(names)}, blank-separated",
    )
    parser.add_argument(
        "--sample",
        type=integer,
        default=SAMPLE,
        help="mutants of each module where a survivor may go unexplained; 0: all",
    )
    parser.add_argument("--seed", type=integer, default=1, help="of the sample")
    parser.add_argument("--fresh", action="store_true", help="forget what earlier runs found")
    parser.add_argument("--jobs", type=integer, default=processors(), help="processes")
    options = parser.parse_args(arguments)
    options.modules = options.modules.split()
    if not options.modules:
        parser.error(f"MODULES is empty: give some of {', '.join(names)}")
    for name in options.modules:
        if name not in names:
            parser.error(f"MODULES={name}: no such module; give some of {', '.join(names)}")
    return options


def judge(
    target: Target, options: argparse.Namespace, store: Store, progress: StageProgress
) -> Score:
    """Run a module's mutants, or a sample of them, as far as the store does not know them."""
    begin = time.monotonic()
    source = (ROOT / "model" / f"{target.module.replace('.', '/')}.py").read_text()
    mutants = generate(target.module, source)
    reasons = load_reasons()
    score = Score(target, len(mutants), reasons.get(target.module, {}))
    whole = target.strict or options.sample == 0
    chosen = list(mutants)
    if not whole:
        random.Random(options.seed).shuffle(chosen)
        del chosen[options.sample :]
    runner = Runner(ROOT, target.tests)
    context = digest_files(runner.baseline(target.module, source))
    keys = {mutant: key_of(context, mutant) for mutant in chosen}
    known = {mutant: store.outcomes[key] for mutant, key in keys.items() if key in store.outcomes}
    runner.kills.update(outcome.test for outcome in known.values())
    with progress.stage(target.module, len(chosen)) as stage:

        def done(mutant: Mutant, verdict: Verdict, test: str) -> None:
            score.verdicts.append((mutant, verdict))
            stage.advance(verdict)

        def decided(mutant: Mutant, verdict: Verdict, test: str) -> None:
            store.add(Outcome(keys[mutant], f"{mutant.where}: {mutant.key}", verdict, test))
            done(mutant, verdict, test)

        for mutant, outcome in known.items():
            done(mutant, outcome.verdict, outcome.test)
        runner.run([mutant for mutant in chosen if mutant not in known], options.jobs, decided)
    score.verdicts.sort(key=lambda pair: pair[0].line)
    score.stale = stale(target.module, reasons, mutants, score.survivors() if whole else None)
    score.seconds = time.monotonic() - begin
    return score


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit code: 0 nothing unexplained where all were run."""
    options = parse(arguments)
    if options.sample < 0 or options.jobs < 1:
        raise UsageError("--sample must be 0 or more, --jobs 1 or more")
    console = Console()
    store = Store(STATE)
    if options.fresh:
        store.path.unlink(missing_ok=True)
    store.load()
    progress = StageProgress(console)
    targets = [target for target in TARGETS if target.name in options.modules]
    try:
        scores = [judge(target, options, store, progress) for target in targets]
    except MutationError as error:
        raise UsageError(str(error)) from None
    show(console, scores)
    passed = all(score.ok for score in scores)
    OUT.parent.mkdir(parents=True, exist_ok=True)
    data = {"passed": passed, "seed": options.seed, "modules": [s.to_json() for s in scores]}
    OUT.write_text(json.dumps(data, indent=1))
    ran = sum(len(score.verdicts) for score in scores)
    alive = sum(len(score.unexplained()) for score in scores)
    print_verdict(console, passed, f"{ran:,} mutants, {alive} survive unexplained; {shown(OUT)}")
    return 0 if passed else 1


if __name__ == "__main__":
    # However it is told to stop, it ends the processes that it started.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    run("mutate-model", main)
