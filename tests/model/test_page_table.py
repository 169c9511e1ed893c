"""The page table against a naive shadow of it, and its errors."""

from __future__ import annotations

import itertools
import json
import sys
import weakref
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from model.checks.paging_play import WINDOWS, Operation, observed, play, play_sequence
from model.checks.paging_shadow import ShadowCache
from model.decode import page_pool
from model.decode.page_pool import BlockTable
from model.decode.page_table import (
    BadRange,
    Copy,
    DuplicateRequest,
    Extension,
    OutOfPages,
    PageTable,
    PagingError,
    ReleasedRows,
    Slot,
    UnknownRequest,
)
from model.decode.visible import EVERYTHING, Visible
from model.errors import ParameterError

REQUESTS = st.integers(0, 4)
VISIBLE = st.sampled_from(WINDOWS)


class PageTableMachine(RuleBasedStateMachine):
    """Every call goes to the table and to its shadow; play() compares all state after each."""

    @initialize(n_pages=st.integers(1, 10), page_rows=st.integers(1, 5))
    def start(self, n_pages: int, page_rows: int) -> None:
        self.table: PageTable[int] = PageTable(n_pages, page_rows)
        self.shadow = ShadowCache(n_pages, page_rows)
        self.row = 0

    def play(self, name: str, rid: int, *args: object) -> None:
        play(self.table, self.shadow, Operation(name, rid, args))

    def length(self, rid: int) -> int:
        return self.table.length(rid) if rid in self.table.requests else 0

    @rule(rid=REQUESTS)
    def new(self, rid: int) -> None:
        self.play("new", rid)

    @rule(rid=REQUESTS, count=st.integers(1, 6))
    def append(self, rid: int, count: int) -> None:
        for _ in range(count):
            self.row += 1
            self.play("append", rid, self.row)

    @precondition(lambda self: self.table.requests)
    @rule(data=st.data())
    def append_live(self, data: st.DataObject) -> None:
        self.row += 1
        self.play("append", data.draw(st.sampled_from(self.table.requests)), self.row)

    @rule(rid=REQUESTS, data=st.data())
    def rows(self, rid: int, data: st.DataObject) -> None:
        ends = st.integers(-1, self.length(rid) + 1)
        self.play("rows", rid, data.draw(ends), data.draw(ends))

    @rule(rid=REQUESTS, data=st.data())
    def trim(self, rid: int, data: st.DataObject) -> None:
        self.play("trim", rid, data.draw(st.integers(-3, self.length(rid) + 1)))

    @rule(rid=REQUESTS, rows=st.lists(st.integers(0, 1), min_size=1, max_size=7))
    def extend(self, rid: int, rows: list[int]) -> None:
        if rid in self.table.requests:
            expected = self.shadow.pages_needed(rid, len(rows))
            assert self.table.pages_needed(rid, len(rows)) == expected
        self.play("extend", rid, tuple(rows))

    @rule(rid=REQUESTS, visible=VISIBLE)
    def trim_unseen(self, rid: int, visible: Visible) -> None:
        self.play("trim_unseen", rid, visible)

    @rule(rid=REQUESTS, data=st.data(), visible=VISIBLE)
    def truncate(self, rid: int, data: st.DataObject, visible: Visible) -> None:
        length = self.length(rid)
        self.play("truncate", rid, data.draw(st.integers(min(length, 3) - 4, length + 1)), visible)

    @precondition(lambda self: self.table.requests)
    @rule(data=st.data(), missing=st.sampled_from((0, 0, 0, 1)))
    def publish(self, data: st.DataObject, missing: int) -> None:
        rid = data.draw(st.sampled_from(self.table.requests))
        tokens = (*self.shadow.requests[rid].rows, 1)
        self.play("publish", rid, tokens[: len(tokens) - 2 * missing])

    @rule(rid=REQUESTS, data=st.data(), visible=VISIBLE)
    def adopt(self, rid: int, data: st.DataObject, visible: Visible) -> None:
        chains = [chain for chain, _ in self.shadow.published] or [()]
        tail = data.draw(st.lists(st.integers(0, 1), max_size=3))
        self.play("adopt", rid, (*data.draw(st.sampled_from(chains)), *tail), visible)

    @rule(rid=REQUESTS, new=REQUESTS)
    def fork(self, rid: int, new: int) -> None:
        self.play("fork", rid, new)

    @rule(rid=REQUESTS)
    def release(self, rid: int) -> None:
        self.play("release", rid)


