"""The host of a paged, windowed decode: embedding in, KV cache in pages, token out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from model.compiler.graph import FloatArray
from model.decode.backend import Backend, HostStep, read_step
from model.decode.page_table import PageTable, RequestId
from model.decode.programs import DecodePrograms
from model.decode.tiny_lm import VOCABULARY
from model.errors import check_int


class KvRow(NamedTuple):
    """Cached key and value of one token, dequantized, (16,) each."""

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
        check_int("token", token, 0, VOCABULARY - 1)
        step = self.table.length(rid) + 1
        context, compiled = self.programs.for_step(step)
        pages = self.table.pages_in_use
        inputs = {"x": self.programs.lm.embed([token])}
        if context > 1:
            past = self.table.rows(rid, step - context, step - 1)
            inputs["kc"] = np.stack([row.key for row in past])
            inputs["vc"] = np.stack([row.value for row in past])
        image = compiled.fill(inputs)
        run = self.backend.run(compiled, image)
        result = read_step(
            compiled, image, run, step=step, context=context, token=token, pages=pages
        )
        key = np.array(result.k_new) * compiled.outputs["k_new"].scale
        value = np.array(result.v_new) * compiled.outputs["v_new"].scale
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
