"""A second, naive account of a paged cache, with the operations of the real one.

The shadow keeps every request's rows in one list, counts owners by looking, and remembers every use
of a chain of tokens for ever, so that there is nothing in it to forget: no reference counts, no
copies, no clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from model.decode.page_table import (
    BadRange,
    Copy,
    DuplicateRequest,
    Extension,
    OutOfPages,
    ReleasedRows,
    Slot,
    UnknownRequest,
)
from model.decode.visible import EVERYTHING, Visible

Tokens = tuple[int, ...]


@dataclass
class ShadowRequest:
    """All rows ever appended, which of them are gone, and the physical page by logical page."""

    rows: list[int] = field(default_factory=list)
    lost: set[int] = field(default_factory=set)
    pages: dict[int, int] = field(default_factory=dict)

    def copy(self) -> ShadowRequest:
        """One that can be changed by itself."""
        return ShadowRequest(list(self.rows), set(self.lost), dict(self.pages))


class ShadowCache:
    """What a page table of ``n_pages`` pages of ``page_rows`` rows should do and look like."""

    def __init__(self, n_pages: int, page_rows: int) -> None:
        self.n_pages = n_pages
        self.page_rows = page_rows
        self.free = list(range(n_pages))  # next one first
        self.requests: dict[int, ShadowRequest] = {}
        self.published: list[tuple[Tokens, int]] = []
        self.uses: list[Tokens] = []

    # -- what it looks like ----------------------------------------------------------------------

    def owners(self, page: int) -> int:
        """Requests that hold the page, counted."""
        return sum(page in request.pages.values() for request in self.requests.values())

    def cached(self) -> list[int]:
        """Published pages without an owner, the next to be evicted first."""

        def last_use(chain: Tokens) -> int:
            return max(n for n, used in enumerate(self.uses) if used[: len(chain)] == chain)

        ages = [
            (last_use(chain), -len(chain), page)
            for chain, page in self.published
            if self.owners(page) == 0
        ]
        return [page for _, _, page in sorted(ages)]

    def find(self, tokens: Sequence[int]) -> list[int]:
        """Pages of the longest chain whose pages are all held or cached, short of the last."""
        found: list[int] = []
        while (end := (len(found) + 1) * self.page_rows) < len(tokens):
            pages = [page for chain, page in self.published if chain == tuple(tokens[:end])]
            if not pages:
                break
            found.append(pages[0])
        return found

    # -- operations, by the names of the page table ----------------------------------------------

    def new(self, rid: int) -> None:
        """Start empty."""
        self._absent(rid)
        self.requests[rid] = ShadowRequest()

    def adopt(self, rid: int, tokens: Tokens, visible: Visible = EVERYTHING) -> int:
        """Start on published pages."""
        self._absent(rid)
        found = self.find(tokens)
        length = len(found) * self.page_rows
        kept = _kept(length, self.page_rows, visible)
        request = ShadowRequest(
            list(tokens[:length]),
            {row for row in range(length) if row // self.page_rows not in kept},
            {number: found[number] for number in sorted(kept)},
        )
        self.requests[rid] = request
        self.uses.append(tokens[:length])
        return length

    def append(self, rid: int, row: int) -> int:
        """Append one row."""
        return self.extend(rid, (row,)).slots[0].page

    def extend(self, rid: int, rows: Tokens) -> Extension:
        """Append rows."""
        request = self._request(rid)
        if self.pages_needed(rid, len(rows)) > len(self.free) + len(self.cached()):
            raise OutOfPages
        slots, copies = [], []
        for row in rows:
            number, offset = divmod(len(request.rows), self.page_rows)
            old = request.pages.get(number)
            if old is None or self.owners(old) > 1:
                request.pages[number] = self._take()
                if old is not None:
                    copies.append(Copy(old, request.pages[number], offset))
                    self._return_unowned([old])
            else:
                self._withdraw(old)
            request.rows.append(row)
            slots.append(Slot(request.pages[number], offset))
        return Extension(tuple(slots), tuple(copies))

    def pages_needed(self, rid: int, count: int) -> int:
        """Pages for so many more rows."""
        request = self._request(rid)
        length = len(request.rows)
        numbers = {row // self.page_rows for row in range(length, length + count)}
        held = {n: page for n, page in request.pages.items() if n in numbers}
        return len(numbers - held.keys()) + sum(self.owners(page) > 1 for page in held.values())

    def publish(self, rid: int, tokens: Tokens) -> None:
        """Let full pages be found."""
        request = self._request(rid)
        if len(tokens) < len(request.rows):
            raise BadRange
        known = [page for _, page in self.published]
        for number, page in sorted(request.pages.items()):
            chain = tokens[: (number + 1) * self.page_rows]
            members = range(number * self.page_rows, (number + 1) * self.page_rows)
            whole = members.stop <= len(request.rows) and not request.lost.intersection(members)
            if whole and page not in known:
                for other_chain, other in list(self.published):
                    if other_chain == chain and self.owners(other) == 0:
                        self._withdraw(other)
                        self.free.insert(0, other)
                self.published.append((chain, page))

    def rows(self, rid: int, lo: int, hi: int) -> list[int]:
        """Look at rows."""
        request = self._request(rid)
        if lo < 0 or hi > len(request.rows) or lo > hi:
            raise BadRange
        if any(row in request.lost for row in range(lo, hi)):
            raise ReleasedRows
        return request.rows[lo:hi]

    def trim(self, rid: int, keep_from: int) -> list[int]:
        """Release pages below a row."""
        request = self._request(rid)
        if keep_from > len(request.rows):
            raise BadRange
        return self._release(
            request, [n for n in request.pages if (n + 1) * self.page_rows <= keep_from]
        )

    def trim_unseen(self, rid: int, visible: Visible) -> list[int]:
        """Release pages that the next query does not see."""
        request = self._request(rid)
        kept = _kept(len(request.rows), self.page_rows, visible)
        return self._release(request, [n for n in request.pages if n not in kept])

    def truncate(self, rid: int, length: int, visible: Visible = EVERYTHING) -> list[int]:
        """Roll back."""
        request = self._request(rid)
        if length < 0 or length > len(request.rows):
            raise BadRange
        if any(_sees(visible, length, row) for row in request.lost if row < length):
            raise ReleasedRows
        del request.rows[length:]
        released = self._release(
            request, [n for n in request.pages if n * self.page_rows >= length]
        )
        request.lost = {row for row in request.lost if row < length}
        return released

    def fork(self, rid: int, new: int) -> None:
        """Start on another's pages."""
        request = self._request(rid)
        self._absent(new)
        self.requests[new] = request.copy()

    def release(self, rid: int) -> None:
        """End."""
        request = self._request(rid)
        del self.requests[rid]
        self._release(request, list(request.pages))

    def _request(self, rid: int) -> ShadowRequest:
        if rid not in self.requests:
            raise UnknownRequest
        return self.requests[rid]

    def _absent(self, rid: int) -> None:
        if rid in self.requests:
            raise DuplicateRequest

    def _take(self) -> int:
        if self.free:
            return self.free.pop(0)
        page = self.cached()[0]
        self._withdraw(page)
        return page

    def _withdraw(self, page: int) -> None:
        self.published = [entry for entry in self.published if entry[1] != page]

    def _release(self, request: ShadowRequest, numbers: Sequence[int]) -> list[int]:
        """Take logical pages from a request and return the physical ones, both in order."""
        gone = [request.pages.pop(number) for number in sorted(numbers)]
        for row in range(len(request.rows)):
            if row // self.page_rows in numbers:
                request.lost.add(row)
        self._return_unowned(gone)
        return gone

    def _return_unowned(self, pages: Sequence[int]) -> None:
        for page in pages:
            if self.owners(page) > 0:
                continue
            chains = [chain for chain, published in self.published if published == page]
            if chains and sum(chain == chains[0] for chain, _ in self.published) == 1:
                self.uses.append(chains[0])
            else:
                self._withdraw(page)
                self.free.insert(0, page)


def _sees(visible: Visible, query: int, row: int) -> bool:
    window, sinks = visible.window, visible.sinks
    return row <= query and (window is None or row > query - (window - sinks) or row < sinks)


def _kept(length: int, page_rows: int, visible: Visible) -> set[int]:
    """Logical pages with a written row that is a sink's, or the next query's or a later one's."""
    window, sinks = visible.window, visible.sinks
    return {
        page
        for page in range(length)
        if page * page_rows < length
        and (
            window is None
            or page * page_rows < sinks
            or (page + 1) * page_rows > length + 1 - (window - sinks)
        )
    }
