"""Paged KV cache: block tables over a shared pool of pages, with copy-on-write sharing.

A page holds ``page_rows`` rows; a row is whatever the host stores for one token. A request owns a
block table: its pages in logical order, its length in rows, and how many leading pages it has
already dropped. Pages come from a LIFO free list that hands out page 0 first, then 1, 2, ...

Every operation prepares a new state and then puts it in place by one assignment, so that whatever
interrupts it (an error, Ctrl-C) leaves the state before it or the state after it.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from model.errors import ModelError, ParameterError, check_int

Row = TypeVar("Row")
RequestId = Hashable


class PagingError(ModelError):
    """Bad use of the page table; nothing has changed when it is raised."""


class UnknownRequest(PagingError, KeyError):  # noqa: N818 - reads as a condition, not a fault
    """No request with this id."""

    __str__ = Exception.__str__  # KeyError would show the repr of the message


class DuplicateRequest(PagingError):  # noqa: N818
    """A request with this id exists already."""


class BadRange(PagingError, ValueError):  # noqa: N818
    """A row range that is negative, reversed or beyond the request's length."""


class ReleasedRows(PagingError):  # noqa: N818
    """Rows whose page was released by trim(): they are gone, not data."""


class OutOfPages(PagingError):  # noqa: N818
    """The pool has no free page; the append that needed one has not happened."""


@dataclass(frozen=True)
class BlockTable:
    """One request: physical pages in logical order, rows appended so far, leading pages gone."""

    pages: tuple[int, ...] = ()
    length: int = 0
    dropped: int = 0


