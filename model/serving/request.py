"""What is asked of the engine: requests, and the options of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from model.chip.isa import MAX_K
from model.decode.tiny_lm import KINDS as DRAWN
from model.decode.visible import Visible
from model.decode.workload import MAX_LATENCY
from model.errors import ModelError, ParameterError, check_int
from model.trained.lm import VARIANTS

# Models that can be served: those whose keys and values are cached as int8.
KINDS = (*DRAWN, *(kind for kind, (_, bits) in VARIANTS.items() if bits == 8))
ADMISSION_RULES = ("one page", "expected", "exact", "longest")
MAX_ROWS = MAX_K  # new rows a step


class ServingError(ModelError):
    """Bad use of the engine; nothing has changed when it is raised."""


class NeverFits(ServingError, ValueError):  # noqa: N818 - reads as a condition
    """A request that needs more pages, or a longer context, than there can be."""


@dataclass(frozen=True)
class Request:
    """One request, checked when built (ParameterError).

    rid: its name; arrival: engine step in which it arrives; prompt: at least one token;
    generate: most tokens to generate, at least 1; stop: token that ends it early, itself kept.
    """

    rid: str
    arrival: int
    prompt: Sequence[int]
    generate: int
    stop: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.rid, str) or not self.rid:
            raise ParameterError("request", self.rid, "a name")
        name, prompt = f"request {self.rid!r}", self.prompt
        check_int(f"{name}: arrival", self.arrival, 0)
        if isinstance(prompt, str) or not isinstance(prompt, Sequence) or not prompt:
            raise ParameterError(f"{name}: prompt", prompt, "a list of tokens, not empty")
        for token in prompt:
            check_int(f"{name}: token", token, 0)
        object.__setattr__(self, "prompt", tuple(prompt))
        check_int(f"{name}: generate", self.generate, 1)
        if self.stop is not None:
            check_int(f"{name}: stop", self.stop, 0)

    def check_tokens(self, vocabulary: int) -> None:
        """Raise ParameterError for a token outside 0..vocabulary - 1."""
        for token in self.prompt:
            check_int(f"request {self.rid!r}: token", token, 0, vocabulary - 1)
        if self.stop is not None:
            check_int(f"request {self.rid!r}: stop", self.stop, 0, vocabulary - 1)

    @property
    def rows(self) -> int:
        """Rows written at most: the last token generated is not fed again."""
        return len(self.prompt) + self.generate - 1


@dataclass(frozen=True)
class Options:
    """Options of a run, checked when built (ParameterError).

    model, seed: of the weights. window, sinks: what a query sees. page: rows a page; pool: pages.
    batch: most requests at once; rows: most new tokens a step; draft: most drafted tokens a
    request. prefix_cache: share full pages with later requests. admission: one of ADMISSION_RULES.
    resident: keep the weights in the scratchpad. latency: of external reads, 1..64 cycles.
    """

    model: str = "structured"
    seed: int = 1
    window: int | None = None
    sinks: int = 0
    page: int = 4
    pool: int = 64
    batch: int = 8
    rows: int = 16
    draft: int = 0
    prefix_cache: bool = True
    admission: str = "one page"
    resident: bool = True
    latency: int = 8

    def __post_init__(self) -> None:
        if self.model not in KINDS:
            raise ParameterError("model", self.model, "one of " + ", ".join(KINDS))
        check_int("seed", self.seed, 0)
        Visible(self.window, self.sinks)
        if self.window is not None and self.window > MAX_K:
            raise ParameterError("window", self.window, f"an integer in 1..{MAX_K}, or none")
        check_int("page", self.page, 1)
        check_int("pool", self.pool, 1)
        check_int("batch", self.batch, 1)
        check_int("rows", self.rows, 1, MAX_ROWS)
        check_int("draft", self.draft, 0)
        if self.admission not in ADMISSION_RULES:
            raise ParameterError(
                "admission", self.admission, "one of " + ", ".join(ADMISSION_RULES)
            )
        check_int("latency", self.latency, 1, MAX_LATENCY)

    @property
    def visible(self) -> Visible:
        """What a query sees."""
        return Visible(self.window, self.sinks)

    @property
    def context(self) -> int:
        """Most rows that a query can see."""
        return MAX_K if self.window is None else self.window