PageTableMachine.TestCase.settings = settings(
    max_examples=150, stateful_step_count=40, deadline=None, derandomize=True
)
TestPageTable = PageTableMachine.TestCase


@pytest.mark.parametrize("seed", range(1, 7))
def test_fixed_sequence_of_400_operations(seed: int) -> None:
    outcomes = play_sequence(
        seed, 400, n_pages=(12, 7, 20)[seed % 3], page_rows=(4, 1, 3)[seed % 3]
    )
    assert sum(outcomes.values()) == 400
    assert {"new", "append", "rows", "trim", "fork", "release", "refused"} <= outcomes.keys()
    assert {"extend", "publish", "hit", "evict", "truncate", "trim_unseen"} <= outcomes.keys()
    assert "copy" in outcomes or seed % 3 == 1  # a page of one row is never half full


def test_pages_come_out_in_order_and_go_back_last_in_first_out() -> None:
    table: PageTable[int] = PageTable(4, 1)
    table.new("a")
    assert [table.append("a", row) for row in range(3)] == [0, 1, 2]
    assert table.trim("a", 2) == [0, 1]
    assert table.free_pages == [1, 0, 3]
    assert table.append("a", 3) == 1
    assert table.peak_pages == 3


def test_a_new_table_has_counted_nothing() -> None:
    table: PageTable[int] = PageTable(2, 3)
    assert (table.peak_pages, table.copies, table.pages_in_use) == (0, 0, 0)
    assert [table.owners(page) for page in range(2)] == [0, 0]
    table.new("a")
    assert (table.length("a"), table.dropped("a"), table.table("a")) == (0, 0, [])
    table.append("a", 1)
    assert (table.peak_pages, table.owners(0), table.owners(1)) == (1, 1, 0)


def filled() -> PageTable[int]:
    """Request "a" with 10 rows in pages of 4, the first page released; "b" empty; pool of 3."""
    table: PageTable[int] = PageTable(3, 4)
    table.new("a")
    table.new("b")
    for row in range(10):
        table.append("a", row)
    table.trim("a", 5)
    table.append("b", 0)
    return table


BAD_USES: list[tuple[str, type[PagingError], str, Callable[[PageTable[int]], object]]] = [
    ("append unknown", UnknownRequest, "'zz'", lambda t: t.append("zz", 1)),
    ("rows unknown", UnknownRequest, "'zz'", lambda t: t.rows("zz", 0, 0)),
    ("trim unknown", UnknownRequest, "'zz'", lambda t: t.trim("zz", 0)),
    ("release unknown", UnknownRequest, "'zz'", lambda t: t.release("zz")),
    ("fork unknown", UnknownRequest, "'zz'", lambda t: t.fork("zz", "c")),
    ("table unknown", UnknownRequest, "'zz'", lambda t: t.table("zz")),
    ("new duplicate", DuplicateRequest, "'b'", lambda t: t.new("b")),
    ("fork onto duplicate", DuplicateRequest, "'b'", lambda t: t.fork("a", "b")),
    ("fork onto itself", DuplicateRequest, "'a'", lambda t: t.fork("a", "a")),
    ("lo above hi", BadRange, "9..8", lambda t: t.rows("a", 9, 8)),
    ("hi beyond length", BadRange, "8..11", lambda t: t.rows("a", 8, 11)),
    ("negative lo", BadRange, "-1..2", lambda t: t.rows("a", -1, 2)),
    ("released rows", ReleasedRows, "row 3", lambda t: t.rows("a", 3, 8)),
    ("trim beyond length", BadRange, "11", lambda t: t.trim("a", 11)),
    ("append, trim beyond length", BadRange, "12", lambda t: t.append("a", 1, keep_from=12)),
]


@pytest.mark.parametrize(
    ("error", "value", "call"),
    [pytest.param(*use[1:], id=use[0]) for use in BAD_USES],
)
def test_bad_use_names_the_value_and_changes_nothing(
    error: type[PagingError], value: str, call: Callable[[PageTable[int]], object]
) -> None:
    table = filled()
    before = observed(table)
    with pytest.raises(error) as caught:
        call(table)
    assert value in str(caught.value)
    assert observed(table) == before
    assert table.rows("a", 4, 10) == list(range(4, 10))


