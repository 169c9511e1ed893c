"""Studies of the paged cache, the window and what they mean for serving: data, no printing."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model.compiler.graph import FloatArray
from model.decode.float_decode import float_decode
from model.decode.page_table import OutOfPages, PageTable
from model.decode.tiny_lm import VOCABULARY, tiny_lm
from model.decode.visible import Visible

# Memory against reservation.
POOL_ROWS = 8192
RESERVED_ROWS = 2048
LENGTH_COUNT = 400
LENGTH_SEED = 11
PAGE_SIZES = (1, 4, 16, 64, 256)

# Prefix sharing.
PROMPTS = (96, 100, 250)
SHARED_PAGE_SIZES = (16, 40)
SHARING_REQUESTS = 8
ROWS_PER_REQUEST = 40

# Accuracy of a window.
ACCURACY_SEEDS = (1, 2, 3)
ACCURACY_STEPS = 24
ACCURACY_WINDOWS = (2, 4, 8, 16, 24)
SINK_WINDOWS = (4, 8, 16)
SINKS = (0, 1, 2, 3)

# What a page size reserves.
RESERVING_PAGE_SIZES = (1, 2, 4, 8, 16)
RESERVING_WINDOW = 8
RESERVING_STEPS = 32

# Serving arithmetic.
DEVICE_BYTES = 80_000_000_000
WEIGHT_BYTES = 7_000_000_000
BYTES_PER_TOKEN = 256 * 1024
SERVED_CONTEXTS = (2048, 8192, 32768, 131072)
SERVED_WINDOW = 4096


@dataclass(frozen=True)
class LogEntry:
    """One step of one request: rows it gathered, and the table after its append and trim."""

    step: int
    gathered: list[int]
    table: list[int]
    dropped: int
    free: list[int]


def event_log(
    page_rows: int = 4, window: int = 6, pool: int = 8, steps: int = 14
) -> list[LogEntry]:
    """Pages of one windowed request, step by step; row i holds the number i."""
    table: PageTable[int] = PageTable(pool, page_rows)
    table.new("request")
    log = []
    for step in range(1, steps + 1):
        context = min(step, window)
        gathered = table.rows("request", step - context, step - 1)
        table.append("request", step - 1)
        table.trim("request", step + 1 - window)
        log.append(
            LogEntry(
                step, gathered, table.table("request"), table.dropped("request"), table.free_pages
            )
        )
    return log


@dataclass(frozen=True)
class ForkEvent:
    """Both tables of a fork, and the owners of every page in use, at one moment."""

    moment: str
    tables: dict[str, list[int]]
    owners: dict[int, int]
    free: list[int]


def fork_log(page_rows: int = 4, pool: int = 8, rows: int = 10) -> list[ForkEvent]:
    """A fork after some rows, one append to the fork (copy-on-write), and its release."""
    table: PageTable[int] = PageTable(pool, page_rows)
    events = []

    def note(moment: str) -> None:
        tables = {str(rid): table.table(rid) for rid in table.requests}
        owners = {page: table.owners(page) for page in range(pool) if table.owners(page)}
        events.append(ForkEvent(moment, tables, owners, table.free_pages))

    table.new("parent")
    for row in range(rows):
        table.append("parent", row)
    table.fork("parent", "fork")
    note(f"fork after {rows} rows")
    table.append("fork", rows)
    note("one append to the fork")
    table.release("fork")
    note("release of the fork")
    return events


@dataclass(frozen=True)
class Admission:
    """How many requests fit a pool of rows, the rows they use, and the rows taken for that."""

    scheme: str
    requests: int
    used: int
    reserved: int

    @property
    def wasted(self) -> float:
        """Part of the reserved rows that no request uses."""
        return 1 - self.used / self.reserved


def request_lengths() -> list[int]:
    """400 request lengths in rows, 16..2048, log-normal, from a fixed seed."""
    draw = random.Random(LENGTH_SEED)
    return [
        min(RESERVED_ROWS, max(16, int(draw.lognormvariate(5.2, 0.9)))) for _ in range(LENGTH_COUNT)
    ]


def contiguous_admission(lengths: Sequence[int]) -> Admission:
    """Reserve the longest possible request for everyone."""
    held = min(len(lengths), POOL_ROWS // RESERVED_ROWS)
    return Admission("contiguous", held, sum(lengths[:held]), held * RESERVED_ROWS)


def paged_admission(lengths: Sequence[int], page_rows: int) -> Admission:
    """Append rows to a real page table, request after request, until one does not fit."""
    table: PageTable[int] = PageTable(POOL_ROWS // page_rows, page_rows)
    held = used = 0
    for rid, length in enumerate(lengths):
        before = table.pages_in_use
        table.new(rid)
        try:
            for row in range(length):
                table.append(rid, row)
        except OutOfPages:
            table.release(rid)
            assert table.pages_in_use == before
            break
        held += 1
        used += length
    return Admission(f"page {page_rows}", held, used, table.pages_in_use * page_rows)


@dataclass(frozen=True)
class Sharing:
    """Pages of requests with a common prompt: each with its own copy, shared, and copies made.

    padded: pages when the prompt is filled up to the end of a page, so that nothing is copied.
    """

    prompt: int
    page_rows: int
    copied: int
    shared: int
    copy_on_write: int
    padded: int


def prefix_sharing(prompt: int, page_rows: int) -> Sharing:
    """Eight requests of 40 rows each after one prompt, without and with forking the prompt."""
    rows = prompt + ROWS_PER_REQUEST
    separate: PageTable[int] = PageTable(SHARING_REQUESTS * -(-rows // page_rows), page_rows)
    for rid in range(SHARING_REQUESTS):
        separate.new(rid)
        for row in range(rows):
            separate.append(rid, row)
    forked = _forked(prompt, page_rows)
    padded = _forked(-(-prompt // page_rows) * page_rows, page_rows)
    assert padded.copies == 0
    return Sharing(
        prompt,
        page_rows,
        separate.pages_in_use,
        forked.pages_in_use,
        forked.copies,
        padded.pages_in_use,
    )


def _forked(prompt: int, page_rows: int) -> PageTable[int]:
    rows = prompt + ROWS_PER_REQUEST
    pool = SHARING_REQUESTS * -(-rows // page_rows) + prompt
    forked: PageTable[int] = PageTable(pool, page_rows)
    forked.new("prompt")
    for row in range(prompt):
        forked.append("prompt", row)
    for rid in range(SHARING_REQUESTS):
        forked.fork("prompt", rid)
    for row in range(prompt, rows):
        for rid in range(SHARING_REQUESTS):
            forked.append(rid, row)
    forked.release("prompt")  # kept until all have started, so every one of them had to copy
    return forked


@dataclass(frozen=True)
class WindowAccuracy:
    """Agreement of a windowed float model with full attention, on the full model's tokens."""

    window: int
    agreeing: int
    tokens: int
    error: float  # mean over all tokens of |logits - full| / |full|, Euclidean norms
    sinks: int = 0


