"""Builds the program of a step: kernels compiled once for each shape, bound to a batch's pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from model.chip import isa
from model.chip.isa import MAX_LENGTH
from model.compiler.kernel import Kernel, boot_kernel
from model.decode.page_table import Copy, Slot
from model.decode.visible import Visible
from model.errors import CompileError
from model.serving.calibration import ServedModel
from model.serving.compilation import Attend, CopyRows, Dense, KernelCompiler, Key
from model.serving.kernels import AttendShape, attend_shape, old_rows
from model.serving.layout import External, joined
from model.serving.residence import fitting

HALT = isa.encode(isa.halt())


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
        self.shapes: set[tuple[AttendShape, ...]] = set()
        self._context = context
        self._compiler = KernelCompiler(model, external)
        widest = attend_shape(context - 1, 1, visible, external.page_rows)
        self.spad = fitting(self._compiler, context, widest, latency if resident else None)

    # -- programs --------------------------------------------------------------------------------

    def boot(self) -> tuple[int, ...]:
        """Load the resident weights."""
        weights = [
            (place.address, self.external.weights[name], self.model.architecture.words[name])
            for name, place in self.spad.weights.items()
        ]
        return (*boot_kernel(weights).words, HALT)

    def copy(self, copy: Copy) -> tuple[int, ...]:
        """Copy the first rows of a page to another one, by way of the scratchpad."""
        words: list[int] = []
        most = min(self.spad.limit, MAX_LENGTH) // self.model.architecture.row
        for plane in range(self.model.architecture.planes):
            for first in range(0, copy.rows, most):
                kernel = self._cached(CopyRows(min(most, copy.rows - first)))
                pages = copy.source, copy.target
                words += kernel.bind([self.external.slot(page, first, plane) for page in pages])
        return (*words, HALT)

    def step(self, batch: Sequence[Rows]) -> tuple[int, ...]:
        """One step over the new rows of some requests.

        Row i of the batch, in the order given, leaves its token and logits in place i of the
        outputs. Raises CompileError for more rows than the memories were laid out for.
        """
        tokens = [token for rows in batch for token in rows.tokens]
        if not 1 <= len(tokens) <= self.spad.rows:
            raise CompileError(f"step of {len(tokens)} rows, must be 1..{self.spad.rows}")
        words: list[int] = []
        for layer in range(self.model.architecture.layers):
            inputs = [self.external.input(token) for token in tokens] if layer == 0 else []
            words += self._cached(Dense("project", layer, len(tokens))).bind(inputs)
            for head in range(self.model.architecture.heads):
                words += self._attend(layer, head, batch)
            words += self._cached(Dense("finish", layer, len(tokens))).bind(())
        self.shapes.add(tuple(self._shape(rows) for rows in batch))
        return (*words, HALT)

    def compilation_bound(self) -> int:
        """Most kernels that can ever be compiled.

        A request's shape depends on its new rows and its first position; once the window is full,
        on the latter's place in its page alone.
        """
        limited = self.visible.window is not None
        firsts = self._context + (self.external.page_rows if limited else 0)
        model = self.model.architecture
        kernels = model.planes * firsts + 2 * model.layers
        return self.spad.rows * kernels + self.external.page_rows

    # -- kernels ---------------------------------------------------------------------------------

    def _attend(self, layer: int, head: int, batch: Sequence[Rows]) -> list[int]:
        """One request after the other."""
        plane = self.model.architecture.plane(layer, head)
        words: list[int] = []
        row = 0
        for rows in batch:
            kernel = self._cached(Attend(layer, head, self._shape(rows)))
            words += kernel.bind(self._addresses(rows, plane), row)
            row += len(rows.tokens)
        return words

    def _shape(self, rows: Rows) -> AttendShape:
        size = self.external.page_rows
        return attend_shape(rows.first, len(rows.tokens), self.visible, size)

    def _addresses(self, rows: Rows, plane: int) -> list[int]:
        size = self.external.page_rows
        slots = [
            self.external.slot(*rows.slots[first - rows.first], plane)
            for first, _ in joined(range(rows.first, rows.first + len(rows.tokens)), size)
        ]
        old = [
            self.external.slot(rows.pages[first // size], first % size, plane)
            for first, _ in joined(old_rows(rows.first, self.visible), size)
        ]
        return slots + old

    def _cached(self, key: Key) -> Kernel:
        if key not in self.kernels:
            self.kernels[key] = self._compiler.compile(key, self.spad)
        return self.kernels[key]