@dataclass
class _State(Generic[Row]):
    """All that a page table holds; a draft is changed only until it is put in place."""

    page_rows: int
    free: list[int]  # a stack: its last entry is next
    owners: list[int]
    slots: list[list[Row | None]]  # by page; a list in here is replaced, never written into
    tables: dict[RequestId, BlockTable]
    peak_pages: int = 0
    copies: int = 0

    @property
    def pages_in_use(self) -> int:
        return len(self.owners) - len(self.free)

    def draft(self) -> _State[Row]:
        """A copy that can be changed without a trace in this one."""
        return replace(
            self,
            free=self.free.copy(),
            owners=self.owners.copy(),
            slots=self.slots.copy(),
            tables=self.tables.copy(),
        )

    def get(self, rid: RequestId) -> BlockTable:
        if rid not in self.tables:
            raise UnknownRequest(f"no request {rid!r}; live: {list(self.tables)!r}")
        return self.tables[rid]

    def check_absent(self, rid: RequestId) -> None:
        if rid in self.tables:
            raise DuplicateRequest(f"request {rid!r} exists already")

    def take(self, rid: RequestId) -> int:
        if not self.free:
            raise OutOfPages(f"request {rid!r} needs a page and all {len(self.owners)} are in use")
        page = self.free.pop()
        self.owners[page] = 1
        self.peak_pages = max(self.peak_pages, self.pages_in_use)
        return page

    def drop(self, page: int) -> None:
        self.owners[page] -= 1
        if self.owners[page] == 0:
            self.slots[page] = [None] * self.page_rows  # a released row must never be read again
            self.free.append(page)

    def append(self, rid: RequestId, row: Row) -> int:
        table = self.get(rid)
        offset = table.length % self.page_rows
        pages = table.pages
        if offset == 0:
            page = self.take(rid)
            pages = (*pages, page)
        else:
            page = pages[-1]
            if self.owners[page] > 1:  # someone else reads it: write into a copy of our own
                shared, page = page, self.take(rid)
                self.slots[page] = self.slots[shared]
                self.drop(shared)
                pages = (*pages[:-1], page)
                self.copies += 1
        before, after = self.slots[page][:offset], self.slots[page][offset + 1 :]
        self.slots[page] = [*before, row, *after]
        self.tables[rid] = replace(table, pages=pages, length=table.length + 1)
        return page

    def trim(self, rid: RequestId, keep_from: int) -> list[int]:
        table = self.get(rid)
        if keep_from > table.length:
            raise BadRange(f"trim to row {keep_from} of request {rid!r} of length {table.length}")
        dropped = max(table.dropped, keep_from // self.page_rows)
        released = table.pages[: dropped - table.dropped]
        for page in released:
            self.drop(page)
        pages = table.pages[len(released) :]
        self.tables[rid] = replace(table, pages=pages, dropped=dropped)
        return list(released)


class PageTable(Generic[Row]):
    """A pool of ``n_pages`` pages of ``page_rows`` rows each, shared by any number of requests."""

    def __init__(self, n_pages: int, page_rows: int) -> None:
        """Raise ParameterError for a pool or a page size below 1."""
        self.n_pages = check_int("pool", n_pages, 1)
        self.page_rows = check_int("page size", page_rows, 1)
        self._state: _State[Row] = _State(
            page_rows,
            free=list(range(n_pages - 1, -1, -1)),
            owners=[0] * n_pages,
            slots=[[None] * page_rows for _ in range(n_pages)],
            tables={},
        )

    # -- what the outside may look at ------------------------------------------------------------

    @property
    def free_pages(self) -> list[int]:
        """Free pages, the next one to be handed out first."""
        return self._state.free[::-1]

    @property
    def pages_in_use(self) -> int:
        """Pages that at least one request holds."""
        return self._state.pages_in_use

    @property
    def peak_pages(self) -> int:
        """Most pages that were ever in use."""
        return self._state.peak_pages

    @property
    def copies(self) -> int:
        """Copy-on-write copies made so far."""
        return self._state.copies

    @property
    def requests(self) -> list[RequestId]:
        """Ids of the live requests, oldest first."""
        return list(self._state.tables)

    def owners(self, page: int) -> int:
        """How many requests hold this page."""
        return self._state.owners[page]

    def table(self, rid: RequestId) -> list[int]:
        """Physical pages of a request in logical order, without the dropped ones."""
        return list(self._state.get(rid).pages)

    def length(self, rid: RequestId) -> int:
        """Rows appended to a request so far, released ones included."""
        return self._state.get(rid).length

    def dropped(self, rid: RequestId) -> int:
        """Leading pages that trim() has released."""
        return self._state.get(rid).dropped

    # -- operations ------------------------------------------------------------------------------

    def new(self, rid: RequestId) -> None:
        """Start a request with an empty table. Raises DuplicateRequest."""
        state = self._state.draft()
        state.check_absent(rid)
        state.tables[rid] = BlockTable()
        self._state = state

    def append(self, rid: RequestId, row: Row, keep_from: int = 0) -> int:
        """Store one more row and return the physical page that took it.

        With ``keep_from`` it also trims (see trim), in the same step. Raises UnknownRequest,
        OutOfPages, BadRange, or ParameterError for a row that is None.
        """
        if row is None:
            raise ParameterError("row", row, "a value: None is what an empty place holds")
        state = self._state.draft()
        page = state.append(rid, row)
        state.trim(rid, keep_from)
        self._state = state
        return page

    def rows(self, rid: RequestId, lo: int, hi: int) -> list[Row]:
        """Gather the logical rows lo..hi-1 through the block table.

        Raises UnknownRequest, BadRange, or ReleasedRows when a row's page is gone.
        """
        state = self._state
        table = state.get(rid)
        if not 0 <= lo <= hi <= table.length:
            raise BadRange(f"rows {lo}..{hi} of request {rid!r}, which has rows 0..{table.length}")
        first_kept = table.dropped * self.page_rows
        if lo < hi and lo < first_kept:
            raise ReleasedRows(f"row {lo} of request {rid!r} is released: first kept {first_kept}")
        gathered: list[Row] = []
        for index in range(lo, hi):
            page = table.pages[index // self.page_rows - table.dropped]
            row = state.slots[page][index % self.page_rows]
            if row is None:
                raise AssertionError(f"row {index} of request {rid!r} was never written")
            gathered.append(row)
        return gathered

    def trim(self, rid: RequestId, keep_from: int) -> list[int]:
        """Release, from the front, the pages entirely below row ``keep_from``; return those pages.

        A keep_from of zero or less releases nothing. Raises UnknownRequest, or BadRange beyond the
        length (that would release the page the next row goes to).
        """
        state = self._state.draft()
        released = state.trim(rid, keep_from)
        self._state = state
        return released

    def fork(self, src: RequestId, dst: RequestId) -> None:
        """Start request ``dst`` on ``src``'s pages. Raises UnknownRequest, DuplicateRequest."""
        state = self._state.draft()
        source = state.get(src)
        state.check_absent(dst)
        for page in source.pages:
            state.owners[page] += 1
        state.tables[dst] = source
        self._state = state

    def release(self, rid: RequestId) -> None:
        """End a request; a page nobody else holds becomes free. Raises UnknownRequest."""
        state = self._state.draft()
        for page in state.get(rid).pages:
            state.drop(page)
        del state.tables[rid]
        self._state = state
