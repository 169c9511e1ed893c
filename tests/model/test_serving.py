"""The engine against each request's solo decode, and against what it says about itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from model.chip.fixed_point import quantize
from model.chip.machine import Machine
from model.decode.page_table import DuplicateRequest, UnknownRequest
from model.decode.tiny_lm import rule
from model.errors import CompileError, ModelError, ParameterError
from model.serving import Request, serve
from model.serving.drafting import draft
from model.serving.engine import Engine
from model.serving.records import Run
from model.serving.request import NeverFits, Options
from model.serving.solo import solo
from model.serving.step import StepBuilder

COMMON = [3, 2, 7, 7, 1, 0, 4, 9]
TRACE = [
    Request("a", 0, [*COMMON, 5], 12),
    Request("b", 0, [1], 9),
    Request("c", 2, [*COMMON, 6, 6, 6], 7),
    Request("d", 3, COMMON, 8),
    Request("e", 9, [2] * 13, 11),
    Request("f", 30, [9, 8], 2),
]
SETUP: dict[str, Any] = {"model": "random", "seed": 2, "window": 8, "sinks": 2, "batch": 4}


def served(trace: Sequence[Request] = TRACE, **options: Any) -> Run:
    """Serve, and compare every request with its solo decode."""
    run = serve(trace, **(SETUP | options))
    for request in trace:
        want = solo(request, run.options)
        assert run.tokens[request.rid] == want.tokens, request
        assert run.logits[request.rid].tolist() == want.logits.tolist(), request
    return run


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"window": None, "sinks": 0, "pool": 60},
        {"window": 1, "sinks": 0, "page": 1},
        {"window": 5, "sinks": 4, "page": 3},
        {"resident": False, "prefix_cache": False, "latency": 3},
        {"rows": 3, "page": 16},
        {"draft": 3},
        {"draft": 2, "pool": 7, "page": 2},
        {"pool": 5, "batch": 8, "admission": "exact"},
        {"pool": 9, "admission": "expected"},
        {"pool": 9, "admission": "longest"},
        {"model": "structured", "seed": 1, "batch": 1},
    ],
)
def test_every_request_is_decoded_as_if_alone(options: dict[str, Any]) -> None:
    run = served(**options)
    assert run.steps[0].image is not None
    assert all(step.image is None for step in run.steps[1:])
    assert run.compilations <= run.compilation_bound
    names = [step.name for step in run.steps]
    assert len(set(names)) == len(names)
    assert run.generated == 49


def test_steps_can_be_played_again_on_memories_that_live_on() -> None:
    run = served(draft=2)
    machine = Machine(run.depth)
    for step in run.steps:
        memory = machine.ext if step.image is None else step.image
        assert machine.run(step.program, memory, run.options.latency).counters == step.counters
    assert run.cycles == sum(step.counters.total for step in run.steps)


def test_every_engine_step_stays_within_its_bounds() -> None:
    run = served(batch=3, rows=5)
    for step in run.steps:
        assert sum(len(segment.tokens) for segment in step.segments) <= 5
        assert len(step.segments) <= 3
    assert all(s.drafts == 0 for step in run.steps for s in step.segments)
    decodes = [s for step in run.steps for s in step.segments if s.kind == "decode"]
    assert sum(len(s.tokens) for s in decodes) == len(decodes) > 30
    mixed = [s for s in run.steps if {one.kind for one in s.segments} == {"prefill", "decode"}]
    assert mixed
    for step in mixed:
        last = step.segments[-1]  # a chunk ends with its prompt or takes all rows that are left
        prompt = next(len(one.prompt) for one in TRACE if one.rid == last.rid)
        if last.kind == "prefill" and last.first + len(last.tokens) < prompt:
            assert sum(len(segment.tokens) for segment in step.segments) == 5
    ticks = [tick.tick for tick in run.timeline]
    assert ticks == sorted(set(ticks))
    assert {step.tick for step in run.steps} == set(ticks)  # nothing is idle
    assert run.timeline[-1].cycle == run.cycles


def test_a_run_says_what_happened_when() -> None:
    run = served(TRACE[:5], draft=2, batch=3)
    ticks = [tick.tick for tick in run.timeline]
    assert ticks == list(range(len(ticks)))  # while something runs, no engine step is passed over
    generated: dict[str, list[int]] = {rid: [] for rid in run.tokens}
    for step in run.steps:
        assert all(step.tokens.values())
        for rid, tokens in step.tokens.items():
            if not generated[rid]:
                assert run.events[rid].first_token == (step.tick, run.timeline[step.tick].cycle)
            generated[rid] += tokens
        for segment in step.segments:
            assert segment.accepted <= segment.drafts
            assert (segment.kind == "verify") == (segment.drafts > 0)
            assert segment.kind != "decode" or len(segment.tokens) == 1
    assert generated == run.tokens
    order = [segment for step in run.steps for segment in step.segments]
    for request in run.requests:
        assert next(s.kind for s in order if s.rid == request.rid) == "prefill"
        log = run.events[request.rid]
        assert log.arrived is not None
        assert log.ended is not None
        assert log.arrived[0] == request.arrival <= log.admitted[0][0] <= log.ended[0]
    kinds = {tick.tick: tick.prefilling for tick in run.timeline}
    for step in run.steps[1:]:
        assert sum(segment.kind == "prefill" for segment in step.segments) == kinds[step.tick]
    assert {s.kind for step in run.steps for s in step.segments} == {"prefill", "decode", "verify"}


def test_who_comes_first_is_served_first_whatever_the_order_of_submission() -> None:
    trace = [Request("late", 9, [1], 2), *(Request(f"r{i}", 3, [i], 2) for i in range(3))]
    run = served([*trace, Request("last", 40, [5], 1)], batch=1)
    begun = {rid: log.admitted[0][0] for rid, log in run.events.items()}
    assert begun == {"late": 9, "r0": 3, "r1": 5, "r2": 7, "last": 40}
    assert run.timeline[0].tick == 3
    assert [tick.waiting for tick in run.timeline] == [2, 2, 1, 1, 0, 0, 0, 0, 0]


def test_a_request_may_come_late_and_nothing_may_come_at_all() -> None:
    engine = Engine(Options(**SETUP))
    engine.step()
    assert engine.done
    engine.step()
    engine.submit(Request("a", 0, [3], 2))
    assert not engine.done
    while not engine.done:
        engine.step()
    assert engine.result().events["a"].arrived == (2, engine.steps[0].counters.total)
    assert engine.result().tokens["a"] == solo(Request("a", 0, [3], 2), engine.options).tokens


def test_a_program_that_faults_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StepBuilder, "boot", lambda self: (15 << 124,))
    with pytest.raises(RuntimeError, match="serve boot faulted at 0: OPCODE"):
        Engine(Options(**SETUP))


def test_a_stop_token_ends_a_request() -> None:
    whole = served().tokens["a"]
    stop = whole[4]
    request = Request("a", 0, TRACE[0].prompt, 12, stop)
    for drafted in (0, 3):
        run = served([request, *TRACE[1:]], draft=drafted)
        assert run.tokens["a"] == whole[: whole.index(stop) + 1]
        assert run.events["a"].ended is not None


def test_pages_hold_the_keys_and_values_of_their_tokens() -> None:
    options = Options(**SETUP)
    engine = Engine(options)
    for request in TRACE[:4]:
        engine.submit(request)
    for _ in range(6):
        engine.step()
    table, model = engine.scheduler.table, engine.model
    memory = engine._machine.ext.view(np.int32)
    q = {
        name: quantize(getattr(model.lm, attribute), model.scales[name])
        for name, attribute in (("wk", "w_k"), ("wv", "w_v"))
    }
    seen = 0
    for live in engine.scheduler.running:
        for logical, page in table.pages(live.rid).items():
            for offset in range(min(options.page, table.length(live.rid) - logical * options.page)):
                token = live.tokens[logical * options.page + offset]
                x = quantize(model.lm.embedding[token], model.scales["x"])
                row = memory[engine.external.slot(page, offset) :][:32]
                for half, name in ((row[:16], "wk"), (row[16:], "wv")):
                    want = x @ q[name] * model.scales["x"] * model.scales[name]
                    got = half * model.scales[name[1]]
                    assert np.abs(want - got).max() <= 0.51 * model.scales[name[1]] + 1e-9
                seen += 1
    assert seen > 20


# -- prefix cache, preemption, speculation, resident weights -------------------------------------


def test_a_common_prompt_is_computed_once() -> None:
    run = served()
    assert run.events["c"].hit_rows == 8
    assert run.events["d"].hit_rows == 7  # one token is always computed
    assert run.hits == 4
    assert served(prefix_cache=False).hits == 0


def test_a_whole_prompt_that_is_shared_is_copied_on_the_chip_before_it_is_written() -> None:
    trace = [Request("a", 0, COMMON, 12), Request("b", 1, COMMON, 5)]
    run = served(trace, window=12, sinks=0)
    copies = [step for step in run.steps if step.kind == "copy"]
    assert len(copies) == run.copies == 1
    assert len(copies[0].program) == 3
    assert copies[0].counters.dma == 3 * 32 + 9 + 3 * 32 + 2


def test_the_last_admitted_gives_its_pages_back_and_is_computed_again() -> None:
    run = served(pool=6, prefix_cache=False)
    assert run.preemptions == sum(len(log.preempted) for log in run.events.values()) > 0
    assert not run.events["a"].preempted  # the oldest always goes on
    again = [s for step in run.steps for s in step.segments if s.kind == "prefill"]
    assert sum(len(s.tokens) for s in again) > sum(len(request.prompt) for request in TRACE)
    assert {len(s.tokens) for step in run.steps for s in step.segments if s.kind == "decode"} == {1}
    assert run.peak_pages <= 6


@pytest.mark.parametrize("admission", ["exact", "longest"])
def test_who_is_promised_its_pages_keeps_them(admission: str) -> None:
    options: dict[str, Any] = {"pool": 6, "prefix_cache": False, "draft": 3}
    assert served(**options).preemptions > 0
    assert served(admission=admission, **options).preemptions == 0


def test_admission_waits_for_what_is_promised() -> None:
    def admitted(admission: str) -> int:
        trace = [Request(f"r{i}", 0, [i], 9 if i else 17) for i in range(8)]
        run = served(trace, window=None, sinks=0, batch=8, pool=12, admission=admission)
        return run.timeline[0].running

    # One page each; 5 + 3 + 3 pages of 12; three of ceil(80 / 8) rows, 3 pages; 5 + 5 pages.
    assert [admitted(rule) for rule in ("one page", "exact", "expected", "longest")] == [8, 3, 4, 2]


def test_nothing_happens_before_the_first_arrival() -> None:
    run = served([Request("a", 10**9, [3], 3)])
    assert [step.tick for step in run.steps] == [0, 10**9, 10**9 + 1, 10**9 + 2]
    assert run.events["a"].arrived == (10**9, run.steps[0].counters.total)


def test_drafts_that_come_true_save_steps() -> None:
    plain, drafted = served(), served(draft=3)
    assert 0 < drafted.accepted <= drafted.drafted
    assert len(drafted.steps) < len(plain.steps)
    verified = [s for step in drafted.steps for s in step.segments if s.kind == "verify"]
    assert sum(s.accepted for s in verified) == drafted.accepted
    assert sum(s.drafts for s in verified) == drafted.drafted


def test_drafts_take_only_rows_that_no_decode_needs() -> None:
    cycle = [0]
    while len(cycle) < 18:
        cycle.append(rule(cycle[-1]))
    trace = [Request(f"r{i}", 4 if i else 0, cycle, 30) for i in range(3)]  # found in the cache
    options = {"model": "structured", "draft": 3, "batch": 3}
    run = served(trace, rows=8, **options)
    shares = [
        tuple(len(s.tokens) for s in step.segments)
        for step in run.steps
        if len(step.segments) == 3 and all(s.kind != "prefill" for s in step.segments)
    ]
    assert shares[:2] == [(4, 3, 1)] * 2
    assert run.accepted == run.drafted
    few = served(trace, rows=2, **options)
    assert max(len(step.segments) for step in few.steps) == 2
    last = [s for step in run.steps for s in step.segments if s.rid == "r0"][-1]
    assert last.first + len(last.tokens) <= trace[0].rows  # nothing is drafted beyond the end


def test_the_last_tokens_are_drafted_up_to_the_end() -> None:
    cycle = [0]
    while len(cycle) < 18:
        cycle.append(rule(cycle[-1]))
    run = served([Request("a", 0, cycle, 3)], model="structured", draft=3, rows=18)
    shares = [(s.drafts, s.accepted) for step in run.steps for s in step.segments]
    assert shares == [(0, 0), (1, 1)]


def test_a_prompt_whose_last_row_needs_a_page_that_is_gone_is_computed_from_before_it() -> None:
    trace = [Request("a", 0, COMMON, 5), Request("b", 1, COMMON, 5)]
    run = served(trace, window=5, sinks=0)
    assert (run.events["b"].hit_rows, run.hits) == (4, 1)


def test_a_full_pool_admits_nobody() -> None:
    trace = [Request("a", 0, [1] * 9, 4), Request("b", 1, [2], 3)]
    run = served(trace, window=None, sinks=0, pool=3)
    ended = run.events["a"].ended
    assert ended is not None
    assert run.events["b"].admitted[0][0] == ended[0] + 1
    assert run.preemptions == 0
    wider = served(trace, window=None, sinks=0, pool=4)  # nothing more is promised to the first
    assert wider.events["b"].admitted[0][0] == 1


def test_a_chunk_takes_no_page_that_another_request_is_promised() -> None:
    trace = [Request("a", 0, [1, 2, 3], 20), Request("b", 5, [4] * 12, 2)]
    run = served(trace, window=4, sinks=0, page=1, pool=8, admission="exact", prefix_cache=False)
    chunks = [len(s.tokens) for step in run.steps for s in step.segments if s.rid == "b"]
    assert chunks[0] == 4  # of 8 pages the other one has 4
    assert run.preemptions == 0


def test_shorter_contexts_leave_room_for_more_weights() -> None:
    short, long = (served([Request("a", 0, [3], rows)], window=None, sinks=0) for rows in (8, 60))
    assert short.steps[0].counters.dma > long.steps[0].counters.dma > 0


@pytest.mark.parametrize(
    ("tokens", "want"),
    [
        ([1], []),
        ([1, 2, 3], []),
        ([1, 2, 3, 1, 2], [3, 1, 2]),
        ([5, 1, 2, 9, 4, 1, 2, 8, 7, 5, 1, 2], [9, 4, 1]),
        ([1, 5, 1, 6, 1], [6, 1]),
        ([4, 4, 4], [4]),
    ],
)
def test_drafts_follow_the_longest_earlier_match(tokens: list[int], want: list[int]) -> None:
    assert draft(tokens, 3) == want
    assert draft(tokens, 0) == draft(tokens, -2) == []


def test_resident_weights_are_loaded_once_and_change_no_integer() -> None:
    kept, loaded = served(), served(resident=False)
    assert kept.steps[0].counters.n_inst > 0 == loaded.steps[0].counters.n_inst
    a, b = kept.steps[-1].counters, loaded.steps[-1].counters
    assert (a.mm, a.vec) == (b.mm, b.vec)
    assert b.dma - a.dma == 2304 + 7 * 9


@pytest.mark.parametrize(("batch", "most"), [(1, 0.69), (8, 0.365), (16, 0.367)])
def test_cycles_of_a_token(batch: int, most: float) -> None:
    trace = [Request(f"r{i}", 0, [i % 16], 13) for i in range(batch)]
    run = served(trace, window=8, sinks=0, batch=batch, rows=16 if batch > 1 else 1)
    last = [step for step in run.steps if len(step.segments) == batch][-1]
    assert last.counters.total / batch <= most * 7615


# -- bad use -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Request("a", 0, [], 1), r"request 'a': prompt = \[\] .* not empty"),
        (lambda: Request("a", 0, [-1], 1), r"request 'a': token = -1"),
        (lambda: Request("a", 0, [1], 1, -1), "request 'a': stop = -1"),
        (lambda: serve([Request("a", 0, [16], 1)]), r"request 'a': token = 16 .* 0\.\.15"),
        (lambda: Request("a", 0, [1], 0), "request 'a': generate = 0"),
        (lambda: Request("a", -1, [1], 1), "request 'a': arrival = -1"),
        (lambda: serve([Request("a", 0, [1], 1, 16)]), r"request 'a': stop = 16 .* 0\.\.15"),
        (lambda: Request("", 0, [1], 1), "request = '' .* a name"),
        (lambda: Request("a", 0, "12", 1), "request 'a': prompt = '12'"),
        (lambda: serve(TRACE, sinks=1), "sinks = 1 .* 0 without a window"),
        (lambda: serve(TRACE, window=4, sinks=4), r"sinks = 4 .* 0\.\.3"),
        (lambda: serve(TRACE, window=65), r"window = 65 .* 1\.\.64"),
        (lambda: serve(TRACE, admission="all"), "admission = 'all' .* one page, expected"),
        (lambda: serve(TRACE, model="large"), "model = 'large'"),
        (lambda: serve(TRACE, rows=0), r"rows = 0 .* 1\.\.64"),
        (lambda: serve(TRACE, batch=0), "batch = 0"),
        (lambda: serve(TRACE, draft=-1), "draft = -1"),
        (lambda: serve(TRACE, latency=65), r"latency = 65 .* 1\.\.64"),
        (lambda: serve(TRACE, pool=5000), "pool = 5000 .* at most 489 pages of 4 rows"),
    ],
)
def test_bad_parameters_are_named(build: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        build()


def test_a_request_that_can_never_fit_is_refused_when_it_arrives() -> None:
    with pytest.raises(NeverFits, match="request 'a': 6 pages of 4 rows, the pool has 5"):
        serve([Request("a", 0, [1] * 20, 2)], pool=5)
    serve([Request("a", 0, [1] * 20, 2)], pool=3, window=4)
    with pytest.raises(NeverFits, match="request 'a': a context of 65 rows, at most 64 fit"):
        serve([Request("a", 0, [1] * 60, 6)])
    serve([Request("a", 0, [1] * 60, 5)])
    for window in (None, 30):
        engine = Engine(Options(window=window), [Request("a", 0, [1] * 20, 1)])
        engine.submit(Request("b", 0, [1] * 10, 11))
        with pytest.raises(NeverFits, match="request 'c': a context of 21 rows, at most 20 fit"):
            engine.submit(Request("c", 0, [1] * 10, 12))
    engine = Engine(Options(window=20), [Request("a", 0, [1] * 40, 1)])
    engine.submit(Request("b", 0, [1] * 50, 10))


def test_a_step_that_cannot_fit_the_scratchpad_is_refused() -> None:
    with pytest.raises(CompileError, match="64 rows a step beside contexts of 23 rows do not fit"):
        serve(TRACE, rows=64)


def test_bad_use_of_the_engine_changes_nothing() -> None:
    engine = Engine(Options(**SETUP))
    engine.submit(TRACE[0])
    engine.step()
    bad: list[tuple[Any, type[ModelError], str]] = [
        (lambda: engine.submit(TRACE[0]), DuplicateRequest, "request 'a' exists already"),
        (lambda: engine.cancel("z"), UnknownRequest, "no request 'z'"),
    ]
    for call, error, message in bad:
        with pytest.raises(error, match=message):
            call()
    while not engine.done:
        engine.step()
    with pytest.raises(UnknownRequest, match="no request 'a'"):
        engine.cancel("a")
    assert engine.result().tokens["a"] == served().tokens["a"]


def test_cancelling_gives_every_page_back_at_any_time() -> None:
    engine = Engine(Options(**(SETUP | {"batch": 2})))
    for request in TRACE:
        engine.submit(request)
    for _ in range(4):
        engine.step()
    states = {live.rid for live in engine.scheduler.running}, len(engine.scheduler.waiting)
    assert states == ({"a", "b"}, 2)
    before = engine.result().tokens
    for rid in ("a", "c", "f"):  # runs, waits, has not arrived
        engine.cancel(rid)
        assert engine.lives[rid].log.ended == (4, engine.cycles)
        with pytest.raises(UnknownRequest, match=f"no request '{rid}' arrives, waits or runs"):
            engine.cancel(rid)
    assert [live.rid for live in engine.scheduler.running] == ["b"]
    assert [live.rid for live in engine.scheduler.waiting] == ["d"]
    while not engine.done:
        engine.step()
    run = engine.result()
    assert engine.scheduler.table.pages_in_use == 0
    assert [rid for rid, log in run.events.items() if log.cancelled] == ["a", "c", "f"]
    for request in TRACE:
        want = solo(request, run.options).tokens
        assert run.tokens[request.rid] == (before[request.rid] if request.rid in "acf" else want)
    assert before["a"] == solo(TRACE[0], run.options).tokens[: len(before["a"])] != []
