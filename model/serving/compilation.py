"""From the key of a kernel to its words, for one layout of the memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from model.compiler.graph import Graph
from model.compiler.kernel import Kernel, Place, compile_kernel, copy_kernel
from model.serving.calibration import ServedModel
from model.serving.kernels import AttendShape, attend_graph, finish_graph, project_graph
from model.serving.layout import External, Scratchpad

What = Literal["finish", "project"]
DENSE: tuple[What, ...] = ("finish", "project")


class Dense(NamedTuple):
    """A kernel over all rows of a batch: what it does, in which layer, of how many rows."""

    what: What
    layer: int
    rows: int


class Attend(NamedTuple):
    """A kernel over the rows of one request, in one head of a layer."""

    layer: int
    head: int
    shape: AttendShape


class CopyRows(NamedTuple):
    """A kernel that copies so many rows of a page, of one head of a layer."""

    rows: int


Key = Dense | Attend | CopyRows


class KernelCompiler:
    """Compiles the kernels of a model for one layout of external memory."""

    def __init__(self, served: ServedModel, external: External) -> None:
        self.model = served.architecture
        self.external = external
        self._served = served

    def graph(self, key: Dense | Attend) -> Graph:
        """Return what a kernel computes."""
        if isinstance(key, Attend):
            return attend_graph(self.model, *key)
        make = project_graph if key.what == "project" else finish_graph
        return make(self.model, key.layer, key.rows)

    def compile(self, key: Key, spad: Scratchpad) -> Kernel:
        """Compile a kernel for one layout of the scratchpad. Raises CompileError."""
        if isinstance(key, CopyRows):
            return copy_kernel(key.rows * self.model.row)
        if isinstance(key, Attend):
            return self._attend(key, spad)
        if key.what == "project":
            return self._project(key, spad)
        return self._finish(key, spad)

    def _project(self, key: Dense, spad: Scratchpad) -> Kernel:
        places = {self.model.entry(key.layer): Place(spad.inputs)}
        for head in range(self.model.heads):
            places[f"q{self.model.head_name(key.layer, head)}"] = Place(spad.queries(head))
            places[f"kv.{head}"] = Place(spad.new_rows(head))
        return self._kernel(key, spad, places, spad.projected)

    def _attend(self, key: Attend, spad: Scratchpad) -> Kernel:
        of = self.model.head_name(key.layer, key.head)
        start = spad.new_rows(key.head) - sum(key.shape.old) * self.model.row
        queries = Place(spad.queries(key.head), self.model.head_width)
        context = Place(start, self.model.row)
        places = {"context": context, f"q{of}": queries, f"attended{of}": queries}
        return self._kernel(key, spad, places, [(0, spad.end)])

    def _finish(self, key: Dense, spad: Scratchpad) -> Kernel:
        """Compile the end of a layer.

        What comes out of it, if another one follows, takes the place of what went in, which is kept
        free for it.
        """
        attended = {
            f"attended{self.model.head_name(key.layer, head)}": Place(spad.queries(head))
            for head in range(self.model.heads)
        }
        inputs = Place(spad.inputs)
        places = {**attended, self.model.entry(key.layer): inputs}
        if key.layer == self.model.layers - 1:
            return self._kernel(key, spad, places, consumed=tuple(places))
        places[self.model.entry(key.layer + 1)] = inputs
        kept = [(spad.inputs, key.rows * self.model.width)]
        return self._kernel(key, spad, places, kept, consumed=tuple(attended))

    def _kernel(
        self,
        key: Dense | Attend,
        spad: Scratchpad,
        places: Mapping[str, Place],
        reserved: Sequence[tuple[int, int]] = (),
        *,
        consumed: Sequence[str] = (),
    ) -> Kernel:
        """Compile a graph whose temporaries keep out of what other kernels of the step need."""
        graph = self.graph(key)
        weights = self.external.weights
        loaded = {name: weights[name] for name in weights if name not in spad.resident}
        outputs = {"tok": self.external.tokens, "logits": self.external.logits}
        return compile_kernel(
            graph,
            self._served.graph_scales(graph),
            places={**places, **spad.weights},
            external={**loaded, **outputs},
            reserved=reserved,
            consumed=consumed,
            spad_words=spad.limit,
        )
