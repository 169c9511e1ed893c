"""The programs of a served run as a job for the simulator, and what came of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from model.serving.records import Run
from model.serving.solo import solo
from verif.items.job import Job
from verif.items.program_item import ProgramItem
from verif.items.result import ProgramResult

COUNTERS = ("total", "mm", "dma", "vec", "n_inst")


def serving_job(run: Run, params: dict[str, Any] | None = None) -> Job:
    """Make one item of every program; all but the first inherit both memories."""
    items = []
    for step in run.steps:
        before: dict[str, Any] = {"image": step.image}
        if step.image is None:
            before = {"inherits": True}
        segments = ", ".join(f"{s.rid}@{s.first}+{len(s.tokens)}" for s in step.segments)
        items.append(
            ProgramItem(
                name=step.name,
                program=list(step.program),
                latency=run.options.latency,
                depth=run.depth,
                provenance=f"{step.name}: {segments}" if segments else step.name,
                **before,
            )
        )
    return Job("items", params or {}, items)


@dataclass(frozen=True)
class Served:
    """A run with what the simulator said about its programs.

    Attributes:
        run: the engine's account.
        results: one for each program that was played, in order; fewer when the simulation died.
    """

    run: Run
    results: Sequence[ProgramResult]

    @property
    def matched(self) -> bool:
        """Every program was played, compared and matched."""
        return len(self.results) == len(self.run.steps) > 0 and all(r.passed for r in self.results)

    @property
    def cycles(self) -> int:
        """Cycles that the RTL took for all programs."""
        return sum(result.counters.get("total", 0) for result in self.results)

    @cached_property
    def unlike_alone(self) -> dict[str, str]:
        """Requests whose tokens or logits are not those of decoding them alone, and how."""
        found = {}
        for request in self.run.requests:
            want = solo(request, self.run.options)
            if self.run.tokens[request.rid] != want.tokens:
                found[request.rid] = f"tokens {self.run.tokens[request.rid]}, alone {want.tokens}"
            elif self.run.logits[request.rid].tolist() != want.logits.tolist():
                found[request.rid] = "other logits than alone"
        return found
