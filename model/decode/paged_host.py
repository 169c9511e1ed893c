"""The host of a paged, windowed decode: embedding in, KV cache in pages, token out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from model.compiler.graph import FloatArray
from model.decode.backend import Backend, HostStep, read_step
from model.decode.language_model import cache_inputs
from model.decode.page_table import PageTable, RequestId
from model.decode.programs import DecodePrograms
from model.errors import check_int


class KvRow(NamedTuple):
    """Cached keys and values of one token, dequantized, of all layers and heads."""

    key: FloatArray
    value: FloatArray


class PagedHost:
    """Decodes any number of requests over one page table.

    ``programs`` brings the model and its window, ``backend`` runs one compiled step.
    """

    def __init__(self, table: PageTable[KvRow], programs: DecodePrograms, backend: Backend) -> None:
        self.table = table
        self.programs = programs
        self.backend = backend

    def open(self, rid: RequestId) -> None:
        """Start a request. Raises DuplicateRequest."""
        self.table.new(rid)

    def close(self, rid: RequestId) -> None:
        """End a request and give its pages back. Raises UnknownRequest."""
        self.table.release(rid)

    def fork(self, rid: RequestId, new: RequestId) -> None:
        """Continue a request twice, on shared pages. Raises UnknownRequest, DuplicateRequest."""
        self.table.fork(rid, new)

    def step(self, rid: RequestId, token: int) -> HostStep:
        """Feed one token and return what the chip made of it.

        Raises ParameterError (token or context), UnknownRequest, or OutOfPages; then the cache is
        as before and the step can be repeated.
        """
        check_int("token", token, 0, self.programs.lm.vocabulary - 1)
        step = self.table.length(rid) + 1
        context, compiled = self.programs.for_step(step)
        pages = self.table.pages_in_use
        inputs = {"x": self.programs.lm.embed([token])}
        if context > 1:
            past = self.table.rows(rid, step - context, step - 1)
            keys, values = (np.stack(rows) for rows in zip(*past, strict=True))
            inputs |= cache_inputs(self.programs.lm, keys, values)
        image = compiled.fill(inputs)
        run = self.backend.run(compiled, image)
        result = read_step(
            self.programs.lm,
            compiled,
            image,
            run,
            step=step,
            context=context,
            token=token,
            pages=pages,
        )
        key, value = result.key, result.value
        window = self.programs.window
        keep_from = 0 if window is None else step + 1 - window
        self.table.append(rid, KvRow(key, value), keep_from)
        return result


def pages_at_start(step: int, page_rows: int, window: int | None) -> int:
    """Pages one request holds while a step (from 1) runs, before its row is appended.

    ceil((L - 1) / P) - floor(max(0, L - W) / P); without a window nothing is subtracted.
    """
    written = -(-(step - 1) // page_rows)
    return written if window is None else written - max(0, step - window) // page_rows
