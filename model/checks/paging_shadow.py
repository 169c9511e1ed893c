"""A second, naive account of a paged cache, and a comparison of the real one against it.

The shadow keeps every request's rows in one list for ever and counts owners by looking, so that
there is nothing in it to forget: no reference counts, no copies.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from model.decode.page_table import (
    BadRange,
    DuplicateRequest,
    OutOfPages,
    PageTable,
    PagingError,
    ReleasedRows,
    UnknownRequest,
)


@dataclass(frozen=True)
class Operation:
    """One call on a page table: new, append, rows, trim, fork or release, with its arguments."""

    name: str
    rid: int
    args: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, (self.rid, *self.args)))})"

    def on(self, table: PageTable[int]) -> object:
        """Call it."""
        return getattr(table, self.name)(self.rid, *self.args)


@dataclass
class ShadowRequest:
    """All rows ever appended, the pages from first to last, and how many of those are gone."""

    rows: list[int] = field(default_factory=list)
    pages: list[int] = field(default_factory=list)
    dropped: int = 0

    @property
    def held(self) -> list[int]:
        """Pages not released yet."""
        return self.pages[self.dropped :]


class ShadowCache:
    """What a page table of ``n_pages`` pages of ``page_rows`` rows should look like."""

    def __init__(self, n_pages: int, page_rows: int) -> None:
        self.n_pages = n_pages
        self.page_rows = page_rows
        self.free = list(range(n_pages))  # next one first
        self.requests: dict[int, ShadowRequest] = {}

    def owners(self, page: int) -> int:
        """Requests that hold the page, counted."""
        return sum(request.held.count(page) for request in self.requests.values())

    def apply(self, op: Operation) -> type[PagingError] | None:
        """Follow an operation; return the error it has to raise, if any, and then do nothing."""
        request = self.requests.get(op.rid)
        if op.name == "new":
            if request is not None:
                return DuplicateRequest
            self.requests[op.rid] = ShadowRequest()
            return None
        if request is None:
            return UnknownRequest
        if op.name == "append":
            return self._append(request, op.args[0])
        if op.name == "rows":
            return self._rows(request, *op.args)
        if op.name == "fork":
            if op.args[0] in self.requests:
                return DuplicateRequest
            twin = ShadowRequest(list(request.rows), list(request.pages), request.dropped)
            self.requests[op.args[0]] = twin
            return None
        keep_from = op.args[0] if op.name == "trim" else None
        if keep_from is not None and keep_from > len(request.rows):
            return BadRange
        if keep_from is None:
            del self.requests[op.rid]
            self._return_unowned(request.held)
        else:
            target = max(request.dropped, keep_from // self.page_rows)
            gone, request.dropped = request.pages[request.dropped : target], target
            self._return_unowned(gone)
        return None

    def _append(self, request: ShadowRequest, row: int) -> type[PagingError] | None:
        starts_page = len(request.rows) % self.page_rows == 0
        if starts_page or self.owners(request.pages[-1]) > 1:
            if not self.free:
                return OutOfPages
            page = self.free.pop(0)
            if starts_page:
                request.pages.append(page)
            else:
                request.pages[-1] = page
        request.rows.append(row)
        return None

    def _rows(self, request: ShadowRequest, lo: int, hi: int) -> type[PagingError] | None:
        if lo < 0 or hi > len(request.rows) or lo > hi:
            return BadRange
        if hi > lo and lo < request.dropped * self.page_rows:
            return ReleasedRows
        return None

    def _return_unowned(self, pages: list[int]) -> None:
        for page in pages:
            if self.owners(page) == 0:
                self.free.insert(0, page)


def differences(table: PageTable[int], shadow: ShadowCache) -> Iterator[str]:
    """Every way in which the table is not what the shadow says, and every broken invariant."""
    if table.free_pages != shadow.free:
        yield f"free pages {table.free_pages}, expected {shadow.free}"
    if table.pages_in_use != shadow.n_pages - len(shadow.free):
        yield f"{table.pages_in_use} pages in use, {shadow.n_pages - len(shadow.free)} expected"
    if set(table.requests) != set(shadow.requests):
        yield f"requests {table.requests}, expected {list(shadow.requests)}"
        return
    held = {page for rid in table.requests for page in table.table(rid)}
    if sorted([*held, *table.free_pages]) != list(range(shadow.n_pages)):
        yield f"held {sorted(held)} and free {table.free_pages} are not all pages once"
    for page in range(shadow.n_pages):
        if table.owners(page) != shadow.owners(page):
            yield f"page {page} has {table.owners(page)} owners, expected {shadow.owners(page)}"
    for rid, request in shadow.requests.items():
        seen = (table.length(rid), table.dropped(rid), table.table(rid))
        expected = (len(request.rows), request.dropped, request.held)
        if seen != expected:
            yield f"request {rid}: (length, dropped, pages) {seen}, expected {expected}"
            continue
        first = request.dropped * shadow.page_rows
        rows = table.rows(rid, first, len(request.rows))
        if rows != request.rows[first:]:
            yield f"request {rid}: rows from {first} are {rows}, not {request.rows[first:]}"


def observed(table: PageTable[int]) -> tuple[object, ...]:
    """Everything a caller can see of a table's state."""
    requests = [
        (rid, table.length(rid), table.dropped(rid), tuple(table.table(rid)))
        for rid in table.requests
    ]
    owners = [table.owners(page) for page in range(table.n_pages)]
    return tuple(table.free_pages), tuple(requests), tuple(owners), table.peak_pages, table.copies


