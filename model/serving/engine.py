"""The engine: requests in, a chip program for each step, tokens out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from model.chip.image import Words
from model.chip.machine import Machine
from model.chip.timing import Counters
from model.decode.page_table import DuplicateRequest, UnknownRequest
from model.serving.admission import Admission, check_fits
from model.serving.calibration import served_model
from model.serving.layout import External
from model.serving.records import RequestLog, Run, Segment, SegmentKind, Step, StepKind, Tick
from model.serving.request import Options, Request
from model.serving.scheduler import Live, Scheduler, Work
from model.serving.step import Rows, StepBuilder


class Engine:
    """Serves requests on the reference machine, whose memories live on from step to step."""

    def __init__(self, options: Options, expected: Sequence[Request] = ()) -> None:
        """``expected``: requests whose lengths the admission rule may count on.

        With them no context will be longer than theirs. Raises ParameterError (a pool beyond
        external memory) or CompileError (a step beyond the scratchpad).
        """
        self.options = options
        longest = max((request.rows for request in expected), default=options.context)
        self.context = min(options.context, longest)
        self.model = served_model(options.model, options.seed)
        architecture = self.model.architecture
        self.external = External(architecture, options.page, options.pool, options.rows)
        self.builder = StepBuilder(
            self.model,
            options.visible,
            self.context,
            self.external,
            resident=options.resident,
            latency=options.latency,
        )
        self.scheduler = Scheduler(options, Admission(options, expected))
        self.tick = 0
        self.cycles = 0
        self.steps: list[Step] = []
        self.timeline: list[Tick] = []
        self.lives: dict[str, Live] = {}
        self._arriving: list[Live] = []  # by arrival, first come first
        self._machine = Machine(self.external.words)
        self._run("serve boot", "boot", self.builder.boot())

    @property
    def done(self) -> bool:
        """Nothing arrives, waits or runs any more."""
        return not (self._arriving or self.scheduler.waiting or self.scheduler.running)

    def submit(self, request: Request) -> None:
        """Accept a request.

        Raises ParameterError (a token that the model does not know), DuplicateRequest or NeverFits;
        then nothing has changed.
        """
        if request.rid in self.lives:
            raise DuplicateRequest(f"request {request.rid!r} exists already")
        request.check_tokens(self.model.lm.vocabulary)
        check_fits(request, self.options, self.context)
        live = Live(request, list(request.prompt), RequestLog())
        self.lives[request.rid] = live
        self._arriving.append(live)
        self._arriving.sort(key=lambda one: one.request.arrival)

    def cancel(self, rid: str) -> None:
        """End a request now; what it has generated stays. Raises UnknownRequest."""
        live = self.lives.get(rid)
        if live is None or live.log.ended is not None:
            raise UnknownRequest(f"no request {rid!r} arrives, waits or runs")
        if live in self.scheduler.running:
            self.scheduler.end(live)
        elif live in self.scheduler.waiting:
            self.scheduler.waiting.remove(live)
        else:
            self._arriving.remove(live)
        live.log.cancelled = True
        live.log.ended = self._now

    def step(self) -> None:
        """One engine step: arrivals, admission, and a chip program when there is work.

        Steps before the next arrival are passed over when there is nothing to do.
        """
        scheduler, table = self.scheduler, self.scheduler.table
        if self._arriving and not (scheduler.waiting or scheduler.running):
            self.tick = max(self.tick, self._arriving[0].request.arrival)
        while self._arriving and self._arriving[0].request.arrival <= self.tick:
            live = self._arriving.pop(0)
            live.log.arrived = self._now
            scheduler.waiting.append(live)
        scheduler.admit(self._now)
        works = scheduler.plan(self._now)
        for number, copy in enumerate(copy for work in works for copy in work.extension.copies):
            self._run(f"serve copy {self.tick}.{number}", "copy", self.builder.copy(copy))
        counts = len(scheduler.waiting), len(scheduler.running)
        pages, cached = table.pages_in_use, len(table.cached_pages)
        segments: list[Segment] = []
        if works:
            segments = self._step(works)
        self.timeline.append(
            Tick(
                self.tick,
                self.cycles,
                *counts,
                sum(segment.kind == "prefill" for segment in segments),
                pages,
                cached,
                scheduler.hits,
                scheduler.preemptions,
            )
        )
        self.tick += 1

    def result(self) -> Run:
        """What has come of it so far."""
        scheduler, lives = self.scheduler, self.lives
        vocabulary = self.model.lm.vocabulary
        return Run(
            options=self.options,
            requests=tuple(live.request for live in lives.values()),
            tokens={rid: live.generated for rid, live in lives.items()},
            logits={
                rid: np.array(live.logits, dtype=np.int64).reshape(len(live.logits), vocabulary)
                for rid, live in lives.items()
            },
            logit_scale=self.model.scales["logits"],
            steps=self.steps,
            timeline=self.timeline,
            events={rid: live.log for rid, live in lives.items()},
            depth=self.external.words,
            compilations=len(self.builder.kernels),
            compilation_bound=self.builder.compilation_bound(),
            shapes=len(self.builder.shapes),
            hits=scheduler.hits,
            preemptions=scheduler.preemptions,
            copies=scheduler.table.copies,
            evictions=scheduler.table.evictions,
            peak_pages=scheduler.table.peak_pages,
        )

    @property
    def _now(self) -> tuple[int, int]:
        return self.tick, self.cycles

    def _step(self, works: Sequence[Work]) -> list[Segment]:
        """Run one program over all new rows, and take what they have chosen."""
        table, vocabulary = self.scheduler.table, self.model.lm.vocabulary
        batch = [
            Rows(work.first, work.tokens, table.pages(work.live.rid), work.extension.slots)
            for work in works
        ]
        rows = sum(len(work.tokens) for work in works)
        name, program = f"serve step {self.tick}", self.builder.step(batch)
        held = table.pages_in_use, len(table.cached_pages)
        counters = self._play(name, program)
        memory = self._machine.ext.view(np.int32)
        chosen = memory[self.external.tokens :][:rows].tolist()
        logits = memory[self.external.logits :][: rows * vocabulary].reshape(rows, vocabulary)
        segments, tokens = [], {}
        first = 0
        for work in works:
            own = slice(first, first + len(work.tokens))
            first = own.stop
            segment, new = self._digest(work, chosen[own], logits[own])
            segments.append(segment)
            if new:
                tokens[segment.rid] = tuple(new)
        self.steps.append(
            Step(name, "step", self.tick, program, None, tuple(segments), counters, *held, tokens)
        )
        return segments

    def _digest(
        self, work: Work, chosen: list[int], logits: NDArray[np.int32]
    ) -> tuple[Segment, list[int]]:
        """Take the new tokens that a request's rows have chosen; roll back drafts that differ."""
        live, table, options = work.live, self.scheduler.table, self.options
        known = len(live.tokens) - work.first  # rows of tokens that are no drafts
        kind: SegmentKind = "decode" if known == 1 and live.generated else "prefill"
        new: list[int] = []
        accepted = 0
        if len(chosen) >= known:
            new = _agreed(chosen[known - 1 :], work.tokens[known:], live.request.stop)
            live.tokens += new
            live.logits += [row.astype(np.int64) for row in logits[known - 1 :][: len(new)]]
            live.log.first_token = live.log.first_token or self._now
            table.truncate(live.rid, len(live.tokens) - 1, options.visible)
        if work.drafts:
            kind, accepted = "verify", len(new) - 1
            live.log.drafted += work.drafts
            live.log.accepted += accepted
        if options.prefix_cache:
            table.publish(live.rid, live.tokens)
        if not live.left or live.request.stop in new:
            self.scheduler.end(live)
            live.log.ended = self._now
        else:
            table.trim_unseen(live.rid, options.visible)
        segment = Segment(live.rid, work.first, tuple(work.tokens), kind, work.drafts, accepted)
        return segment, new

    def _run(self, name: str, kind: StepKind, program: tuple[int, ...]) -> None:
        """Run and record a program that generates nothing."""
        table = self.scheduler.table
        image = None if self.steps else self.external.image(self.model)
        held = table.pages_in_use, len(table.cached_pages)
        counters = self._play(name, program, image)
        self.steps.append(Step(name, kind, self.tick, program, image, (), counters, *held, {}))

    def _play(self, name: str, program: tuple[int, ...], image: Words | None = None) -> Counters:
        machine = self._machine
        memory = machine.ext if image is None else image
        run = machine.run(program, memory, self.options.latency)
        if run.fault:
            raise RuntimeError(f"{name} faulted at {run.fault_pc}: {run.fault.name}")
        self.cycles += run.counters.total
        return run.counters


def _agreed(chosen: Sequence[int], drafts: Sequence[int], stop: int | None) -> list[int]:
    """Chosen tokens up to the first that its draft differs from, or up to the stop token."""
    new = []
    for token, drafted in zip(chosen, [*drafts, None], strict=True):
        new.append(token)
        if token == stop or token != drafted:
            break
    return new


def serve(requests: Sequence[Request], **options: Any) -> Run:
    """Serve all requests until each has ended, with the options of Options by name.

    Raises ParameterError, NeverFits, DuplicateRequest or CompileError before a request runs.
    """
    return run_engine(requests, Options(**options))


def run_engine(requests: Sequence[Request], options: Options) -> Run:
    """serve() for options that are together already."""
    engine = Engine(options, requests)
    for request in requests:
        engine.submit(request)
    while not engine.done:
        engine.step()
    return engine.result()
