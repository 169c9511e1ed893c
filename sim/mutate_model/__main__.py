"""Mutates the reference model against its own tests: ``python -m sim.mutate_model``."""

from __future__ import annotations

import argparse
import json
import os
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sim.mutate_model.generate import Mutant, generate
from sim.mutate_model.run import MutationError, Runner, Verdict
from sim.mutate_model.survivors import load_reasons, stale
from sim.mutate_model.targets import TARGETS, Target

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "build" / "results" / "mutate-model.json"
SAMPLE = 40


@dataclass
class Score:
    """What came of one module.

    Attributes:
        generated: mutants there are.
        verdicts: of those that were run, with the mutant.
        reasons: of survivors that are equivalent, by key.
        stale: reasons that are not true any more.
        seconds: it took, generation included.
    """

    target: Target
    generated: int
    verdicts: list[tuple[Mutant, Verdict]] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)
    stale: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def survivors(self) -> list[Mutant]:
        """Mutants that passed all tests, equivalent ones included."""
        return [mutant for mutant, verdict in self.verdicts if verdict == "survived"]

    def unexplained(self) -> list[Mutant]:
        """Survivors without a reason."""
        return [mutant for mutant in self.survivors() if mutant.key not in self.reasons]

    @property
    def ok(self) -> bool:
        """Nothing survives where nothing may, and every reason holds."""
        return (
            not self.stale
            and bool(self.verdicts)
            and not (self.target.strict and self.unexplained())
        )

    @property
    def score(self) -> float:
        """Share of killed ones among those that can be killed, as far as is known."""
        killed = len(self.verdicts) - len(self.survivors())
        return killed / max(1, killed + len(self.unexplained()))

    def to_json(self) -> dict[str, Any]:
        """The module as data."""
        counts = Counter(verdict for _, verdict in self.verdicts)
        return {
            "module": self.target.module,
            "strict": self.target.strict,
            "tests": list(self.target.tests),
            "generated": self.generated,
            "run": len(self.verdicts),
            **{name: counts[name] for name in ("killed", "timeout", "survived")},
            "equivalent": len(self.survivors()) - len(self.unexplained()),
            "score": self.score,
            "seconds": self.seconds,
            "stale_reasons": self.stale,
            "survivors": [
                {
                    "line": mutant.line,
                    "mutant": mutant.key,
                    "operator": mutant.operator,
                    "reason": self.reasons.get(mutant.key, ""),
                }
                for mutant in self.survivors()
            ],
        }


def judge(target: Target, sample: int, seed: int, jobs: int, console: Console) -> Score:
    """Generate a module's mutants and run them, or a sample of them."""
    begin = time.monotonic()
    source = (ROOT / "model" / f"{target.module}.py").read_text()
    mutants = generate(target.module, source)
    reasons = load_reasons()
    score = Score(target, len(mutants), reasons=reasons.get(target.module, {}))
    whole = target.strict or sample == 0 or sample >= len(mutants)
    chosen = mutants if whole else random.Random(seed).sample(mutants, sample)
    runner = Runner(ROOT, target.tests)
    runner.baseline(target.module, source)
    with console.status(target.module) as status:

        def done(mutant: Mutant, verdict: Verdict) -> None:
            score.verdicts.append((mutant, verdict))
            if verdict == "survived" and mutant.key not in score.reasons:
                text = f"survives: model/{target.module}.py:{mutant.line}: {mutant.key}"
                console.print(escape(text), soft_wrap=True, highlight=False)
            alive = len(score.survivors())
            status.update(
                f"{target.module}: {len(score.verdicts)}/{len(chosen)} mutants, {alive} survive"
            )

        runner.run(chosen, jobs, done)
    score.verdicts.sort(key=lambda pair: pair[0].line)
    score.stale = stale(target.module, reasons, mutants, score.survivors() if whole else None)
    score.seconds = time.monotonic() - begin
    return score


def show(console: Console, scores: list[Score]) -> None:
    """Print scores, and reasons that do not hold."""
    table = Table(box=None, header_style="bold")
    for name in ("module", "mutants", "run", "killed", "equivalent", "open", "score", "s"):
        table.add_column(name, justify="left" if name == "module" else "right")
    for score in scores:
        survivors, unexplained = len(score.survivors()), len(score.unexplained())
        numbers = (score.generated, len(score.verdicts), len(score.verdicts) - survivors)
        numbers = (*numbers, survivors - unexplained, unexplained)  # type: ignore[assignment]
        figures = (*map(str, numbers), f"{score.score:.1%}", f"{score.seconds:.0f}")
        table.add_row(score.target.module, *figures)
    console.print(table)
    for score in scores:
        for text in score.stale:
            console.print(f"[red]{escape(text)}[/]", soft_wrap=True)


def main(arguments: list[str] | None = None) -> int:
    """Run it; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m sim.mutate_model", description=__doc__)
    names = [target.module for target in TARGETS]
    parser.add_argument("--modules", nargs="*", choices=names, default=names, metavar="MODULE")
    parser.add_argument(
        "--sample",
        type=int,
        default=SAMPLE,
        help=f"mutants of each module that need not be run completely; 0: all ({SAMPLE})",
    )
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args(arguments)
    console = Console()
    scores = []
    try:
        for target in TARGETS:
            if target.module in options.modules:
                scores.append(judge(target, options.sample, options.seed, options.jobs, console))
    except MutationError as error:
        console.print(f"[bold red]FAIL[/] {escape(str(error))}", soft_wrap=True)
        return 1
    show(console, scores)
    passed = bool(scores) and all(score.ok for score in scores)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    data = {"passed": passed, "seed": options.seed, "modules": [s.to_json() for s in scores]}
    options.out.write_text(json.dumps(data, indent=1))
    run = sum(len(score.verdicts) for score in scores)
    alive = sum(len(score.unexplained()) for score in scores)
    verdict = "[bold green]PASS[/]" if passed else "[bold red]FAIL[/]"
    console.print(f"{verdict}  {run:,} mutants run, {alive} survive unexplained; {options.out}")
    return 0 if passed else 1


if __name__ == "__main__":
    raise SystemExit(main())
