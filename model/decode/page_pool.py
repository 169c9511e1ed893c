"""The state behind a page table: owners, free list, block tables, and pages known by their tokens.

A full page may be *published* under its chain, the tokens from the request's first up to the end
of the page. A published page that loses its last owner is *cached*: it keeps its rows and can be
held again, until the pool needs it. No two cached pages have the same chain, and no cached page has
that of a held one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, NamedTuple, TypeVar

from model.decode.visible import Visible
from model.errors import ModelError

Row = TypeVar("Row")
RequestId = Hashable
Chain = tuple[Hashable, ...]


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
    """Rows whose page was released: they are gone, not data."""


class OutOfPages(PagingError):  # noqa: N818
    """The pool has no page left; the rows that needed one are not appended."""


class Slot(NamedTuple):
    """Where one row lies."""

    page: int
    offset: int


class Copy(NamedTuple):
    """A page whose first rows must be copied before the target is written."""

    source: int
    target: int
    rows: int


@dataclass(frozen=True)
class BlockTable:
    """One request: physical pages by logical number (None: released), rows appended so far."""

    pages: tuple[int | None, ...] = ()
    length: int = 0

    @property
    def held(self) -> dict[int, int]:
        """Physical page by logical page, ascending, of those not released."""
        return {number: page for number, page in enumerate(self.pages) if page is not None}


@dataclass
class PoolState(Generic[Row]):
    """All that a page table holds; a draft is changed only until it is put in place."""

    page_rows: int
    free: list[int]  # a stack: its last entry is next
    owners: list[int]
    slots: list[list[Row | None]]  # by page, up to the last row; replaced, never written into
    tables: dict[RequestId, BlockTable]
    chains: dict[int, Chain]  # of published pages
    published: dict[Chain, tuple[int, ...]]  # the same the other way round, first published first
    used: dict[int, int]  # of published pages: clock of the last use of their chain
    clock: int = 0
    in_use: int = 0
    peak_pages: int = 0
    copies: int = 0
    evictions: int = 0

    def draft(self) -> PoolState[Row]:
        """A copy that can be changed without a trace in this one."""
        return replace(
            self,
            free=self.free.copy(),
            owners=self.owners.copy(),
            slots=self.slots.copy(),
            tables=self.tables.copy(),
            chains=self.chains.copy(),
            published=self.published.copy(),
            used=self.used.copy(),
        )

    def get(self, rid: RequestId) -> BlockTable:
        """Return a request's table. Raises UnknownRequest."""
        if rid not in self.tables:
            raise UnknownRequest(f"no request {rid!r}; live: {list(self.tables)!r}")
        return self.tables[rid]

    def check_absent(self, rid: RequestId) -> None:
        """Raise DuplicateRequest for an id that is taken."""
        if rid in self.tables:
            raise DuplicateRequest(f"request {rid!r} exists already")

    # -- pages -----------------------------------------------------------------------------------

    def hold(self, page: int) -> None:
        """Count one more owner."""
        if self.owners[page] == 0:
            self.in_use += 1
            self.peak_pages = max(self.peak_pages, self.in_use)
        self.owners[page] += 1

    def drop(self, page: int) -> None:
        """Count one owner less; a page without any is cached under its chain, or else free."""
        self.owners[page] -= 1
        if self.owners[page] == 0:
            self.in_use -= 1
            if page in self.chains and len(self.published[self.chains[page]]) == 1:
                self.use(self.chains[page])
            else:
                self.clear(page)

    def clear(self, page: int) -> None:
        """Make a page without owners free: what it held must never be read again."""
        self.withdraw(page)
        self.slots[page] = [None] * self.page_rows
        self.free.append(page)

    def take(self, rid: RequestId) -> int:
        """Give a page to a request, a cached one when none is free. Raises OutOfPages."""
        if not self.free:
            cached = self.cached()
            if not cached:
                raise OutOfPages(
                    f"request {rid!r} needs a page and all {len(self.owners)} are in use"
                )
            self.clear(cached[0])
            self.evictions += 1
        page = self.free.pop()
        self.hold(page)
        return page

    def cached(self) -> list[int]:
        """Cached pages, the next to be evicted first: least recently used, of one use the last."""
        pages = [page for page in self.chains if self.owners[page] == 0]
        return sorted(pages, key=lambda page: (self.used[page], -len(self.chains[page])))

    # -- chains ----------------------------------------------------------------------------------

    def use(self, chain: Chain) -> None:
        """Count a use of every published page on the way to the end of a chain."""
        self.clock += 1
        for end in range(self.page_rows, len(chain) + 1, self.page_rows):
            for page in self.published.get(chain[:end], ()):
                self.used[page] = self.clock

    def withdraw(self, page: int) -> None:
        """Forget the chain of a page, if it has one."""
        if page in self.chains:
            chain = self.chains.pop(page)
            others = tuple(other for other in self.published[chain] if other != page)
            if others:
                self.published[chain] = others
            else:
                del self.published[chain]
            del self.used[page]

    def find(self, tokens: Sequence[Hashable]) -> list[int]:
        """Pages of the longest chain that leaves at least one token over."""
        pages = []
        for end in range(self.page_rows, len(tokens), self.page_rows):
            chain = tuple(tokens[:end])
            if chain not in self.published:
                break
            pages.append(self.published[chain][0])
        return pages

    def publish(self, rid: RequestId, tokens: Sequence[Hashable]) -> None:
        """Publish every held page of a request that holds all its rows."""
        table = self.get(rid)
        if len(tokens) < table.length:
            raise BadRange(f"{len(tokens)} tokens for request {rid!r} of length {table.length}")
        for number, page in table.held.items():
            end = (number + 1) * self.page_rows
            whole = end <= table.length and all(row is not None for row in self.slots[page])
            if whole and page not in self.chains:
                chain = tuple(tokens[:end])
                for other in self.published.get(chain, ()):
                    if self.owners[other] == 0:
                        self.clear(other)
                self.published[chain] = (*self.published.get(chain, ()), page)
                self.chains[page] = chain
                self.used[page] = self.clock

    # -- requests --------------------------------------------------------------------------------

    def adopt(self, rid: RequestId, tokens: Sequence[Hashable], visible: Visible) -> int:
        """Start a request on the pages that are found; return its length."""
        self.check_absent(rid)
        pages = self.find(tokens)
        length = len(pages) * self.page_rows
        kept = visible.pages(length, self.page_rows)
        for number in kept:
            self.hold(pages[number])
        self.use(tuple(tokens[:length]))
        held = tuple(page if number in kept else None for number, page in enumerate(pages))
        self.tables[rid] = BlockTable(held, length)
        return length

    def append(self, rid: RequestId, row: Row) -> tuple[Slot, Copy | None]:
        """Write one more row; say where, and which page was copied for it."""
        table = self.get(rid)
        number, offset = divmod(table.length, self.page_rows)
        shared = table.pages[number] if offset else None
        copy = None
        if shared is None:
            page = self.take(rid)
        elif self.owners[shared] > 1:  # someone else reads it: write into a copy of our own
            page = self.take(rid)
            self.slots[page] = self.slots[shared]
            self.drop(shared)
            self.copies += 1
            copy = Copy(shared, page, offset)
        else:
            page = shared
            self.withdraw(page)  # its rows will no longer be those of its chain
        self.slots[page] = [*self.slots[page][:offset], row]
        self.tables[rid] = BlockTable((*table.pages[:number], page), table.length + 1)
        return Slot(page, offset), copy

    def give_up(self, rid: RequestId, numbers: Iterable[int]) -> list[int]:
        """Drop these logical pages, as far as they are held; return the physical ones."""
        table = self.get(rid)
        held = table.held
        gone = [number for number in numbers if number in held]
        for number in gone:
            self.drop(held[number])
        pages = tuple(None if n in gone else page for n, page in enumerate(table.pages))
        self.tables[rid] = replace(table, pages=pages)
        return [held[number] for number in gone]

    def trim(self, rid: RequestId, keep_from: int) -> list[int]:
        """Give up the pages wholly below a row."""
        length = self.get(rid).length
        if keep_from > length:
            raise BadRange(f"trim to row {keep_from} of request {rid!r} of length {length}")
        return self.give_up(rid, range(keep_from // self.page_rows))

    def truncate(self, rid: RequestId, length: int, visible: Visible) -> list[int]:
        """Roll back to a length, as long as its query finds all it would see."""
        table = self.get(rid)
        if not 0 <= length <= table.length:
            raise BadRange(f"truncate request {rid!r} of length {table.length} to {length}")
        for row in visible.rows(length)[:-1]:
            self.read(rid, row)
        written = -(-length // self.page_rows)
        released = self.give_up(rid, range(written, len(table.pages)))
        self.tables[rid] = BlockTable(self.get(rid).pages[:written], length)
        return released

    def read(self, rid: RequestId, index: int) -> Row:
        """One row that was appended. Raises ReleasedRows when it is gone."""
        page = self.tables[rid].pages[index // self.page_rows]
        row = None if page is None else self.slots[page][index % self.page_rows]
        if row is None:
            raise ReleasedRows(f"row {index} of request {rid!r} is released")
        return row
