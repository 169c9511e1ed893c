"""Checks of the paged cache: against a shadow, a formula, plain lists, and the token ids alone."""

from __future__ import annotations

import numpy as np

from model.checks.paging_play import observed, play_sequence
from model.checks.subject import Subject, require
from model.chip.image import Words
from model.chip.machine import RunResult
from model.compiler.compiled import Compiled
from model.decode.backend import HostStep, MachineBackend
from model.decode.page_table import OutOfPages, PageTable
from model.decode.plain_host import PlainHost, recomputed_step
from model.decode.workload import DecodeRun, DecodeStep

SHADOW_OPERATIONS = 1000


def check_page_table(_: Subject) -> str:
    """Random operations on the page table and on a shadow of it, compared after every one."""
    outcomes = play_sequence(seed=1, count=SHADOW_OPERATIONS)
    require(min(outcomes.get(kind, 0) for kind in ("copy", "refused", "trim")) > 0, str(outcomes))
    return f"{SHADOW_OPERATIONS} operations, {outcomes['copy']} copy-on-write"


def check_exhaustion(_: Subject) -> str:
    """A full pool refuses a new page, and a copy before a shared write, without a trace."""
    table: PageTable[int] = PageTable(2, 2)
    table.new(0)
    for row in range(3):
        table.append(0, row)
    table.fork(0, 1)
    table.new(2)
    for rid, what in ((1, "copy-on-write"), (2, "first row")):
        before = observed(table)
        try:
            table.append(rid, 9)
        except OutOfPages:
            require(observed(table) == before, f"{what}: state changed")
        else:
            raise AssertionError(f"{what}: no OutOfPages from a full pool")
    table.release(1)
    table.append(0, 3)
    require(table.rows(0, 0, 4) == [0, 1, 2, 3], "rows after exhaustion are not those appended")
    return "new page and copy-on-write"


def check_pages(subject: Subject) -> str:
    """Pages in use at every step are exactly ceil((L-1)/P) - floor(max(0, L-W)/P)."""
    for run in subject.runs:
        page, window = run.params.page, run.params.window
        peak = 0
        for step in run.steps:
            gone = 0 if window is None else max(0, step.step - window) // page
            expected = (step.step - 1 + page - 1) // page - gone
            require(
                step.pages_in_use == expected,
                f"window {window} step {step.step}: {step.pages_in_use} pages, not {expected}",
            )
            peak = max(peak, (step.step + page - 1) // page - gone)
        require(run.peak_pages == peak, f"window {window}: peak {run.peak_pages}, not {peak}")
    return "peak " + ", ".join(str(run.peak_pages) for run in subject.runs)


def check_plain_host(subject: Subject) -> str:
    """The paged host computes what a host with plain lists computes, image for image."""
    compared = 0
    for run in subject.runs:
        host = PlainHost(subject.programs(run.params), subject.backend())
        for step in run.steps:
            plain = host.step(step.token_in)
            _compare(run, step, plain)
            compared += 1
    return f"{compared} steps"


def check_recomputed(subject: Subject) -> str:
    """Every step's window, computed again from the token ids without any cache."""
    compared = 0
    for run in subject.runs:
        programs, backend = subject.programs(run.params), _Remembering(subject.backend())
        for step in run.steps:
            again = recomputed_step(programs, backend, run.tokens[: step.step])
            _compare(run, step, again)
            compared += 1
    return f"{compared} steps"


class _Remembering:
    """A backend that runs the same program on the same image once."""

    def __init__(self, backend: MachineBackend) -> None:
        self._backend = backend
        self._known: dict[tuple[int, bytes], RunResult] = {}

    def run(self, compiled: Compiled, image: Words) -> RunResult:
        key = (id(compiled), image.tobytes())
        if key not in self._known:
            self._known[key] = self._backend.run(compiled, image)
        return self._known[key]


def _compare(run: DecodeRun, step: DecodeStep, want: HostStep) -> None:
    where = f"window {run.params.window} step {step.step}"
    require(step.ctx == want.context, f"{where}: context {step.ctx}, not {want.context}")
    for name in ("logits", "k_new", "v_new"):
        mine, other = getattr(step, name), list(getattr(want, name))
        require(mine == other, f"{where}: {name} {mine}, not {other}")
    require(step.token == want.token_out, f"{where}: token {step.token}, not {want.token_out}")
    require(bool(np.array_equal(step.image, want.image)), f"{where}: memory images differ")
