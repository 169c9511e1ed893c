"""Paged KV cache: block tables over a shared pool of pages, with copy-on-write sharing.

A page holds `page_rows` rows; a row is whatever the host stores for one token. A request owns a
block table: its pages in logical order, its length in rows, and how many leading pages it has
already dropped. Pages come from a LIFO free list that hands out page 0 first, then 1, 2, ...
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from model.errors import ModelError, check_int

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


@dataclass
class BlockTable:
    """One request: physical pages in logical order, rows appended so far, leading pages gone."""

    pages: list[int] = field(default_factory=list)
    length: int = 0
    dropped: int = 0


class PageTable(Generic[Row]):
    """A pool of `n_pages` pages of `page_rows` rows each, shared by any number of requests."""

    def __init__(self, n_pages: int, page_rows: int) -> None:
        """Raise ParameterError for a pool or a page size below 1."""
        self.n_pages = check_int("pool", n_pages, 1)
        self.page_rows = check_int("page size", page_rows, 1)
        self.peak_pages = 0
        self.copies = 0  # copy-on-write copies made so far
        self._free = list(range(n_pages - 1, -1, -1))  # a stack: its last entry is next
        self._owners = [0] * n_pages
        self._slots: list[list[Row | None]] = [[None] * page_rows for _ in range(n_pages)]
        self._tables: dict[RequestId, BlockTable] = {}

    # -- what the outside may look at ------------------------------------------------------------

    @property
    def free_pages(self) -> list[int]:
        """Free pages, the next one to be handed out first."""
        return self._free[::-1]

    @property
    def pages_in_use(self) -> int:
        """Pages that at least one request holds."""
        return self.n_pages - len(self._free)

    @property
    def requests(self) -> list[RequestId]:
        """Ids of the live requests, oldest first."""
        return list(self._tables)

    def owners(self, page: int) -> int:
        """How many requests hold this page."""
        return self._owners[page]

    def table(self, rid: RequestId) -> list[int]:
        """Physical pages of a request in logical order, without the dropped ones."""
        return list(self._get(rid).pages)

    def length(self, rid: RequestId) -> int:
        """Rows appended to a request so far, released ones included."""
        return self._get(rid).length

    def dropped(self, rid: RequestId) -> int:
        """Leading pages that trim() has released."""
        return self._get(rid).dropped

    # -- operations ------------------------------------------------------------------------------

    def new(self, rid: RequestId) -> None:
        """Start a request with an empty table. Raises DuplicateRequest."""
        self._check_absent(rid)
        self._tables[rid] = BlockTable()

    def append(self, rid: RequestId, row: Row) -> int:
        """Store one more row and return the physical page that took it.

        Raises UnknownRequest, or OutOfPages with nothing changed.
        """
        table = self._get(rid)
        offset = table.length % self.page_rows
        if offset == 0:
            page = self._take(rid)
            table.pages.append(page)
        else:
            page = table.pages[-1]
            if self._owners[page] > 1:  # someone else reads it: write into a copy of our own
                shared, page = page, self._take(rid)
                self._slots[page][:offset] = self._slots[shared][:offset]
                self._drop(shared)
                table.pages[-1] = page
                self.copies += 1
        self._slots[page][offset] = row
        table.length += 1
        return page

    def rows(self, rid: RequestId, lo: int, hi: int) -> list[Row]:
        """Gather the logical rows lo..hi-1 through the block table.

        Raises UnknownRequest, BadRange, or ReleasedRows when a row's page is gone.
        """
        table = self._get(rid)
        if not 0 <= lo <= hi <= table.length:
            raise BadRange(f"rows {lo}..{hi} of request {rid!r}, which has rows 0..{table.length}")
        first_kept = table.dropped * self.page_rows
        if lo < hi and lo < first_kept:
            raise ReleasedRows(f"row {lo} of request {rid!r} is released: first kept {first_kept}")
        gathered: list[Row] = []
        for index in range(lo, hi):
            page = table.pages[index // self.page_rows - table.dropped]
            row = self._slots[page][index % self.page_rows]
            if row is None:
                raise AssertionError(f"row {index} of request {rid!r} was never written")
            gathered.append(row)
        return gathered

    def trim(self, rid: RequestId, keep_from: int) -> list[int]:
        """Release, from the front, the pages entirely below row `keep_from`; return those pages.

        A keep_from of zero or less releases nothing. Raises UnknownRequest, or BadRange beyond the
        length (that would release the page the next row goes to).
        """
        table = self._get(rid)
        if keep_from > table.length:
            raise BadRange(f"trim to row {keep_from} of request {rid!r} of length {table.length}")
        released: list[int] = []
        while (table.dropped + 1) * self.page_rows <= keep_from:
            page = table.pages.pop(0)
            self._drop(page)
            table.dropped += 1
            released.append(page)
        return released

    def fork(self, src: RequestId, dst: RequestId) -> None:
        """Start request `dst` on the pages of `src`. Raises UnknownRequest, DuplicateRequest."""
        source = self._get(src)
        self._check_absent(dst)
        for page in source.pages:
            self._owners[page] += 1
        self._tables[dst] = BlockTable(list(source.pages), source.length, source.dropped)

    def release(self, rid: RequestId) -> None:
        """End a request; a page nobody else holds becomes free. Raises UnknownRequest."""
        table = self._get(rid)
        for page in table.pages:
            self._drop(page)
        del self._tables[rid]

    # -- inside ----------------------------------------------------------------------------------

    def _get(self, rid: RequestId) -> BlockTable:
        if rid not in self._tables:
            raise UnknownRequest(f"no request {rid!r}; live: {list(self._tables)!r}")
        return self._tables[rid]

    def _check_absent(self, rid: RequestId) -> None:
        if rid in self._tables:
            raise DuplicateRequest(f"request {rid!r} exists already")

    def _take(self, rid: RequestId) -> int:
        if not self._free:
            raise OutOfPages(f"request {rid!r} needs a page and all {self.n_pages} are in use")
        page = self._free.pop()
        self._owners[page] = 1
        self.peak_pages = max(self.peak_pages, self.pages_in_use)
        return page

    def _drop(self, page: int) -> None:
        self._owners[page] -= 1
        if self._owners[page] == 0:
            self._slots[page] = [None] * self.page_rows  # a released row must never be read again
            self._free.append(page)
