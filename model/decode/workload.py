"""The decode workload: from parameters to the programs, images and expectations of every step."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from model.chip.image import Words
from model.chip.isa import EXT_WORDS
from model.chip.timing import Counters
from model.decode.backend import HostStep, MachineBackend
from model.decode.float_decode import check_window
from model.decode.models import default_depth, language_model
from model.decode.page_table import OutOfPages, PageTable
from model.decode.paged_host import PagedHost, pages_at_start
from model.decode.programs import decode_programs
from model.errors import check_int

MAX_LATENCY = 64
DEFAULT_WINDOWS: tuple[int | None, ...] = (None, 8, 4)


@dataclass(frozen=True)
class DecodeParams:
    """Parameters of one decode run, checked when built (ParameterError).

    model: one of models.KINDS; seed >= 0 of drawn weights; start: a token; window >= 1 tokens or
    None; steps >= 1, with at most 64 tokens of context; page >= 1 rows a page; pool >= 1 pages;
    latency 1..64 cycles of external reads; depth 1..65536 words of external memory.
    """

    model: str = "structured"
    seed: int = 1
    start: int = 0
    window: int | None = None
    steps: int = 32
    page: int = 4
    pool: int = 64
    latency: int = 8
    depth: int = 8192

    def __post_init__(self) -> None:
        lm = language_model(self.model, self.seed)  # checks both
        check_int("start", self.start, 0, lm.vocabulary - 1)
        check_window(self.window, self.steps)
        check_int("page", self.page, 1)
        check_int("pool", self.pool, 1)
        check_int("latency", self.latency, 1, MAX_LATENCY)
        check_int("depth", self.depth, 1, EXT_WORDS)

    @property
    def peak_pages(self) -> int:
        """Most pages the run holds at once: after some append, before its trim."""
        ends = range(1, self.steps + 1)
        return max(
            pages_at_start(end, self.page, self.window) + ((end - 1) % self.page == 0)
            for end in ends
        )


@dataclass(frozen=True, eq=False)
class DecodeStep:
    """One step: what to run, and what the reference machine made of it.

    image: uint32 words of external memory before the program. token, logits, k_new, v_new: the
    chip's integers. pages_in_use: when the step starts. counters: at the run's latency.
    """

    window: int | None
    step: int
    ctx: int
    token_in: int
    program: list[int]
    image: Words
    token: int
    logits: list[int]
    k_new: list[int]
    v_new: list[int]
    pages_in_use: int
    counters: Counters
    provenance: str


@dataclass(frozen=True, eq=False)
class DecodeRun:
    """All steps of a run.

    tokens: those fed, then the last one predicted; programs: how many were compiled.
    """

    params: DecodeParams
    steps: list[DecodeStep]
    programs: int
    peak_pages: int
    tokens: list[int]
    notes: tuple[str, ...]

    @property
    def total_cycles(self) -> int:
        """Cycles of all steps together."""
        return sum(step.counters.total for step in self.steps)


def compile_decode(
    model: str = "structured",
    seed: int = 1,
    start: int = 0,
    window: int | None = None,
    steps: int = 32,
    page: int = 4,
    pool: int = 64,
    latency: int = 8,
    depth: int | None = None,
) -> DecodeRun:
    """Compile a decode run and play it on the reference machine, each token feeding the next step.

    Parameters as in DecodeParams; depth None: what the model needs. Raises ParameterError,
    CompileError, or OutOfPages with the pool that would do.
    """
    words = default_depth(model) if depth is None else depth
    return run_decode(DecodeParams(model, seed, start, window, steps, page, pool, latency, words))


@lru_cache(maxsize=16)
def run_decode(params: DecodeParams) -> DecodeRun:
    """compile_decode() for parameters that are together already; equal ones share one result."""
    programs = decode_programs(params.model, params.seed, params.window, params.steps, params.depth)
    host = PagedHost(
        PageTable(params.pool, params.page),
        programs,
        MachineBackend(params.depth, params.latency),
    )
    host.open("decode")
    tokens = [params.start]
    steps: list[DecodeStep] = []
    for number in range(1, params.steps + 1):
        try:
            done = host.step("decode", tokens[-1])
        except OutOfPages as error:
            raise OutOfPages(
                f"step {number}: {error}; this run needs a pool of {params.peak_pages} pages"
            ) from error
        steps.append(_record(params, done))
        tokens.append(done.token_out)
    return DecodeRun(
        params, steps, len(programs.by_context), host.table.peak_pages, tokens, programs.notes
    )


def _record(params: DecodeParams, done: HostStep) -> DecodeStep:
    done.image.setflags(write=False)  # runs are shared
    provenance = (
        f"decode model={params.model} seed={params.seed} start={params.start} "
        f"window={params.window} step={done.step}"
    )
    return DecodeStep(
        window=params.window,
        step=done.step,
        ctx=done.context,
        token_in=done.token_in,
        program=list(done.compiled.program),
        image=done.image,
        token=done.token_out,
        logits=list(done.logits),
        k_new=list(done.k_new),
        v_new=list(done.v_new),
        pages_in_use=done.pages_in_use,
        counters=done.run.counters,
        provenance=provenance,
    )
