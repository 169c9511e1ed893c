"""Plays random operations on a page table and on its shadow, and compares all that can be seen."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from model.checks.paging_shadow import ShadowCache
from model.decode.page_table import PageTable, PagingError
from model.decode.visible import EVERYTHING, Visible


@dataclass(frozen=True)
class Operation:
    """One call of a page table's method, with the request and the other arguments."""

    name: str
    rid: int
    args: tuple[object, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, (self.rid, *self.args)))})"

    def on(self, cache: PageTable[int] | ShadowCache) -> object:
        """Call it."""
        return getattr(cache, self.name)(self.rid, *self.args)


def differences(table: PageTable[int], shadow: ShadowCache) -> Iterator[str]:
    """Every way in which the table is not what the shadow says, and every broken invariant."""
    if table.free_pages != shadow.free:
        yield f"free pages {table.free_pages}, expected {shadow.free}"
    cached = shadow.cached()
    if table.cached_pages != cached:
        yield f"cached pages {table.cached_pages}, expected {cached}"
    spare = len(shadow.free) + len(cached)
    if (table.pages_in_use, table.available) != (shadow.n_pages - spare, spare):
        yield f"{table.pages_in_use} pages in use, {shadow.n_pages - spare} expected"
    if set(table.requests) != set(shadow.requests):
        yield f"requests {table.requests}, expected {list(shadow.requests)}"
        return
    held = {page for rid in table.requests for page in table.table(rid)}
    if sorted([*held, *table.free_pages, *table.cached_pages]) != list(range(shadow.n_pages)):
        yield f"held {sorted(held)}, free {table.free_pages}, cached {cached}: not all pages once"
    for page in range(shadow.n_pages):
        if table.owners(page) != shadow.owners(page):
            yield f"page {page} has {table.owners(page)} owners, expected {shadow.owners(page)}"
    for rid, request in shadow.requests.items():
        written = -(-len(request.rows) // shadow.page_rows)
        seen = (table.length(rid), table.dropped(rid), table.pages(rid))
        expected = (len(request.rows), written - len(request.pages), request.pages)
        if seen != expected:
            yield f"request {rid}: (length, dropped, pages) {seen}, expected {expected}"
            continue
        for index, row in enumerate(request.rows):
            if index not in request.lost and table.rows(rid, index, index + 1) != [row]:
                yield f"request {rid}: row {index} is not {row}"
        found = shadow.find([*request.rows, 0])
        if table.hit_pages([*request.rows, 0]) != found:
            yield f"request {rid}: its tokens hit {table.hit_pages(request.rows)}, not {found}"


def observed(table: PageTable[int]) -> tuple[object, ...]:
    """Everything a caller can see of a table's state."""
    requests = [
        (rid, table.length(rid), table.dropped(rid), tuple(table.pages(rid).items()))
        for rid in table.requests
    ]
    owners = [table.owners(page) for page in range(table.n_pages)]
    counts = (table.pages_in_use, table.peak_pages, table.copies, table.evictions)
    pages = (tuple(table.free_pages), tuple(table.cached_pages), tuple(owners))
    return pages, tuple(requests), counts


def play(table: PageTable[int], shadow: ShadowCache, op: Operation) -> None:
    """Do one operation on both and compare everything. Raises AssertionError on a difference."""
    before = observed(table)
    expected, refused = _outcome(lambda: op.on(shadow))
    result, raised = _outcome(lambda: op.on(table))
    if raised is not refused:
        name = getattr(refused, "__name__", "no error")
        raise AssertionError(f"{op}: {getattr(raised, '__name__', 'no error')}, expected {name}")
    if raised is not None and observed(table) != before:
        raise AssertionError(f"{op}: {raised.__name__} left another state behind")
    if result != expected:
        raise AssertionError(f"{op} gave {result}, not {expected}")
    for difference in differences(table, shadow):
        raise AssertionError(f"after {op}: {difference}")


def _outcome(call: Callable[[], object]) -> tuple[object, type[PagingError] | None]:
    try:
        return call(), None
    except PagingError as error:
        return None, type(error)


WINDOWS = (EVERYTHING, Visible(1), Visible(4), Visible(4, 1), Visible(6, 2), Visible(5, 4))


def random_operation(draw: random.Random, shadow: ShadowCache, row: int) -> Operation:
    """An operation that mostly makes sense; about one in ten is a bad use."""
    rid = draw.randrange(5)
    request = shadow.requests.get(rid)
    visible = draw.choice(WINDOWS)
    if request is None:
        chains = [chain for chain, _ in shadow.published] or [()]
        sources = list(shadow.requests) or [rid]
        starts = [
            (4, Operation("new", rid)),
            (8, Operation("fork", draw.choice(sources), (rid,))),
            (6, Operation("adopt", rid, ((*draw.choice(chains), row), visible))),
            (2, Operation("adopt", rid, (draw.choice(chains), visible))),
            (1, Operation("append", rid, (row,))),
        ]
        return draw.choices([op for _, op in starts], [weight for weight, _ in starts])[0]
    length = len(request.rows)
    kept = min(request.pages, default=0) * shadow.page_rows
    tokens = tuple(request.rows)
    makers: list[tuple[int, Operation]] = [
        (40, Operation("append", rid, (row,))),
        (15, Operation("extend", rid, tuple([(row, *range(draw.randrange(6)))]))),
        (15, Operation("publish", rid, (tokens,))),
        (12, Operation("rows", rid, (draw.randint(kept, max(kept, length)), length))),
        (4, Operation("rows", rid, (draw.randint(-1, length), draw.randint(0, length + 1)))),
        (7, Operation("trim", rid, (draw.randint(-2, length),))),
        (12, Operation("trim_unseen", rid, (visible,))),
        (9, Operation("truncate", rid, (draw.randint(max(0, length - 6), length), visible))),
        (2, Operation("truncate", rid, (draw.choice((-1, length + 1)),))),
        (1, Operation("publish", rid, (tokens[1:],))),
        (1, Operation("trim", rid, (length + 1,))),
        (2, Operation("fork", rid, (draw.randrange(5),))),
        (9, Operation("release", rid)),
        (1, Operation("new", rid)),
        (1, Operation("adopt", rid, (tokens,))),
    ]
    return draw.choices([op for _, op in makers], [weight for weight, _ in makers])[0]


def play_sequence(seed: int, count: int, n_pages: int = 12, page_rows: int = 4) -> dict[str, int]:
    """Play ``count`` random operations and return how often each outcome occurred.

    Keys: operation names, "copy" for rows that needed a copy of a page, "evict" for those that took
    a cached page, "hit" for a request that began on published pages, and "refused" for calls that
    had to fail. Raises AssertionError at the first difference.
    """
    draw = random.Random(seed)
    table: PageTable[int] = PageTable(n_pages, page_rows)
    shadow = ShadowCache(n_pages, page_rows)
    outcomes: dict[str, int] = {}
    for number in range(count):
        op = random_operation(draw, shadow, 1000 * seed + number)
        copies, evictions = table.copies, table.evictions
        before = observed(table)
        play(table, shadow, op)
        kind = op.name
        if table.copies > copies:
            kind = "copy"
        elif table.evictions > evictions:
            kind = "evict"
        elif op.name == "adopt" and table.length(op.rid) > 0:
            kind = "hit"
        elif observed(table) == before and op.name in ("new", "adopt", "append", "extend", "fork"):
            kind = "refused"
        outcomes[kind] = outcomes.get(kind, 0) + 1
    return outcomes
