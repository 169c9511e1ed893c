"""Where everything lies: external memory, and the scratchpad between the kernels of a step.

External memory: weights | input rows | pool of pages | outputs. An input row is a token's
embedding. A page has a plane for each head of each layer: rows of key and value side by side.

Scratchpad: old rows of one request | new rows of the batch | queries | inputs | ... | resident
weights at the end. A request's old rows are loaded in front of its new ones, over those of the
requests before it, which are done: so its context is contiguous and nothing is moved. New rows and
queries are those of one layer, one head after the other; who comes to a head's is done with those
of the heads before it. In a model of several layers the inputs are in front of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model.chip.image import Words
from model.chip.isa import EXT_WORDS, SPAD_WORDS
from model.compiler.kernel import Place
from model.compiler.packing import quantized_words
from model.errors import ParameterError
from model.serving.architecture import Architecture
from model.serving.calibration import ServedModel


@dataclass(frozen=True)
class External:
    """Addresses in external memory. Raises ParameterError for a pool that does not fit."""

    model: Architecture
    page_rows: int
    pool: int
    rows: int

    def __post_init__(self) -> None:
        if self.words > EXT_WORDS:
            most = (EXT_WORDS - self.words + self.pool * self.page_words) // self.page_words
            legal = f"at most {most} pages of {self.page_rows} rows, {EXT_WORDS} words in all"
            raise ParameterError("pool", self.pool, legal)

    @property
    def page_words(self) -> int:
        """Length of a page."""
        return self.model.planes * self.page_rows * self.model.row

    @property
    def weights(self) -> dict[str, int]:
        """Address of each weight."""
        words = self.model.words
        ends = np.cumsum([0, *words.values()]).tolist()
        return dict(zip(words, ends, strict=False))

    @property
    def inputs(self) -> int:
        """Address of the first input row."""
        return sum(self.model.words.values())

    @property
    def pages(self) -> int:
        """Address of page 0."""
        return self.inputs + self.model.vocabulary * self.model.width

    @property
    def tokens(self) -> int:
        """Address of the chosen tokens, one for each row of a step."""
        return self.pages + self.pool * self.page_words

    @property
    def logits(self) -> int:
        """Address of the logits, as many as tokens exist for each row of a step."""
        return self.tokens + self.rows

    @property
    def words(self) -> int:
        """Length of all."""
        return self.logits + self.rows * self.model.vocabulary

    def input(self, token: int) -> int:
        """Address of a token's input row."""
        return self.inputs + token * self.model.width

    def slot(self, page: int, offset: int, plane: int = 0) -> int:
        """Address of a row of a page, of one head of one layer."""
        row = plane * self.page_rows + offset
        return self.pages + page * self.page_words + row * self.model.row

    def image(self, served: ServedModel) -> Words:
        """Memory before anything has run: weights and input rows, all else zero."""
        image = np.zeros(self.words, dtype=np.uint32)
        for name, address in self.weights.items():
            words = quantized_words(self.model.weights[name], served.scales[name], 8)
            image[address : address + words.size] = words
        embedding = served.lm.embed(range(self.model.vocabulary))
        rows = quantized_words(embedding, served.scales["x"], 8)
        image[self.inputs : self.inputs + rows.size] = rows
        return image


@dataclass(frozen=True)
class Scratchpad:
    """Addresses in the scratchpad for contexts and batches of so many rows at most."""

    model: Architecture
    context: int
    rows: int
    resident: tuple[str, ...] = ()

    def new_rows(self, head: int = 0) -> int:
        """Address of the first new row of a head; its old ones end here."""
        return self._front + (self.context - 1 + head * self.rows) * self.model.row

    def queries(self, head: int = 0) -> int:
        """Address of a head's queries, each replaced by what it has attended."""
        return self.new_rows(self.model.heads) + head * self.rows * self.model.head_width

    @property
    def inputs(self) -> int:
        """Address of what goes into a layer, which the residual sum needs again."""
        return 0 if self._front else self.queries(self.model.heads)

    @property
    def end(self) -> int:
        """End of what outlives a kernel; temporaries may follow."""
        return self.queries(self.model.heads) + self.rows * self.model.width - self._front

    @property
    def projected(self) -> list[tuple[int, int]]:
        """Address and words of what a projection leaves: inputs, new rows and queries."""
        rest = (self.new_rows(), self.end - self.new_rows())
        return [(0, self._front), rest] if self._front else [rest]

    @property
    def _front(self) -> int:
        """Words of the inputs where another layer's follow in their place: there they are in front.

        Behind the queries they would leave two holes, of which none may hold a weight.
        """
        return self.rows * self.model.width if self.model.layers > 1 else 0

    @property
    def limit(self) -> int:
        """End of temporaries, where the resident weights begin."""
        return SPAD_WORDS - sum(self.model.words[name] for name in self.resident)

    @property
    def weights(self) -> dict[str, Place]:
        """Places of the resident weights."""
        places = {}
        address = self.limit
        for name in self.resident:
            places[name] = Place(address)
            address += self.model.words[name]
        return places


def joined(positions: Sequence[int], page_rows: int) -> list[tuple[int, int]]:
    """Runs (first position, rows) of ascending positions that follow each other in one page."""
    runs: list[tuple[int, int]] = []
    for position in positions:
        if runs and position == sum(runs[-1]) and position % page_rows:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((position, 1))
    return runs
