"""The paged host against plain lists, recomputation and floating point."""

from __future__ import annotations

import inspect
import itertools
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import pytest

from model.checks.number_checks import run_error
from model.checks.software_checks import CHECKS, run_check, software_checks
from model.checks.subject import Subject
from model.decode.backend import HostStep, MachineBackend
from model.decode.page_table import OutOfPages, PageTable, UnknownRequest
from model.decode.paged_host import KvRow, PagedHost, pages_at_start
from model.decode.plain_host import PlainHost, recomputed_step
from model.decode.programs import DecodePrograms, decode_programs
from model.decode.tiny_lm import rule
from model.decode.workload import DecodeParams, compile_decode, run_decode
from model.errors import ParameterError

SETTINGS = [(None, 4), (8, 4), (6, 2), (4, 4), (3, 1), (1, 4)]
STEPS = 20


def programs_of(window: int | None, kind: str = "random", seed: int = 2) -> DecodePrograms:
    return decode_programs(kind, seed, window, STEPS, 8192)


def host_of(programs: DecodePrograms, page: int, pool: int = 64) -> PagedHost:
    table: PageTable[KvRow] = PageTable(pool, page)
    return PagedHost(table, programs, MachineBackend())


def outcome(step: HostStep) -> tuple[Any, ...]:
    ints = (step.step, step.context, step.token_out, step.logits, step.k_new, step.v_new)
    return *ints, step.image.tobytes(), step.compiled.program


@pytest.mark.parametrize(("window", "page"), SETTINGS)
def test_paged_equals_plain_lists_and_recomputation(window: int | None, page: int) -> None:
    programs = programs_of(window)
    paged, plain = host_of(programs, page), PlainHost(programs, MachineBackend())
    paged.open("r")
    tokens = [3]
    for _ in range(STEPS):
        step = paged.step("r", tokens[-1])
        assert outcome(step) == outcome(plain.step(tokens[-1]))
        assert outcome(step) == outcome(recomputed_step(programs, MachineBackend(), tokens))
        # Feed what the model would not say, so that the window holds different tokens.
        tokens.append((step.token_out + len(tokens)) % 16)


