"""What a run comes to: cycles a token, times of each request, batch, pages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from model.decode.models import alphabet_of
from model.serving.records import Run
from model.serving.trace import to_json
from model.trained.shape import decode


def rank(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of the values does not exceed; 0 of none."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)] if values else 0.0


def request_times(run: Run) -> list[dict[str, Any]]:
    """Of each request: moments in cycles, time to its first token and for each further one."""
    rows = []
    for request in run.requests:
        log, count = run.events[request.rid], len(run.tokens[request.rid])
        assert log.arrived
        assert log.first_token
        assert log.ended
        further = log.ended[1] - log.first_token[1]
        rows.append(
            {
                "id": request.rid,
                "prompt": len(request.prompt),
                "tokens": count,
                "arrived": log.arrived[1],
                "admitted": [cycle for _, cycle in log.admitted],
                "preempted": [cycle for _, cycle in log.preempted],
                "first_token": log.first_token[1],
                "ended": log.ended[1],
                "to_first": log.first_token[1] - log.arrived[1],
                "per_token": further / (count - 1) if count > 1 else None,
                "hit_rows": log.hit_rows,
                "drafted": log.drafted,
                "accepted": log.accepted,
            }
        )
    return rows


def texts(run: Run) -> dict[str, tuple[str, str]]:
    """Of each request of a model of text: its prompt, and what it wrote; nothing of others."""
    if alphabet_of(run.options.model) is None:
        return {}
    return {
        request.rid: (decode([*request.prompt]), decode(run.tokens[request.rid]))
        for request in run.requests
    }


def summarize(run: Run) -> dict[str, Any]:
    """Figures of a run of which every request has ended, ready for JSON; times in cycles."""
    times = request_times(run)
    steps = [step for step in run.steps if step.kind == "step"]
    batches = [len(step.segments) for step in steps]
    to_first = [row["to_first"] for row in times]
    per_token = [row["per_token"] for row in times if row["per_token"] is not None]
    return {
        "options": vars(run.options),
        "requests": to_json(run.requests),
        "tokens": run.tokens,
        "texts": texts(run),
        "generated": run.generated,
        "programs": len(run.steps),
        "steps": len(steps),
        "cycles": run.cycles,
        "cycles_a_token": run.cycles / run.generated,
        "matrix_cycles_a_token": run.matrix_bound / run.generated,
        "batch_mean": sum(batches) / len(batches),
        "batch_most": max(batches),
        "rows_mean": sum(len(s.tokens) for step in steps for s in step.segments) / len(steps),
        "to_first_median": rank(to_first, 0.5),
        "to_first_99th": rank(to_first, 0.99),
        "per_token_median": rank(per_token, 0.5),
        "per_token_99th": rank(per_token, 0.99),
        "peak_pages": run.peak_pages,
        "hits": run.hits,
        "copies": run.copies,
        "evictions": run.evictions,
        "preemptions": run.preemptions,
        "drafted": run.drafted,
        "accepted": run.accepted,
        "compilations": run.compilations,
        "compilation_bound": run.compilation_bound,
        "shapes": run.shapes,
        "request_times": times,
        "timeline": [vars(tick) for tick in run.timeline],
    }