def test_none_is_no_row() -> None:
    table: PageTable[int | None] = PageTable(1, 1)
    table.new("a")
    with pytest.raises(ParameterError, match="row = None"):
        table.append("a", None)
    assert (table.length("a"), table.pages_in_use) == (0, 0)


def test_append_can_trim_in_the_same_step() -> None:
    table, twice = filled(), filled()
    assert table.append("a", 10, keep_from=8) == twice.append("a", 10)
    twice.trim("a", 8)
    assert observed(table) == observed(twice)
    assert table.peak_pages == 3


def shared_pages(more: int) -> PageTable[int]:
    """Pool of 6: "a" and "c" share a half-full page, unless "c" has copied it for ``more`` rows."""
    table: PageTable[int] = PageTable(6, 4)
    table.new("a")
    for row in range(10):
        table.append("a", row)
    table.fork("a", "c")
    table.trim("a", 5)
    for row in range(more):
        table.append("c", row)
    return table


OPERATIONS: list[tuple[int, Callable[[PageTable[int]], object]]] = [
    (0, lambda t: t.new("b")),
    (0, lambda t: t.append("c", 10)),  # copies a page
    (1, lambda t: t.append("c", 10)),
    (2, lambda t: t.append("c", 10)),  # takes a page
    (2, lambda t: t.append("c", 10, keep_from=9)),
    (0, lambda t: t.trim("a", 9)),
    (0, lambda t: t.trim("c", 8)),
    (0, lambda t: t.fork("a", "b")),
    (0, lambda t: t.release("a")),
    (1, lambda t: t.release("c")),
    (0, lambda t: t.extend("c", [10, 11, 12, 13])),
    (0, lambda t: t.truncate("c", 8)),
    (2, lambda t: t.trim_unseen("c", Visible(3))),
    (2, lambda t: t.publish("c", range(12))),
]


OWN_CODE = {
    method.__code__.co_filename for method in (PageTable.append, page_pool.PoolState.append)
}


def states(
    table: PageTable[int], call: Callable[[PageTable[int]], object], stop: int | None = None
) -> Any:
    """State before each bytecode of the page table's own code, then what is left at the end.

    With ``stop`` the call is interrupted before the bytecode of that number, as by Ctrl-C, and only
    what is left is looked at.
    """
    seen: list[object] = []

    def trace(frame: FrameType, event: str, _: object) -> Any:
        if frame.f_code.co_filename not in OWN_CODE:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            if len(seen) == stop:
                raise KeyboardInterrupt
            sys.settrace(None)
            seen.append(content(table) if stop is None else None)
            sys.settrace(trace)
        return trace

    previous = sys.gettrace()
    sys.settrace(trace)
    try:
        call(table)
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(previous)
    return [*seen, content(table)]


def content(table: PageTable[int]) -> object:
    """What a caller can see, and every row."""
    kept = {rid: min(table.pages(rid), default=0) * table.page_rows for rid in table.requests}
    rows = [table.rows(rid, first, max(first, table.length(rid))) for rid, first in kept.items()]
    return observed(table), rows, table.hit_pages(range(13))


@pytest.mark.parametrize(("more", "call"), OPERATIONS)
def test_an_interrupt_leaves_the_state_before_or_after(
    more: int, call: Callable[[PageTable[int]], object]
) -> None:
    table = shared_pages(more)
    before = content(table)
    call(table)
    after = content(table)
    undisturbed = states(shared_pages(more), call)
    assert [state for state, _ in itertools.groupby(undisturbed)] == [before, after]
    assert len(undisturbed) > 30
    for stop in range(len(undisturbed) - 1):
        left = states(shared_pages(more), call, stop)[-1]
        assert left == undisturbed[stop], f"interrupted before bytecode {stop}"


def test_exhaustion_by_a_new_page_changes_nothing() -> None:
    table = filled()
    for row in range(10, 12):
        table.append("a", row)
    before = observed(table)
    with pytest.raises(OutOfPages, match=r"'a'.*all 3"):
        table.append("a", 12)
    assert observed(table) == before


def test_exhaustion_by_a_copy_changes_nothing() -> None:
    table = filled()
    table.fork("a", "c")
    before = observed(table)
    with pytest.raises(OutOfPages, match=r"'c'.*all 3"):
        table.append("c", 99)
    assert observed(table) == before
    assert table.rows("a", 4, 10) == table.rows("c", 4, 10) == list(range(4, 10))
    table.release("b")
    table.append("c", 99)  # now there is room for the copy
    assert table.copies == 1
    assert table.rows("c", 8, 11) == [8, 9, 99]
    assert table.rows("a", 8, 10) == [8, 9]


