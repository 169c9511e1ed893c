"""What serving costs in cycles: batch, window, page size, residence, chunks, drafts, a trace.

Every figure comes from programs of the engine, whose cycles the RTL is compared with.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from model.serving import Request, serve
from model.serving.records import Run, Step
from model.serving.trace import draw_requests

MODEL, SEED = "random", 2
BATCHES = (1, 2, 4, 8, 16)
WINDOWS = (None, 8, 4)
PAGE_SIZES = (1, 2, 4, 8, 16)
CHUNKS = (1, 2, 4, 8, 16, 32)
DRAFTS = (0, 1, 2, 3, 4, 6)
GENERATE = 16  # tokens a request
PROMPT = 48  # tokens, for chunks
DRAFTED = 48  # tokens of the structured model, which repeats itself after 16
ALONE = 7615  # cycles of a token with a window of 8, decoded alone by the main job
TRACE_REQUESTS, TRACE_RATE = 24, 0.5


@dataclass(frozen=True)
class Cost:
    """Cycles a token in one setting, and those of the matrix unit alone, the bound of any order.

    tokens: of which it is the mean. accepted, drafted: tokens, where any are drafted.
    """

    study: str
    batch: int
    window: int | None
    page: int
    resident: bool
    rows: int
    draft: int
    cycles: float
    matrix: float
    tokens: int
    accepted: int = 0
    drafted: int = 0


@dataclass(frozen=True)
class Study:
    """A run and what it is to show."""

    name: str
    run: Run

    @property
    def label(self) -> str:
        """Unique among the studies."""
        o = self.run.options
        kept = "resident" if o.resident else "loaded"
        return f"{self.name} b{o.batch} w{o.window} p{o.page} r{o.rows} d{o.draft} {o.model} {kept}"

    def cost(self) -> Cost:
        """Cycles a token: of full decode steps, of a prompt's tokens, or of all that came out."""
        o = self.run.options
        steps = [step for step in self.run.steps if step.kind == "step"]
        if self.name == "chunk":
            steps = [step for step in steps if step.segments[0].first < PROMPT]
            tokens = PROMPT
        elif self.name == "draft":
            tokens = self.run.generated
        else:
            steps = [step for step in steps if is_full(step, o.batch, o.window)]
            tokens = o.batch * len(steps)
        total = sum(step.counters.total for step in steps)
        matrix = sum(step.counters.mm for step in steps)
        return Cost(
            self.name,
            o.batch,
            o.window,
            o.page,
            o.resident,
            o.rows,
            o.draft,
            total / tokens,
            matrix / tokens,
            tokens,
            self.run.accepted,
            self.run.drafted,
        )


def is_full(step: Step, batch: int, window: int | None) -> bool:
    """Whether every request decodes one token, with its window full (without one: 8 rows seen)."""
    rows = 8 if window is None else window
    return len(step.segments) == batch and all(
        len(s.tokens) == 1 and s.first >= rows - 1 for s in step.segments
    )


def requests(count: int) -> list[Request]:
    """So many requests that all begin at once."""
    return [Request(f"r{n}", 0, [(5 * n + 3) % 16], GENERATE) for n in range(count)]


def cost_studies() -> Iterator[Study]:
    """All runs of which cycles a token are shown."""
    for window in WINDOWS:
        for batch in BATCHES:
            yield Study("batch", _run(requests(batch), window=window, batch=batch))
    for batch in BATCHES:
        yield Study("loaded", _run(requests(batch), batch=batch, resident=False))
    for page in PAGE_SIZES:
        yield Study("page", _run(requests(8), page=page, pool=256 // page))
    prompt = [(7 * n * n + n) % 16 for n in range(PROMPT)]
    for rows in CHUNKS:
        yield Study("chunk", _run([Request("r", 0, prompt, 1)], rows=rows))
    start = [Request("r", 0, [0], DRAFTED)]
    for draft in DRAFTS:
        yield Study("draft", _run(start, model="structured", seed=1, draft=draft))


def trace_study() -> Study:
    """Requests that come as they do to a service, with little memory: some are preempted."""
    drawn = draw_requests(SEED, TRACE_REQUESTS, TRACE_RATE)
    return Study("trace", _run(drawn, pool=20, sinks=2, draft=3))


def _run(
    trace: Sequence[Request],
    *,
    model: str = MODEL,
    seed: int = SEED,
    window: int | None = 8,
    sinks: int = 0,
    page: int = 4,
    pool: int = 64,
    batch: int = 8,
    rows: int = 16,
    draft: int = 0,
    resident: bool = True,
) -> Run:
    return serve(
        trace,
        model=model,
        seed=seed,
        window=window,
        sinks=sinks,
        page=page,
        pool=pool,
        batch=batch,
        rows=rows,
        draft=draft,
        resident=resident,
    )
