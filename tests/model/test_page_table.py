"""The page table against a naive shadow of it, and its errors."""

from __future__ import annotations

import inspect
import itertools
import sys
import weakref
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from model.checks.paging_shadow import Operation, ShadowCache, observed, play, play_sequence
from model.decode.page_table import (
    BadRange,
    DuplicateRequest,
    OutOfPages,
    PageTable,
    PagingError,
    ReleasedRows,
    UnknownRequest,
)
from model.errors import ParameterError

REQUESTS = st.integers(0, 4)


class PageTableMachine(RuleBasedStateMachine):
    """Every call goes to the table and to its shadow; play() compares all state after each."""

    @initialize(n_pages=st.integers(1, 10), page_rows=st.integers(1, 5))
    def start(self, n_pages: int, page_rows: int) -> None:
        self.table: PageTable[int] = PageTable(n_pages, page_rows)
        self.shadow = ShadowCache(n_pages, page_rows)
        self.row = 0

    def play(self, name: str, rid: int, *args: int) -> None:
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
]


def states(table: PageTable[int], call: Callable[[PageTable[int]], object], stop: int) -> Any:
    """State before each bytecode of the page table's own code, then what is left at the end.

    The call is interrupted, as by Ctrl-C, before bytecode number ``stop``, if there are so many.
    """
    seen: list[object] = []

    def trace(frame: FrameType, event: str, _: object) -> Any:
        if frame.f_code.co_filename != inspect.getfile(PageTable):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            if len(seen) == stop:
                raise KeyboardInterrupt
            sys.settrace(None)
            seen.append(content(table))
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
    kept = {rid: table.dropped(rid) * table.page_rows for rid in table.requests}
    return observed(table), [table.rows(rid, kept[rid], table.length(rid)) for rid in kept]


@pytest.mark.parametrize(("more", "call"), OPERATIONS)
def test_an_interrupt_leaves_the_state_before_or_after(
    more: int, call: Callable[[PageTable[int]], object]
) -> None:
    table = shared_pages(more)
    before = content(table)
    call(table)
    after = content(table)
    undisturbed = states(shared_pages(more), call, stop=10**6)
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
    with pytest.raises(AssertionError, match="row 5 of request 'a'"):
        table.rows("a", 4, 10)
