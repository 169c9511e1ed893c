"""Whatever is drawn, a request's integers are those of its solo decode; planted faults show."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mutation import changed_source, model_with, source_of
from serving_support import play

from model.serving.admission import peak_pages
from model.serving.request import ADMISSION_RULES, Options, Request
from model.serving.solo import solo

# Hypothesis draws 100 unless a profile says otherwise: pytest --hypothesis-profile=nightly.
PROFILE = settings.default
EXAMPLES = 20 if PROFILE is None or PROFILE.max_examples == 100 else PROFILE.max_examples
BEGINNINGS = ([1, 4, 4, 9, 2, 7, 7, 3], [1, 4, 4, 9, 5], [8], [2, 2, 2, 2, 2, 2, 2, 2, 2, 2])


def prompts() -> st.SearchStrategy[list[int]]:
    """Prompts that often begin alike, and often are the same."""
    tail = st.lists(st.integers(0, 15), max_size=3)
    return st.builds(
        lambda a, n, b: a[:n] + b or [0], st.sampled_from(BEGINNINGS), st.integers(0, 10), tail
    )


@st.composite
def traces(draw: st.DrawFn) -> tuple[list[dict[str, Any]], dict[str, Any], dict[int, str]]:
    """Requests, options and cancellations, such that every request can run alone."""
    count = draw(st.integers(1, 6))
    trace = [
        {
            "rid": f"r{number}",
            "arrival": draw(st.integers(0, 8)),
            "prompt": draw(prompts()),
            "generate": draw(st.integers(1, 12)),
            "stop": draw(st.none() | st.integers(0, 15)),
        }
        for number in range(count)
    ]
    window = draw(st.none() | st.integers(1, 10))
    options: dict[str, Any] = {
        "model": draw(st.sampled_from(["random", "structured"])),
        "seed": 2,
        "window": window,
        "sinks": 0 if window is None else draw(st.integers(0, min(4, window - 1))),
        "page": draw(st.sampled_from([1, 2, 3, 4, 8])),
        "batch": draw(st.integers(1, 5)),
        "rows": draw(st.sampled_from([1, 2, 5, 16])),
        "draft": draw(st.sampled_from([0, 2, 4])),
        "prefix_cache": draw(st.sampled_from([True, True, False])),
        "admission": draw(st.sampled_from(ADMISSION_RULES)),
        "resident": draw(st.booleans()),
        "latency": draw(st.sampled_from([1, 8])),
    }
    visible = Options(**options).visible
    least = max(peak_pages(Request(**each).rows, options["page"], visible) for each in trace)
    options["pool"] = least + draw(st.sampled_from([0, 1, 4, 30]))
    rids = st.sampled_from([each["rid"] for each in trace])
    return trace, options, draw(st.dictionaries(st.integers(0, 12), rids, max_size=1))


@settings(max_examples=EXAMPLES, deadline=None, derandomize=EXAMPLES == 20)
@given(drawn=traces())
def test_every_drawn_request_is_decoded_as_if_alone(drawn: Any) -> None:
    trace, options, cancels = drawn
    run = play(trace, options, cancels)
    for request in run.requests:
        want, log = solo(request, run.options), run.events[request.rid]
        got, logits = run.tokens[request.rid], run.logits[request.rid].tolist()
        count = len(got) if log.cancelled else len(want.tokens)
        assert got == want.tokens[:count]
        assert logits == want.logits[:count].tolist()
        assert len(log.admitted) - len(log.preempted) in ((0, 1) if log.cancelled else (1,))
    assert run.compilations <= run.compilation_bound
    assert run.peak_pages <= run.options.pool
    if options["admission"] in ("exact", "longest") and not options["prefix_cache"]:
        assert run.preemptions == 0


# -- planted faults ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fault:
    """One change in one module of the model."""

    what: str
    module: str
    old: str
    new: str


FAULTS = [
    Fault(
        "a row of the neighbour",
        "serving.step",
        ".bind(self._addresses(rows, plane), row)",
        ".bind(self._addresses(rows, plane), max(0, row - 1))",
    ),
    Fault(
        "logits of the neighbour",
        "serving.engine",
        "self._digest(work, chosen[own], logits[own])",
        "self._digest(work, chosen[own], logits[first - 1 :])",
    ),
    Fault(
        "a stale page",
        "serving.step",
        "self.external.slot(rows.pages[first // size], first % size, plane)",
        "self.external.slot(rows.pages.get(first // size - 1, rows.pages[first // size]), 0)",
    ),
    Fault(
        "a copy that is not made",
        "serving.engine",
        'self._run(f"serve copy {self.tick}.{number}", "copy", self.builder.copy(copy))',
        "pass",
    ),
    Fault(
        "a copy that lacks its last row",
        "serving.step",
        "min(most, copy.rows - first)",
        "max(1, min(most, copy.rows - first) - 1)",
    ),
    Fault(
        "a chunk that sees its future",
        "serving.kernels",
        "end = len(old) + query - first + 1",
        "end = len(old) + count",
    ),
    Fault(
        "a chunk that forgets its own rows",
        "serving.kernels",
        "end = len(old) + query - first + 1",
        "end = max(len(old), visible.context(query))",
    ),
    Fault(
        "sinks that stay behind",
        "serving.kernels",
        "visible.sinks if hole else 0",
        "0",
    ),
    Fault(
        "a slot one off",
        "serving.step",
        "self.external.slot(*rows.slots[first - rows.first], plane)",
        "self.external.slot(*rows.slots[first - rows.first]) + 32 * (len(rows.slots) > 1)",
    ),
    Fault(
        "a hit on a page that was reused",
        "decode.page_pool",
        "        self.withdraw(page)\n        self.slots",
        "        self.slots",
    ),
    Fault(
        "a truncated page still shared",
        "decode.page_pool",
        "elif self.owners[shared] > 1:",
        "elif self.owners[shared] > len(self.owners):",
    ),
    Fault(
        "a draft that is shared before it is verified",
        "serving.engine",
        "            table.truncate(",
        "            table.publish(live.rid, [*live.tokens[: work.first], *work.tokens])\n"
        "            table.truncate(",
    ),
    Fault(
        "a draft that is taken unseen",
        "serving.engine",
        "or token != drafted",
        "or drafted is None",
    ),
    Fault(
        "rejected drafts that stay",
        "serving.engine",
        "table.truncate(live.rid, len(live.tokens) - 1, options.visible)",
        "pass",
    ),
    Fault(
        "a prompt computed from its second half after preemption",
        "serving.scheduler",
        "        self.waiting.appendleft(live)\n",
        "        self.waiting.appendleft(live)\n        del live.tokens[-1]\n",
    ),
]

COMMON = [3, 2, 7, 7, 1, 0, 4, 9]
ASKED: list[dict[str, Any]] = [
    {"rid": "a", "arrival": 0, "prompt": [*COMMON, 5], "generate": 16},
    {"rid": "b", "arrival": 0, "prompt": COMMON, "generate": 14},
    {"rid": "c", "arrival": 2, "prompt": COMMON, "generate": 9},
    {"rid": "d", "arrival": 3, "prompt": [2] * 9, "generate": 9},
    {"rid": "e", "arrival": 4, "prompt": [*COMMON, 6, 6, 6], "generate": 8},
]
SETUPS: list[dict[str, Any]] = [
    {"model": "random", "seed": 2, "window": 10, "sinks": 2, "pool": 12, "draft": 3, "rows": 9},
    {"model": "random", "seed": 2, "window": 6, "sinks": 1, "pool": 40, "draft": 2, "page": 2},
]


@cache
def wanted(setup: int) -> dict[str, tuple[list[int], list[list[int]]]]:
    options = Options(**SETUPS[setup])
    alone = {each["rid"]: solo(Request(**each), options) for each in ASKED}
    return {rid: (one.tokens, one.logits.tolist()) for rid, one in alone.items()}


def differences() -> list[str]:
    """What the planted package gets wrong; an error of its own counts, too."""
    wrong: list[str] = []
    for number, setup in enumerate(SETUPS):
        try:
            run = play(ASKED, setup)
        except Exception as error:
            wrong.append(f"{type(error).__name__}: {error}")
            continue
        for rid, want in wanted(number).items():
            if (run.tokens[rid], run.logits[rid].tolist()) != want:
                wrong.append(f"{rid}: {run.tokens[rid]}, alone {want[0]}")
    return wrong


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.what)
def test_planted_fault_is_caught(fault: Fault) -> None:
    for number in range(len(SETUPS)):
        wanted(number)
    with model_with(fault.module, changed_source(fault.module, fault.old, fault.new)):
        assert differences()


def test_nothing_differs_without_a_fault() -> None:
    with model_with("serving.step", source_of("serving.step").read_text()):
        assert differences() == []
    run = play(ASKED, SETUPS[0])
    # All that the faults need happens: copies, preemptions, rejected drafts, evicted pages.
    assert min(run.copies, run.preemptions, run.drafted - run.accepted, run.evictions) > 0