@pytest.mark.parametrize(("window", "page"), SETTINGS)
def test_pages_are_exactly_what_the_formula_says(window: int | None, page: int) -> None:
    run = compile_decode("random", 2, 3, window, STEPS, page)
    in_window: list[int] = []
    for step in run.steps:
        first = 0 if window is None else max(0, step.step - window)  # row the step reads first
        by_counting = {row // page for row in range(first, step.step - 1)}
        if first == step.step - 1 and first % page:
            by_counting = {first // page}  # the page that still takes rows is kept
        assert step.pages_in_use == len(by_counting) == pages_at_start(step.step, page, window)
        in_window.append(len(by_counting | {(step.step - 1) // page}))
    assert run.peak_pages == max(in_window) == run.params.peak_pages


@pytest.mark.parametrize("window", [None, 8, 4, 1])
@pytest.mark.parametrize("start", range(16))
def test_structured_model_follows_the_rule(window: int | None, start: int) -> None:
    run = compile_decode("structured", 1, start, window, 12)
    assert run.tokens[1:] == [rule(token) for token in run.tokens[:-1]]


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("window", [None, 8, 2])
def test_chip_is_within_15_percent_of_float(seed: int, window: int | None) -> None:
    run = compile_decode("random", seed, 5, window, STEPS)
    error = run_error(run, decode_programs("random", seed, window, STEPS, 8192))
    assert 0 < error < 0.15


@pytest.mark.parametrize("window", [12, 13, 1000])
def test_window_as_long_as_the_run_is_full_attention(window: int) -> None:
    windowed = compile_decode("random", 3, 1, window, 12)
    whole = compile_decode("random", 3, 1, None, 12)
    for got, want in zip(windowed.steps, whole.steps, strict=True):
        assert got.program == want.program
        assert np.array_equal(got.image, want.image)
        assert got.logits == want.logits


def test_requests_share_pages_after_a_fork_and_do_not_disturb_each_other() -> None:
    programs = programs_of(8)
    host = host_of(programs, 4)
    alone = PlainHost(programs, MachineBackend())
    host.open("a")
    for token in (1, 2, 3, 4, 5, 6):
        assert outcome(host.step("a", token)) == outcome(alone.step(token))
    host.fork("a", "b")
    assert host.table.pages_in_use == 2
    other = PlainHost(programs, MachineBackend())
    other.rows = list(alone.rows)
    for token in (7, 8, 9, 10):
        assert outcome(host.step("a", token)) == outcome(alone.step(token))
        assert outcome(host.step("b", 15 - token)) == outcome(other.step(15 - token))
    host.close("a")
    assert outcome(host.step("b", 0)) == outcome(other.step(0))
    host.close("b")
    assert host.table.pages_in_use == 0


def test_exhaustion_can_be_repeated_once_there_is_room() -> None:
    host = host_of(programs_of(None), page=2, pool=2)
    host.open("a")
    host.open("b")
    for token in (1, 2, 3):
        host.step("a", token)
    with pytest.raises(OutOfPages, match="'b'"):
        host.step("b", 4)
    assert host.table.length("b") == 0
    host.fork("a", "c")
    with pytest.raises(OutOfPages, match="'c'"):
        host.step("c", 4)  # the step's row would need a copy of the shared page
    assert host.table.table("c") == host.table.table("a") == [0, 1]
    host.close("a")
    plain = PlainHost(programs_of(None), MachineBackend())
    for token in (1, 2, 3):
        plain.step(token)
    assert outcome(host.step("c", 4)) == outcome(plain.step(4))


@pytest.mark.parametrize("window", [None, 3])
def test_an_interrupted_step_is_done_or_not_begun(window: int | None) -> None:
    """Ctrl-C at any line of the host, over a step that drops a page."""
    whole = set()
    for stop in itertools.count():
        host = host_of(programs_of(window), page=1)
        host.open("r")
        for token in (1, 2, 3):
            host.step("r", token)
        whole.add((host.table.length("r"), host.table.dropped("r")))
        left = itertools.count()

        def trace(
            frame: FrameType, event: str, _: object, left: Any = left, stop: int = stop
        ) -> Any:
            if frame.f_code.co_filename != inspect.getfile(PagedHost):
                return None
            if event == "line" and next(left) == stop:
                raise KeyboardInterrupt
            return trace

        previous = sys.gettrace()
        sys.settrace(trace)
        try:
            host.step("r", 4)
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(previous)
        whole.add((host.table.length("r"), host.table.dropped("r")))
        if next(left) <= stop:  # it ended before that line
            break
    assert stop > 10
    assert whole == ({(3, 0), (4, 0)} if window is None else {(3, 1), (4, 2)})


def test_decode_says_which_pool_would_do() -> None:
    with pytest.raises(OutOfPages, match=r"step 13: .*all 3 are in use.*a pool of 8 pages"):
        compile_decode(pool=3)
    assert compile_decode(pool=8).peak_pages == 8


@pytest.mark.parametrize(
    ("name", "value", "legal"),
    [
        ("model", "other", "structured, random"),
        ("seed", -1, "at least 0"),
        ("start", 16, "0..15"),
        ("start", -1, "0..15"),
        ("window", 0, "at least 1"),
        ("steps", 0, "at least 1"),
        ("steps", 65, "1..64"),
        ("page", 0, "at least 1"),
        ("pool", 0, "at least 1"),
        ("latency", 0, "1..64"),
        ("latency", 65, "1..64"),
        ("depth", 65537, "1..65536"),
        ("start", "3", "0..15"),
    ],
)
def test_parameters_out_of_range_are_named(name: str, value: object, legal: str) -> None:
    with pytest.raises(ParameterError) as caught:
        compile_decode(**{name: value})  # type: ignore[arg-type]
    assert isinstance(caught.value, ValueError)
    assert repr(value) in str(caught.value)
    assert legal in str(caught.value)


def test_longest_context_and_longer_windowed_runs() -> None:
    assert compile_decode(steps=64).steps[-1].ctx == 64
    assert compile_decode(steps=70, window=64).steps[-1].ctx == 64
    with pytest.raises(ParameterError, match=r"context = 65.*1\.\.64"):
        compile_decode(steps=70, window=65)


def test_latency_costs_a_cycle_per_load_and_nothing_else() -> None:
    slow, fast = compile_decode(steps=3, latency=9), compile_decode(steps=3, latency=8)
    for a, b, loads in zip(slow.steps, fast.steps, (8, 10, 10), strict=True):
        assert a.counters.dma - b.counters.dma == loads == a.counters.total - b.counters.total
        assert a.logits == b.logits


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda host: host.step("r", 16), ParameterError),
        (lambda host: host.step("r", -1), ParameterError),
        (lambda host: host.step("nobody", 1), UnknownRequest),
        (lambda host: host.close("nobody"), UnknownRequest),
    ],
)
def test_bad_host_calls(call: Callable[[PagedHost], object], error: type[Exception]) -> None:
    host = host_of(programs_of(8), 4)
    host.open("r")
    with pytest.raises(error):
        call(host)
    assert host.table.length("r") == 0


def test_running_past_the_compiled_contexts_is_an_error() -> None:
    host = host_of(decode_programs("random", 2, None, 2, 8192), 4)
    host.open("r")
    host.step("r", 1)
    host.step("r", 2)
    with pytest.raises(ParameterError, match=r"context = 3.*1\.\.2"):
        host.step("r", 3)


@pytest.mark.parametrize("name", CHECKS)
def test_software_check_passes(name: str) -> None:
    check = run_check(name, Subject(DecodeParams(steps=16), (None, 6, 1)))
    assert check.verdict == "pass", check.detail


def test_software_checks_of_a_random_model_skip_only_the_rule() -> None:
    checks = software_checks(DecodeParams(model="random", seed=5, steps=10, page=3), (None, 3))
    verdicts = {check.name: check.verdict for check in checks}
    assert verdicts.pop("tokens follow the rule") == "skip"
    assert set(verdicts.values()) == {"pass"}


def test_equal_parameters_share_one_run_that_nobody_can_change() -> None:
    run = compile_decode(steps=2)
    assert run is run_decode(DecodeParams(steps=2))
    with pytest.raises(ValueError, match="read-only"):
        run.steps[0].image[0] = 1
