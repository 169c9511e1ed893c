"""Who runs: admission, the rows of each step, and preemption when pages run out."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from model.chip.fixed_point import IntArray
from model.decode.page_table import Extension, PageTable, ReleasedRows
from model.serving.admission import Admission
from model.serving.drafting import draft
from model.serving.records import RequestLog
from model.serving.request import Options, Request


@dataclass
class Live:
    """A request that has arrived and not ended: its tokens so far, and the logits of the last."""

    request: Request
    tokens: list[int]
    log: RequestLog
    logits: list[IntArray] = field(default_factory=list)

    @property
    def rid(self) -> str:
        """Its name."""
        return self.request.rid

    @property
    def generated(self) -> list[int]:
        """Tokens beyond the prompt."""
        return self.tokens[len(self.request.prompt) :]

    @property
    def left(self) -> int:
        """Tokens still to generate, if no stop token comes before."""
        return self.request.generate - len(self.tokens) + len(self.request.prompt)


class Work(NamedTuple):
    """New rows of a request in a step, with the slots that were found for them."""

    live: Live
    first: int
    tokens: Sequence[int]
    drafts: int
    extension: Extension


class Scheduler:
    """Requests in the order they are served, and the page table they share.

    waiting: not admitted; running: in the order they were admitted. hits: pages found in the prefix
    cache; preemptions: so far.
    """

    def __init__(self, options: Options, admission: Admission) -> None:
        self.options = options
        self.table: PageTable[int] = PageTable(options.pool, options.page)
        self.waiting: deque[Live] = deque()
        self.running: list[Live] = []
        self.hits = 0
        self.preemptions = 0
        self._admission = admission

    def admit(self, now: tuple[int, int]) -> None:
        """Let waiting requests in, in order, while the pages that are not promised cover them."""
        while self.waiting and len(self.running) < self.options.batch:
            live = self.waiting[0]
            if self._spare(self.running) < self._admission.need(live.request):
                return
            self.waiting.popleft()
            self._open(live)
            live.log.admitted.append(now)
            self.running.append(live)

    def plan(self, now: tuple[int, int]) -> list[Work]:
        """Rows of the next step: every decode, then prefill chunks, in the order of admission.

        Places for them are taken from the page table; who finds none takes those of the request
        that was admitted last.
        """
        counts = self._counts()
        works = []
        for live in list(self.running):
            drafted, count = counts[live.rid]
            while count and live in self.running:
                fitting = self._fitting(live, count)
                if fitting:
                    works.append(self._take(live, drafted, fitting))
                    break
                self._preempt(self.running[-1], now)
        return works

    def end(self, live: Live) -> None:
        """Give a running request's pages back and forget it."""
        self.table.release(live.rid)
        self.running.remove(live)

    def _open(self, live: Live) -> None:
        """Begin on the pages that hold the first tokens already; one token is left to compute."""
        table, visible = self.table, self.options.visible
        if not self.options.prefix_cache:
            table.new(live.rid)
            return
        length = table.adopt(live.rid, [*live.tokens, None], visible)  # also all of its tokens
        if length == len(live.tokens):
            try:
                table.truncate(live.rid, length - 1, visible)
            except ReleasedRows:  # the row before the window's has gone with its page
                table.release(live.rid)
                length = table.adopt(live.rid, live.tokens, visible)
        self.hits += len(table.pages(live.rid))
        live.log.hit_rows += table.length(live.rid)

    def _counts(self) -> dict[str, tuple[list[int], int]]:
        """Drafted tokens and new rows by request, within the rows of a step.

        Drafts leave a row to each of the others.
        """
        todo = {live.rid: len(live.tokens) - self.table.length(live.rid) for live in self.running}
        decodes = [live for live in self.running if todo[live.rid] == 1][: self.options.rows]
        spare = self.options.rows - len(self.running)  # beyond one each
        budget = self.options.rows
        counts: dict[str, tuple[list[int], int]] = {}
        for live in decodes:
            drafted = draft(live.tokens, min(self.options.draft, live.left - 1, spare))
            spare -= len(drafted)
            counts[live.rid] = drafted, 1 + len(drafted)
            budget -= 1 + len(drafted)
        for live in self.running:
            if live not in decodes:
                counts[live.rid] = [], min(todo[live.rid], budget)
                budget -= counts[live.rid][1]
        return counts

    def _fitting(self, live: Live, count: int) -> int:
        """How many of ``count`` new rows find a place.

        The first one may take any page, more than that only what others are not promised.
        """
        least = self.table.pages_needed(live.rid, 1)
        if least > self.table.available:
            return 0
        spare = max(least, self._spare([one for one in self.running if one is not live]))
        while self.table.pages_needed(live.rid, count) > spare:
            count -= 1
        return count

    def _spare(self, others: Sequence[Live]) -> int:
        """Pages that may be taken and are not promised to these requests."""
        need, held = self._admission.need, self.table.pages
        promised = (max(0, need(one.request) - len(held(one.rid))) for one in others)
        return self.table.available - sum(promised)

    def _take(self, live: Live, drafted: list[int], count: int) -> Work:
        first = self.table.length(live.rid)
        tokens = [*live.tokens, *drafted][first : first + count]
        drafts = max(0, first + count - len(live.tokens))
        return Work(live, first, tokens, drafts, self.table.extend(live.rid, tokens))

    def _preempt(self, live: Live, now: tuple[int, int]) -> None:
        self.end(live)
        self.waiting.appendleft(live)
        self.preemptions += 1
        live.log.preempted.append(now)