@pytest.mark.parametrize("size", [0, -1, 2.0, True])
def test_page_size_and_pool_are_at_least_one(size: int) -> None:
    with pytest.raises(ParameterError, match=f"page size = {size!r}.*at least 1"):
        PageTable(4, size)
    with pytest.raises(ParameterError, match=f"pool = {size!r}.*at least 1"):
        PageTable(size, 4)


def test_an_empty_range_is_no_rows_even_where_rows_are_released() -> None:
    assert filled().rows("a", 2, 2) == []


class Datum:
    """A row that can be watched."""


def test_a_page_nobody_holds_keeps_no_row_alive() -> None:
    table: PageTable[Datum] = PageTable(2, 2)
    table.new("a")
    row = Datum()
    table.append("a", row)
    table.fork("a", "b")
    alive = weakref.ref(row)
    del row
    table.release("a")
    assert alive() is not None
    table.release("b")
    assert alive() is None


def test_a_row_that_is_not_in_its_page_is_an_error_and_no_value() -> None:
    table = filled()
    table._state.slots[table.table("a")[0]][1] = None  # no call does this
    with pytest.raises(ReleasedRows, match="row 5 of request 'a'"):
        table.rows("a", 4, 10)


# -- windows with sinks ---------------------------------------------------------------------------

SERVING = json.loads((Path(__file__).parents[1] / "golden/serving.json").read_text())


def test_visible_rows_are_those_recorded() -> None:
    assert len(SERVING["visible"]) == 72
    for entry in SERVING["visible"]:
        visible = Visible(entry["window"], entry["sinks"])
        assert visible.rows(entry["query"]) == entry["rows"], entry
        assert visible.context(entry["query"]) == len(entry["rows"]), entry


@pytest.mark.parametrize(
    "entry", SERVING["pages"], ids=lambda e: "-".join(map(str, list(e.values())[:3]))
)
def test_pages_kept_are_those_recorded(entry: dict[str, Any]) -> None:
    """The formula and the table agree with the recorded counts after every row."""
    visible, page_rows = Visible(entry["window"], entry["sinks"]), entry["page_rows"]
    table: PageTable[int] = PageTable(33, page_rows)
    table.new("a")
    counts = []
    for length in range(33):
        counts.append(table.pages_in_use)
        assert list(table.pages("a")) == visible.pages(length, page_rows)
        for row in visible.rows(length)[:-1]:
            assert table.rows("a", row, row + 1) == [row]
        if length < 32:
            table.append("a", length)
            table.trim_unseen("a", visible)
    assert counts == entry["counts"]
    assert list(table.pages("a")) == entry["logical_at_32"]


