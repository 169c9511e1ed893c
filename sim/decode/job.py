"""The decode workload as a job for the simulator, and its results put back together by window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from model.decode.tiny_lm import rule
from model.decode.workload import DecodeRun, run_decode
from model.trained.lm import KINDS as TRAINED
from model.trained.shape import decode
from sim.decode.options import DecodeOptions, window_name
from verif.items.job import Job
from verif.items.program_item import ProgramItem
from verif.items.result import ProgramResult

COUNTERS = ("total", "mm", "dma", "vec", "n_inst")

Runs = Mapping[int | None, DecodeRun]


@dataclass(frozen=True)
class WindowOutcome:
    """What the simulator said about one window.

    Attributes:
        run: the compiled workload, with the model's expectations.
        results: one for each step that was played, in order; fewer when the simulation died.
    """

    run: DecodeRun
    results: list[ProgramResult]

    @property
    def passed(self) -> bool:
        """Every step was played, compared and matched."""
        return len(self.results) == len(self.run.steps) and all(r.passed for r in self.results)

    @property
    def total_cycles(self) -> int:
        """Cycles that the RTL took for all steps."""
        return sum(result.counters.get("total", 0) for result in self.results)

    @property
    def tokens_by_rule(self) -> int | None:
        """How many of the tokens follow the rule of the structured model; None for others."""
        if self.run.params.model != "structured":
            return None
        tokens = self.run.tokens
        return sum(rule(a) == b for a, b in pairwise(tokens))

    @property
    def text(self) -> str | None:
        """What a trained model wrote, its start character first; None for others."""
        trained = self.run.params.model in TRAINED
        return decode(self.run.tokens) if trained else None

    def to_json(self) -> dict[str, Any]:
        """Figures for the result file; the counters are the RTL's."""
        steps = [
            {
                "ctx": step.ctx,
                **{name: result.counters.get(name) for name in COUNTERS},
                "pages": step.pages_in_use,
            }
            for step, result in zip(self.run.steps, self.results, strict=False)
        ]
        return {
            "programs": self.run.programs,
            "total_cycles": self.total_cycles,
            "peak_pages": self.run.peak_pages,
            "tokens": list(self.run.tokens),
            "text": self.text,
            "passed": self.passed,
            "steps": steps,
        }


def compile_runs(options: DecodeOptions) -> dict[int | None, DecodeRun]:
    """Compile every window and play it on the model.

    Raises:
        ModelError: what the model or the compiler cannot do with these parameters.
    """
    return {window: run_decode(params) for window, params in options.runs.items()}


def decode_job(runs: Runs, params: dict[str, Any] | None = None) -> Job:
    """Make one item of every step, window after window."""
    items = [
        ProgramItem(
            name=f"window {window_name(window)} step {step.step}",
            program=step.program,
            image=step.image,
            latency=run.params.latency,
            depth=run.params.depth,
            provenance=step.provenance,
        )
        for window, run in runs.items()
        for step in run.steps
    ]
    return Job("items", params or {}, items)


def by_window(runs: Runs, results: Sequence[ProgramResult]) -> dict[int | None, WindowOutcome]:
    """Hand the results, which come in the job's order, back to their windows."""
    by_name = {result.name: result for result in results}
    return {
        window: WindowOutcome(
            run,
            [
                by_name[name]
                for step in run.steps
                if (name := f"window {window_name(window)} step {step.step}") in by_name
            ],
        )
        for window, run in runs.items()
    }
