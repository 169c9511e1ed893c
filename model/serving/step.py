"""Builds the program of a step: kernels compiled once for each shape, bound to a batch's pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from model.chip import isa
from model.chip.isa import MAX_LENGTH, SPAD_WORDS
from model.compiler.allocator import OutOfMemory
from model.compiler.graph import Graph
from model.compiler.kernel import Kernel, Place, boot_kernel, compile_kernel, copy_kernel
from model.decode.page_table import Copy, Slot
from model.decode.tiny_lm import WIDTH
from model.decode.visible import Visible
from model.errors import CompileError
from model.serving.calibration import ServedModel
from model.serving.kernels import (
    AttendShape,
    attend_graph,
    attend_shape,
    finish_graph,
    old_rows,
    project_graph,
)
from model.serving.layout import ROW, WEIGHTS, External, Scratchpad, joined

HALT = isa.encode(isa.halt())
Key = tuple[str, int] | AttendShape


@dataclass(frozen=True)
class Rows:
    """New rows of one request in a step.

    first: position of the first one; tokens: of each. pages: physical page by logical page, of the
    old rows that are seen; slots: where each new row goes.
    """

    first: int
    tokens: Sequence[int]
    pages: Mapping[int, int]
    slots: Sequence[Slot]


class StepBuilder:
    """Programs for one layout of the memories.

    kernels: what has been compiled so far, by shape; shapes: the steps that were built from them.
    """

    def __init__(
        self,
        model: ServedModel,
        visible: Visible,
        context: int,
        external: External,
        *,
        resident: bool,
        latency: int,
    ) -> None:
        """``context``: most rows a query sees. Raises CompileError when a step cannot fit."""
        self.model = model
        self.visible = visible
        self.external = external
        self.kernels: dict[Key, Kernel] = {}
        self.shapes: set[tuple[Key, ...]] = set()
        self._context = context
        choices = _choices(latency) if resident else iter([()])
        self.spad = self._fitting(choices)

    # -- programs --------------------------------------------------------------------------------

    def boot(self) -> tuple[int, ...]:
        """Load the resident weights."""
        weights = [
            (place.address, self.external.weights[name], WEIGHTS[name])
            for name, place in self.spad.weights.items()
        ]
        return (*boot_kernel(weights).words, HALT)

    def copy(self, copy: Copy) -> tuple[int, ...]:
        """Copy the first rows of a page to another one, by way of the scratchpad."""
        words: list[int] = []
        most = min(self.spad.limit, MAX_LENGTH) // ROW
        for first in range(0, copy.rows, most):
            kernel = self._cached(("copy", min(most, copy.rows - first)))
            words += kernel.bind([self.external.slot(p, first) for p in (copy.source, copy.target)])
        return (*words, HALT)

    def step(self, batch: Sequence[Rows]) -> tuple[int, ...]:
        """One step over the new rows of some requests.

        Row i of the batch, in the order given, leaves its token and logits in place i of the
        outputs. Raises CompileError for more rows than the memories were laid out for.
        """
        tokens = [token for rows in batch for token in rows.tokens]
        if not 1 <= len(tokens) <= self.spad.rows:
            raise CompileError(f"step of {len(tokens)} rows, must be 1..{self.spad.rows}")
        keys: list[Key] = [("project", len(tokens))]
        words = self._cached(keys[0]).bind([self.external.input(token) for token in tokens])
        row = 0
        for rows in batch:
            count = len(rows.tokens)
            keys.append(attend_shape(rows.first, count, self.visible, self.external.page_rows))
            words += self._cached(keys[-1]).bind(self._addresses(rows), row)
            row += count
        keys.append(("finish", len(tokens)))
        words += self._cached(keys[-1]).bind(())
        self.shapes.add(tuple(keys))
        return (*words, HALT)

    def compilation_bound(self) -> int:
        """Most kernels that can ever be compiled.

        A request's shape depends on its new rows and its first position; once the window is full,
        on the latter's place in its page alone.
        """
        limited = self.visible.window is not None
        firsts = self._context + (self.external.page_rows if limited else 0)
        return self.spad.rows * (firsts + 2) + self.external.page_rows

    # -- kernels ---------------------------------------------------------------------------------

    def _addresses(self, rows: Rows) -> list[int]:
        size = self.external.page_rows
        slots = [
            self.external.slot(*rows.slots[first - rows.first])
            for first, _ in joined(range(rows.first, rows.first + len(rows.tokens)), size)
        ]
        old = [
            self.external.slot(rows.pages[first // size], first % size)
            for first, _ in joined(old_rows(rows.first, self.visible), size)
        ]
        return slots + old

    def _cached(self, key: Key) -> Kernel:
        if key not in self.kernels:
            self.kernels[key] = self._compile(key, self.spad)
        return self.kernels[key]

    def _compile(self, key: Key, spad: Scratchpad) -> Kernel:
        lm = self.model.lm
        queries = Place(spad.queries, WIDTH)
        if isinstance(key, AttendShape):
            context = Place(spad.new_rows - sum(key.old) * ROW, ROW)
            places = {"context": context, "q": queries, "attended": queries}
            return self._kernel(attend_graph(key), spad, places, kept_from=0)
        what, rows = key
        if what == "copy":
            return copy_kernel(rows * ROW)
        if what == "project":
            places = {"x": Place(spad.inputs), "q": queries, "kv": Place(spad.new_rows)}
            return self._kernel(project_graph(lm, rows), spad, places, kept_from=spad.new_rows)
        places = {"x": Place(spad.inputs), "attended": queries}
        return self._kernel(finish_graph(lm, rows), spad, places, consumed=tuple(places))

    def _kernel(
        self,
        graph: Graph,
        spad: Scratchpad,
        places: Mapping[str, Place],
        *,
        kept_from: int | None = None,
        consumed: Sequence[str] = (),
    ) -> Kernel:
        """Compile a graph whose temporaries keep out of what other kernels of the step need."""
        weights = self.external.weights
        loaded = {name: weights[name] for name in WEIGHTS if name not in spad.resident}
        outputs = {"tok": self.external.tokens, "logits": self.external.logits}
        return compile_kernel(
            graph,
            self.model.graph_scales(graph),
            places={**places, **spad.weights},
            external={**loaded, **outputs},
            reserved=[] if kept_from is None else [(kept_from, spad.end - kept_from)],
            consumed=consumed,
            spad_words=spad.limit,
        )

    def _fitting(self, choices: Iterator[tuple[str, ...]]) -> Scratchpad:
        """The scratchpad with the first choice of resident weights beside which a step fits."""
        rows = self.external.rows
        widest = attend_shape(self._context - 1, 1, self.visible, self.external.page_rows)
        problem: CompileError | None = None
        for resident in choices:
            spad = Scratchpad(self._context, rows, resident)
            try:
                for key in (("project", rows), ("finish", rows), widest):
                    self._compile(key, spad)
                return spad
            except OutOfMemory as error:
                problem = error
        raise CompileError(
            f"{rows} rows a step beside contexts of {self._context} rows do not fit the scratchpad "
            f"of {SPAD_WORDS} words: {problem}"
        )


def _choices(latency: int) -> Iterator[tuple[str, ...]]:
    """Sets of weights to keep, from the one that saves most cycles a step down to none."""
    sets = [s for n in range(len(WEIGHTS), -1, -1) for s in combinations(WEIGHTS, n)]
    return iter(sorted(sets, key=lambda s: -sum(WEIGHTS[name] + latency + 3 for name in s)))
