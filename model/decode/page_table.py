"""Paged KV cache: block tables over a shared pool of pages, with copy-on-write sharing.

A page holds ``page_rows`` rows; a row is whatever the host stores for one token. A request owns a
block table: its pages in logical order, of which some may be released, and its length in rows.
Pages come from a LIFO free list that hands out page 0 first, then 1, 2, ...; when it is empty, from
the pages that are only cached for requests with the same tokens (see page_pool).

Every operation prepares a new state and then puts it in place by one assignment, so that whatever
interrupts it (an error, Ctrl-C) leaves the state before it or the state after it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Generic

from model.decode.page_pool import (
    BadRange,
    BlockTable,
    Copy,
    DuplicateRequest,
    OutOfPages,
    PagingError,
    PoolState,
    ReleasedRows,
    RequestId,
    Row,
    Slot,
    UnknownRequest,
)
from model.decode.visible import EVERYTHING, Visible
from model.errors import ParameterError, check_int

__all__ = [
    "BadRange",
    "Copy",
    "DuplicateRequest",
    "Extension",
    "OutOfPages",
    "PageTable",
    "PagingError",
    "ReleasedRows",
    "RequestId",
    "Slot",
    "UnknownRequest",
]


@dataclass(frozen=True)
class Extension:
    """Where appended rows go, in order, and the copies to be made first."""

    slots: tuple[Slot, ...]
    copies: tuple[Copy, ...]


class PageTable(Generic[Row]):
    """A pool of ``n_pages`` pages of ``page_rows`` rows each, shared by any number of requests."""

    def __init__(self, n_pages: int, page_rows: int) -> None:
        """Raise ParameterError for a pool or a page size below 1."""
        self.n_pages = check_int("pool", n_pages, 1)
        self.page_rows = check_int("page size", page_rows, 1)
        self._state: PoolState[Row] = PoolState(
            page_rows,
            free=list(range(n_pages - 1, -1, -1)),
            owners=[0] * n_pages,
            slots=[[None] * page_rows for _ in range(n_pages)],
            tables={},
            chains={},
            published={},
            used={},
        )

    # -- what the outside may look at ------------------------------------------------------------

    @property
    def free_pages(self) -> list[int]:
        """Free pages, the next one to be handed out first."""
        return self._state.free[::-1]

    @property
    def cached_pages(self) -> list[int]:
        """Published pages that nobody holds, the next one to be evicted first."""
        return self._state.cached()

    @property
    def available(self) -> int:
        """Pages that requests may still take: free and cached ones."""
        return self.n_pages - self.pages_in_use

    @property
    def pages_in_use(self) -> int:
        """Pages that at least one request holds."""
        return self._state.in_use

    @property
    def peak_pages(self) -> int:
        """Most pages that were ever in use."""
        return self._state.peak_pages

    @property
    def copies(self) -> int:
        """Copy-on-write copies made so far."""
        return self._state.copies

    @property
    def evictions(self) -> int:
        """Cached pages given away so far."""
        return self._state.evictions

    @property
    def requests(self) -> list[RequestId]:
        """Ids of the live requests, oldest first."""
        return list(self._state.tables)

    def owners(self, page: int) -> int:
        """How many requests hold this page."""
        return self._state.owners[page]

    def table(self, rid: RequestId) -> list[int]:
        """Physical pages of a request in logical order, without the released ones."""
        return list(self.pages(rid).values())

    def pages(self, rid: RequestId) -> dict[int, int]:
        """Physical page by logical page, ascending, without the released ones."""
        return self._state.get(rid).held

    def length(self, rid: RequestId) -> int:
        """Rows appended to a request so far, released ones included."""
        return self._state.get(rid).length

    def dropped(self, rid: RequestId) -> int:
        """Pages of a request that are released."""
        return self._state.get(rid).pages.count(None)

    def hit_pages(self, tokens: Sequence[Hashable]) -> list[int]:
        """Pages that adopt() would find for these tokens, from the first."""
        return self._state.find(tokens)

    def pages_needed(self, rid: RequestId, count: int) -> int:
        """Pages that extend() by ``count`` rows would take, a copy included.

        Raises UnknownRequest, or ParameterError for a count below 1.
        """
        state, rows = self._state, check_int("rows", count, 1)
        table = state.get(rid)
        whole = -(-(table.length + rows) // self.page_rows) - len(table.pages)
        if table.length % self.page_rows == 0:
            return whole
        last = table.pages[-1]
        return whole + int(last is None or state.owners[last] > 1)

    # -- operations ------------------------------------------------------------------------------

    def new(self, rid: RequestId) -> None:
        """Start a request with an empty table. Raises DuplicateRequest."""
        state = self._state.draft()
        state.check_absent(rid)
        state.tables[rid] = BlockTable()
        self._state = state

    def adopt(
        self, rid: RequestId, tokens: Sequence[Hashable], visible: Visible = EVERYTHING
    ) -> int:
        """Start a request on the published pages of its first tokens; return its length in rows.

        That is the longest chain of full pages of which all are held or cached, short of the last
        token; 0 when there is none. The request holds those that are still visible. Raises
        DuplicateRequest.
        """
        state = self._state.draft()
        length = state.adopt(rid, tokens, visible)
        self._state = state
        return length

    def append(self, rid: RequestId, row: Row, keep_from: int = 0) -> int:
        """Store one more row and return the physical page that took it.

        With ``keep_from`` it also trims (see trim), in the same step. Raises UnknownRequest,
        OutOfPages, BadRange, or ParameterError for a row that is None.
        """
        if row is None:
            raise ParameterError("row", row, "a value: None is what an empty place holds")
        state = self._state.draft()
        slot, _ = state.append(rid, row)
        state.trim(rid, keep_from)
        self._state = state
        return slot.page

    def extend(self, rid: RequestId, rows: Sequence[Row]) -> Extension:
        """Store more rows, all or none, and return where they go.

        Who keeps the rows elsewhere makes the copies there first, in the order of the calls. Raises
        UnknownRequest, OutOfPages, or ParameterError for no row or a row that is None.
        """
        check_int("rows", len(rows), 1)
        if any(row is None for row in rows):
            raise ParameterError("row", None, "a value: None is what an empty place holds")
        state = self._state.draft()
        placed = [state.append(rid, row) for row in rows]
        self._state = state
        return Extension(
            tuple(slot for slot, _ in placed), tuple(copy for _, copy in placed if copy is not None)
        )

    def publish(self, rid: RequestId, tokens: Sequence[Hashable]) -> None:
        """Let later requests find every full page that this one holds.

        ``tokens`` are those of its rows from the first; what goes beyond its length is ignored.
        Raises UnknownRequest, or BadRange for fewer tokens than rows.
        """
        state = self._state.draft()
        state.publish(rid, tokens)
        self._state = state

    def rows(self, rid: RequestId, lo: int, hi: int) -> list[Row]:
        """Gather the logical rows lo..hi-1 through the block table.

        Raises UnknownRequest, BadRange, or ReleasedRows when a row's page is gone.
        """
        state = self._state
        length = state.get(rid).length
        if not 0 <= lo <= hi <= length:
            raise BadRange(f"rows {lo}..{hi} of request {rid!r}, which has rows 0..{length}")
        return [state.read(rid, index) for index in range(lo, hi)]

    def trim(self, rid: RequestId, keep_from: int) -> list[int]:
        """Release, from the front, the pages entirely below row ``keep_from``; return those pages.

        A keep_from of zero or less releases nothing. Raises UnknownRequest, or BadRange beyond the
        length (that would release the page the next row goes to).
        """
        state = self._state.draft()
        released = state.trim(rid, keep_from)
        self._state = state
        return released

    def trim_unseen(self, rid: RequestId, visible: Visible) -> list[int]:
        """Release the pages that neither the next query nor a later one sees; return them.

        A page before them stays when it holds a sink. Raises UnknownRequest.
        """
        state = self._state.draft()
        table = state.get(rid)
        kept = visible.pages(table.length, self.page_rows)
        released = state.give_up(rid, [n for n in table.held if n not in kept])
        self._state = state
        return released

    def truncate(self, rid: RequestId, length: int, visible: Visible = EVERYTHING) -> list[int]:
        """Roll a request back to ``length`` rows; return the pages that hold none of them.

        Raises UnknownRequest, BadRange (a negative length, or one beyond the request's), or
        ReleasedRows when a row that query ``length`` would see is gone.
        """
        state = self._state.draft()
        released = state.truncate(rid, length, visible)
        self._state = state
        return released

    def fork(self, src: RequestId, dst: RequestId) -> None:
        """Start request ``dst`` on ``src``'s pages. Raises UnknownRequest, DuplicateRequest."""
        state = self._state.draft()
        source = state.get(src)
        state.check_absent(dst)
        for page in source.held.values():
            state.hold(page)
        state.tables[dst] = source
        self._state = state

    def release(self, rid: RequestId) -> None:
        """End a request; a page nobody else holds is cached or free. Raises UnknownRequest."""
        state = self._state.draft()
        for page in state.get(rid).held.values():
            state.drop(page)
        del state.tables[rid]
        self._state = state
