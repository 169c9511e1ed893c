"""What other tools open of a decode run: its counters as CSV, its longest step as a trace."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from model.chip.machine import Machine
from sim.decode.job import COUNTERS, WindowOutcome
from sim.decode.options import window_name
from sim.programs.trace import SUFFIX, trace_events, write_trace

CSV_COLUMNS = ("window", "step", "ctx", *COUNTERS, "fetch_issue", "pages", "passed")


def write_csv(path: Path, outcomes: Mapping[int | None, WindowOutcome]) -> None:
    """Write one row a step and window; the counters are the RTL's, in cycles.

    ``fetch_issue`` is what no unit was busy in; ``pages`` are in use when the step starts. A
    counter that is not known is left empty.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(CSV_COLUMNS)
        for window, outcome in outcomes.items():
            for step, result in zip(outcome.run.steps, outcome.results, strict=False):
                counts = [result.counters.get(name) for name in COUNTERS]
                total, *busy, _ = (count or 0 for count in counts)
                rest = total - sum(busy) if None not in counts else None
                head = (window_name(window), step.step, step.ctx)
                writer.writerow((*head, *counts, rest, step.pages_in_use, int(result.passed)))


def write_longest_trace(
    folder: Path, sim: str, outcomes: Mapping[int | None, WindowOutcome], design: Mapping[str, Any]
) -> Path | None:
    """Write the trace of the step that took most cycles, of those that passed; None without any.

    ``design`` is the stamp of the design that was played.
    The RTL's retire records were compared with the model's, so that the model's are the trace of
    the RTL wherever a step passed.
    """
    passed = [
        (result.counters["total"], window, step)
        for window, outcome in outcomes.items()
        for step, result in zip(outcome.run.steps, outcome.results, strict=False)
        if result.passed and "total" in result.counters
    ]
    if not passed:
        return None
    _, window, step = max(passed, key=lambda item: item[0])
    params = outcomes[window].run.params
    run = Machine(params.depth).run(step.program, step.image, params.latency)
    records = [(r.pc, r.op, int(r.fault), r.busy) for r in run.retires]
    path = folder / f"decode-{sim}{SUFFIX}"
    name = f"decode step {step.step}, window {window_name(window)}"
    events = trace_events(step.program, records)
    counters = vars(run.counters)
    about = {"design": design, "program": name, "simulator": sim, "latency": params.latency}
    write_trace(path, events, **about, counters=counters)
    return path