@pytest.mark.parametrize(
    ("window", "sinks", "message"),
    [
        (None, 1, "sinks = 1 .*without a window"),
        (None, -1, "sinks = -1 .*without a window"),
        (4, 4, r"sinks = 4 .*0\.\.3"),
        (4, -1, r"sinks = -1 .*0\.\.3"),
        (0, 0, "window = 0 .*at least 1"),
        (True, 0, "window = True"),
    ],
)
def test_bad_windows_are_named(window: int | None, sinks: int, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Visible(window, sinks)


@pytest.mark.parametrize("method", [Visible.rows, Visible.context, Visible.keep_from])
def test_there_is_no_position_below_zero(method: Callable[[Visible, int], object]) -> None:
    for visible in (EVERYTHING, Visible(4, 2)):
        with pytest.raises(ParameterError, match=r"= -1 .*at least 0"):
            method(visible, -1)


# -- rolling back ---------------------------------------------------------------------------------


def trimmed() -> PageTable[int]:
    """Ten rows in pages of 4, trimmed to what a window of 4 sees."""
    table: PageTable[int] = PageTable(4, 4)
    table.new("a")
    for row in range(10):
        table.append("a", row)
    table.trim_unseen("a", Visible(4))
    return table


def test_truncate_gives_pages_back_and_refuses_what_is_gone() -> None:
    table = trimmed()
    before = content(table)
    with pytest.raises(ReleasedRows, match="row 3 of request 'a'"):
        table.truncate("a", 6, Visible(4))
    for length in (-1, 11):
        with pytest.raises(BadRange, match=f"of length 10 to {length}"):
            table.truncate("a", length, Visible(4))
    with pytest.raises(UnknownRequest, match="'zz'"):
        table.truncate("zz", 0)
    assert content(table) == before
    assert table.truncate("a", 10, Visible(4)) == []
    assert table.truncate("a", 7, Visible(4)) == [2]
    assert (table.pages("a"), table.length("a"), table.pages_in_use) == ({1: 1}, 7, 1)
    assert table.append("a", 77) == 1
    assert table.rows("a", 4, 8) == [4, 5, 6, 77]


def test_a_truncated_page_that_is_shared_is_copied_on_the_next_append() -> None:
    table = trimmed()
    table.fork("a", "b")
    assert table.truncate("b", 9, Visible(4)) == []
    assert table.pages_needed("b", 1) == 1
    assert table.extend("b", [99]) == Extension((Slot(0, 1),), (Copy(2, 0, 1),))
    assert table.rows("a", 8, 10) == [8, 9]
    assert table.rows("b", 8, 10) == [8, 99]


def test_a_row_that_no_query_needs_may_be_gone_below_the_length() -> None:
    """A window of 1 sees no earlier row: the page of the next one may have to be taken again."""
    table: PageTable[int] = PageTable(2, 4)
    table.new("a")
    table.extend("a", [0, 1, 2, 3])
    assert table.trim_unseen("a", Visible(1)) == [0]
    assert table.truncate("a", 2, Visible(1)) == []
    assert (table.pages("a"), table.pages_needed("a", 2), table.pages_needed("a", 3)) == ({}, 1, 2)
    assert table.extend("a", [22, 33]).slots == (Slot(0, 2), Slot(0, 3))
    assert table.rows("a", 2, 4) == [22, 33]
    with pytest.raises(ReleasedRows, match="row 1 of"):
        table.rows("a", 1, 4)
    table.publish("a", [0, 1, 22, 33])  # a page that lacks rows is nobody's prefix
    assert table.hit_pages([0, 1, 22, 33, 4]) == []


# -- many rows, known by their tokens -------------------------------------------------------------


def test_extend_stores_all_rows_or_none() -> None:
    table = trimmed()
    before = content(table)
    with pytest.raises(OutOfPages, match=r"'a'.*all 4"):
        table.extend("a", range(14))
    with pytest.raises(ParameterError, match=r"rows = 0 .*at least 1"):
        table.extend("a", [])
    with pytest.raises(ParameterError, match="row = None"):
        table.extend("a", [1, None])  # type: ignore[list-item]
    with pytest.raises(ParameterError, match=r"rows = 0 .*at least 1"):
        table.pages_needed("a", 0)
    assert content(table) == before
    assert [table.pages_needed("a", count) for count in (1, 2, 3, 6, 7)] == [0, 0, 1, 1, 2]
    slots = table.extend("a", range(10, 14)).slots
    assert slots == (Slot(2, 2), Slot(2, 3), Slot(0, 0), Slot(0, 1))


def published(*prompts: list[int], pool: int = 6) -> PageTable[int]:
    """Pages of 2 rows, filled by requests 0, 1, ... with these tokens, published and released."""
    table: PageTable[int] = PageTable(pool, 2)
    for rid, tokens in enumerate(prompts):
        table.adopt(rid, tokens)
        table.extend(rid, tokens[table.length(rid) :])
        table.publish(rid, tokens)
        table.release(rid)
    return table


def test_a_prompt_hits_the_full_pages_before_its_last_token() -> None:
    table = published([1, 2, 3, 4, 5])
    assert (table.pages_in_use, table.cached_pages, table.available) == (0, [1, 0], 6)
    assert table.free_pages == [2, 3, 4, 5]
    for tokens, hit in (([1, 2], 0), ([1, 2, 3], 1), ([1, 2, 3, 4], 1), ([1, 2, 3, 4, 9], 2)):
        assert len(table.hit_pages(tokens)) == hit, tokens
    assert table.hit_pages([2, 2, 3, 4, 5]) == []
    assert table.adopt("b", [1, 2, 3, 4, 9]) == 4
    assert (table.pages("b"), table.rows("b", 0, 4)) == ({0: 0, 1: 1}, [1, 2, 3, 4])
    assert table.adopt("c", [1, 2, 3]) == 2
    assert (table.owners(0), table.pages_in_use, table.peak_pages) == (2, 2, 3)
    with pytest.raises(DuplicateRequest, match="'b'"):
        table.adopt("b", [1, 2, 3])


def test_a_hit_holds_only_what_is_visible() -> None:
    table = published([1, 2, 3, 4, 5, 6, 7], pool=8)
    assert table.adopt("b", [1, 2, 3, 4, 5, 6, 9], Visible(3, 1)) == 6
    assert (table.pages("b"), table.dropped("b"), table.cached_pages) == ({0: 0, 2: 2}, 1, [1])


def test_the_least_recently_used_chain_goes_first_and_its_end_before_its_beginning() -> None:
    table = published([1, 2, 3, 4], [5, 6, 7, 8], [1, 2, 0, 0])
    # pages 0, 1: 12 34; 2, 3: 56 78; 4: 12 00; the use of 12 00 was one of 12, too
    assert table.cached_pages == [1, 3, 2, 4, 0]
    table.new("b")
    taken = [table.append("b", row) for row in range(12)][::2]
    assert taken == [5, 1, 3, 2, 4, 0]
    assert table.evictions == 5
    with pytest.raises(OutOfPages):
        table.append("b", 12)


def test_only_a_chain_that_is_there_from_its_beginning_counts() -> None:
    table = published([1, 2, 3, 4], pool=3)
    table.adopt("b", [1, 2, 3, 4, 5])
    table.trim_unseen("b", Visible(2))  # its first page is only cached
    table.new("c")
    assert [table.append("c", row) for row in range(4)] == [2, 2, 0, 0]
    assert table.hit_pages([1, 2, 3, 4, 5]) == []
    table.release("c")
    table.adopt("d", [1, 2, 3])
    table.extend("d", [1, 2])
    table.publish("d", [1, 2])
    assert len(table.hit_pages([1, 2, 3, 4, 5])) == 2  # the end is still held by "b"


def test_of_two_pages_with_one_chain_one_is_kept() -> None:
    table: PageTable[int] = PageTable(4, 2)
    for rid in ("a", "b"):
        table.new(rid)
        table.extend(rid, [1, 2])
    table.publish("a", [1, 2])
    table.publish("b", [1, 2])
    assert table.hit_pages([1, 2, 3]) == [0]
    table.release("a")
    assert (table.free_pages[0], table.cached_pages, table.hit_pages([1, 2, 3])) == (0, [], [1])
    table.new("c")
    table.extend("c", [1, 2])
    table.release("b")
    assert table.cached_pages == [1]
    table.publish("c", [1, 2])  # the cached one is not needed any more
    assert (table.cached_pages, table.hit_pages([1, 2, 3])) == ([], [0])
    assert table.free_pages == [1, 2, 3]


def test_whichever_of_two_pages_was_published_first_may_go_first() -> None:
    table: PageTable[int] = PageTable(4, 2)
    for rid in ("a", "b"):
        table.new(rid)
        table.extend(rid, [1, 2])
    table.publish("b", [1, 2])
    table.publish("a", [1, 2])
    assert table.hit_pages([1, 2, 3]) == [1]
    table.release("b")
    assert table.hit_pages([1, 2, 3]) == [0]


def test_what_is_handed_out_cannot_be_changed() -> None:
    extension = filled().extend("b", [1])
    for thing, name in ((extension, "slots"), (Visible(4), "window"), (BlockTable(), "length")):
        with pytest.raises(FrozenInstanceError):
            setattr(thing, name, None)


def test_a_page_that_is_written_again_is_not_found_any_more() -> None:
    table: PageTable[int] = PageTable(4, 2)
    table.new("a")
    table.extend("a", [1, 2, 3, 4])
    table.publish("a", [1, 2, 3, 4, 5])
    table.truncate("a", 3)
    assert len(table.hit_pages([1, 2, 3, 4, 5])) == 2  # it still holds what it held
    table.append("a", 9)
    assert len(table.hit_pages([1, 2, 3, 4, 5])) == 1
    table.publish("a", [1, 2, 3, 9])
    assert len(table.hit_pages([1, 2, 3, 9, 5])) == 2
    with pytest.raises(BadRange, match="3 tokens for request 'a' of length 4"):
        table.publish("a", [1, 2, 3])
    with pytest.raises(UnknownRequest, match="'zz'"):
        table.publish("zz", [])
    with pytest.raises(UnknownRequest, match="'zz'"):
        table.trim_unseen("zz", EVERYTHING)