def window_accuracy(
    views: Sequence[Visible] = tuple(map(Visible, ACCURACY_WINDOWS)),
) -> list[WindowAccuracy]:
    """Random models 1, 2, 3; all 16 starts; 24 teacher-forced steps; windows as in ``views``."""
    agreeing = dict.fromkeys(views, 0)
    errors: dict[Visible, list[float]] = {view: [] for view in views}
    for seed in ACCURACY_SEEDS:
        lm = tiny_lm("random", seed)
        full = list(float_decode(lm, None, ACCURACY_STEPS))
        forced = np.stack([step.tokens_in for step in full])
        for view in views:
            windowed = list(
                float_decode(lm, view.window, ACCURACY_STEPS, forced=forced, sinks=view.sinks)
            )
            for start in range(VOCABULARY):
                for step, reference in zip(windowed, full, strict=True):
                    agreeing[view] += int(step.tokens_out[start] == reference.tokens_out[start])
                    want = reference.logits[start]
                    errors[view].append(_norm(step.logits[start] - want) / _norm(want))
    return [
        WindowAccuracy(
            view.window or 0, agreeing[view], len(errors[view]), _mean(errors[view]), view.sinks
        )
        for view in views
    ]


def sink_accuracy() -> list[WindowAccuracy]:
    """The same for windows with sinks."""
    return window_accuracy([Visible(window, s) for window in SINK_WINDOWS for s in SINKS])


@dataclass(frozen=True)
class PageSize:
    """Pages of one windowed request, and the rows they reserve."""

    page_rows: int
    pages: int
    rows_reserved: int


def page_size(page_rows: int) -> PageSize:
    """What one request holds after 32 steps at a window of 8."""
    table: PageTable[int] = PageTable(RESERVING_STEPS, page_rows)
    table.new("request")
    for row in range(RESERVING_STEPS):
        table.append("request", row)
        table.trim_unseen("request", Visible(RESERVING_WINDOW))
    return PageSize(page_rows, table.pages_in_use, table.pages_in_use * page_rows)


def _norm(vector: FloatArray) -> float:
    total = 0.0
    for value in vector.tolist():
        total += value * value
    return float(total**0.5)


def _mean(values: Sequence[float]) -> float:
    total = 0.0
    for value in values:  # not sum(): its last bits changed in Python 3.12
        total += value
    return total / len(values)


@dataclass(frozen=True)
class Serving:
    """Cache bytes of one request of a context, and the largest batch, without and with a window."""

    context: int
    full_bytes: int
    window_bytes: int
    full_batch: int
    window_batch: int


def serving(context: int) -> Serving:
    """80e9 bytes of memory, 7e9 of weights, 256 KiB of cache a token, a window of 4,096 tokens."""
    full = context * BYTES_PER_TOKEN
    windowed = min(context, SERVED_WINDOW) * BYTES_PER_TOKEN
    free = DEVICE_BYTES - WEIGHT_BYTES
    return Serving(context, full, windowed, free // full, free // windowed)
