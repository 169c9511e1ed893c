"""Whom to admit: four rules over one pool of pages, tick by tick; data, no printing."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from model.studies.paging import POOL_ROWS, RESERVED_ROWS, request_lengths

PAGE_ROWS = 16
EXPECTED_ROWS = 275
RULES: Mapping[str, Callable[[int], int]] = {
    "one page": lambda length: 1,
    "expected": lambda length: -(-EXPECTED_ROWS // PAGE_ROWS),
    "exact": lambda length: -(-length // PAGE_ROWS),
    "longest": lambda length: RESERVED_ROWS // PAGE_ROWS,
}


@dataclass(frozen=True)
class Outcome:
    """A rule over all requests.

    ticks: until all have ended; most, mean: requests that run at once; rows_lost: those of
    preempted requests, computed again; rows: of all requests.
    """

    rule: str
    ticks: int
    most: int
    mean: float
    preemptions: int
    rows_lost: int
    rows: int


@dataclass
class Running:
    """A request with rows in the pool."""

    rid: int
    length: int
    rows: int = 0

    @property
    def pages(self) -> int:
        """Pages that it holds."""
        return -(-self.rows // PAGE_ROWS)


def admission(rule: str, lengths: Sequence[int] | None = None) -> Outcome:
    """All requests wait at tick 0.

    Each tick admits in order while the free pages less what running requests are still promised
    cover the next one's need; then every running request appends a row, the last admitted giving
    its pages back while none is free; then those at their length end.
    """
    lengths = request_lengths() if lengths is None else lengths
    need = RULES[rule]
    waiting = deque(Running(rid, length) for rid, length in enumerate(lengths))
    running: list[Running] = []
    free = POOL_ROWS // PAGE_ROWS
    ticks = most = at_once = preemptions = lost = 0
    while waiting or running:
        promised = sum(max(0, need(one.length) - one.pages) for one in running)
        while waiting and free - promised >= need(waiting[0].length):
            running.append(waiting.popleft())
            promised += need(running[-1].length)
        ticks += 1
        most = max(most, len(running))
        at_once += len(running)
        index = 0
        while index < len(running):
            one = running[index]
            if one.rows % PAGE_ROWS == 0:
                while free == 0:
                    last = running.pop()
                    free += last.pages
                    preemptions += 1
                    lost += last.rows
                    waiting.appendleft(Running(last.rid, last.length))
                    if last is one:
                        break
                if index >= len(running):
                    break
                free -= 1
            one.rows += 1
            index += 1
        for one in running:
            if one.rows == one.length:
                free += one.pages
        running = [one for one in running if one.rows < one.length]
    return Outcome(rule, ticks, most, at_once / ticks, preemptions, lost, sum(lengths))