def play(table: PageTable[int], shadow: ShadowCache, op: Operation) -> None:
    """Do one operation on both and compare everything. Raises AssertionError on a difference."""
    before = observed(table)
    expected = shadow.apply(op)
    result: object = None
    try:
        result = op.on(table)
        raised = None
    except PagingError as error:
        raised = type(error)
    if raised is not expected:
        name = getattr(expected, "__name__", "no error")
        raise AssertionError(f"{op}: {getattr(raised, '__name__', 'no error')}, expected {name}")
    if raised is not None and observed(table) != before:
        raise AssertionError(f"{op}: {raised.__name__} left another state behind")
    if op.name == "rows" and expected is None:
        lo, hi = op.args
        if result != shadow.requests[op.rid].rows[lo:hi]:
            raise AssertionError(f"{op} gave {result}, not {shadow.requests[op.rid].rows[lo:hi]}")
    for difference in differences(table, shadow):
        raise AssertionError(f"after {op}: {difference}")


def random_operation(draw: random.Random, shadow: ShadowCache, row: int) -> Operation:
    """An operation that mostly makes sense; about one in ten is a bad use."""
    rid = draw.randrange(5)
    request = shadow.requests.get(rid)
    if request is None:
        misuse = Operation("append", rid, (row,))
        sources = list(shadow.requests) or [rid]
        fork = Operation("fork", draw.choice(sources), (rid,))
        return draw.choices([Operation("new", rid), fork, misuse], [4, 8, 1])[0]
    length = len(request.rows)
    kept = request.dropped * shadow.page_rows
    makers: list[tuple[int, Operation]] = [
        (50, Operation("append", rid, (row,))),
        (12, Operation("rows", rid, (draw.randint(kept, length), length))),
        (4, Operation("rows", rid, (draw.randint(-1, length), draw.randint(0, length + 1)))),
        (10, Operation("trim", rid, (draw.randint(-2, length),))),
        (1, Operation("trim", rid, (length + 1,))),
        (2, Operation("fork", rid, (draw.randrange(5),))),
        (9, Operation("release", rid)),
        (1, Operation("new", rid)),
    ]
    return draw.choices([op for _, op in makers], [weight for weight, _ in makers])[0]


def play_sequence(seed: int, count: int, n_pages: int = 12, page_rows: int = 4) -> dict[str, int]:
    """Play ``count`` random operations and return how often each outcome occurred.

    Keys: operation names, "copy" for an append that copied a page, and "refused" for calls that had
    to fail. Raises AssertionError at the first difference.
    """
    draw = random.Random(seed)
    table: PageTable[int] = PageTable(n_pages, page_rows)
    shadow = ShadowCache(n_pages, page_rows)
    outcomes: dict[str, int] = {}
    for number in range(count):
        op = random_operation(draw, shadow, 1000 * seed + number)
        copies = table.copies
        before = observed(table)
        play(table, shadow, op)
        kind = "copy" if table.copies > copies else op.name
        if observed(table) == before and op.name not in ("rows", "trim"):
            kind = "refused"
        outcomes[kind] = outcomes.get(kind, 0) + 1
    return outcomes
