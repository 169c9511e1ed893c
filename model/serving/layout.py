"""Where everything lies: external memory, and the scratchpad between the kernels of a step.

External memory: weights | input rows | pool of pages | outputs. An input row is a token's
embedding; a page is rows of key and value side by side.

Scratchpad: old rows of one request | new rows of the batch | queries | inputs | ... | resident
weights at the end. A request's old rows are loaded in front of its new ones, over those of the
requests before it, which are done: so its context is contiguous and nothing is moved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from model.chip.image import Words
from model.chip.isa import EXT_WORDS, SPAD_WORDS
from model.compiler.kernel import Place
from model.compiler.packing import quantized_words
from model.decode.tiny_lm import HIDDEN, VOCABULARY, WIDTH
from model.errors import ParameterError
from model.serving.calibration import ServedModel

ROW = 2 * WIDTH  # words of a key and a value
WEIGHTS: Mapping[str, int] = {
    "wq": WIDTH * WIDTH,
    "wk": WIDTH * WIDTH,
    "wv": WIDTH * WIDTH,
    "wo": WIDTH * WIDTH,
    "w1": WIDTH * HIDDEN,
    "w2": HIDDEN * WIDTH,
    "wout": WIDTH * VOCABULARY,
}


@dataclass(frozen=True)
class External:
    """Addresses in external memory. Raises ParameterError for a pool that does not fit."""

    page_rows: int
    pool: int
    rows: int

    def __post_init__(self) -> None:
        if self.words > EXT_WORDS:
            most = (EXT_WORDS - self.words + self.pool * self.page_rows * ROW) // (
                self.page_rows * ROW
            )
            legal = f"at most {most} pages of {self.page_rows} rows, {EXT_WORDS} words in all"
            raise ParameterError("pool", self.pool, legal)

    @property
    def weights(self) -> dict[str, int]:
        """Address of each weight."""
        ends = np.cumsum([0, *WEIGHTS.values()]).tolist()
        return dict(zip(WEIGHTS, ends, strict=False))

    @property
    def inputs(self) -> int:
        """Address of the first input row."""
        return sum(WEIGHTS.values())

    @property
    def pages(self) -> int:
        """Address of page 0."""
        return self.inputs + VOCABULARY * WIDTH

    @property
    def tokens(self) -> int:
        """Address of the chosen tokens, one for each row of a step."""
        return self.pages + self.pool * self.page_rows * ROW

    @property
    def logits(self) -> int:
        """Address of the logits, 16 for each row of a step."""
        return self.tokens + self.rows

    @property
    def words(self) -> int:
        """Length of all."""
        return self.logits + self.rows * VOCABULARY

    def input(self, token: int) -> int:
        """Address of a token's input row."""
        return self.inputs + token * WIDTH

    def slot(self, page: int, offset: int) -> int:
        """Address of a row of a page."""
        return self.pages + (page * self.page_rows + offset) * ROW

    def image(self, model: ServedModel) -> Words:
        """Memory before anything has run: weights and input rows, all else zero."""
        image = np.zeros(self.words, dtype=np.uint32)
        graph = model.lm.decode_graph(1)
        values = {node.name: node.values for node in graph.nodes if node.values is not None}
        for name, address in self.weights.items():
            words = quantized_words(values[name], model.scales[name], 8)
            image[address : address + words.size] = words
        rows = quantized_words(model.lm.embedding, model.scales["x"], 8)
        image[self.inputs : self.inputs + rows.size] = rows
        return image


@dataclass(frozen=True)
class Scratchpad:
    """Addresses in the scratchpad for contexts and batches of so many rows at most."""

    context: int
    rows: int
    resident: tuple[str, ...] = ()

    @property
    def new_rows(self) -> int:
        """Address of the first new row; old ones end here."""
        return (self.context - 1) * ROW

    @property
    def queries(self) -> int:
        """Address of the queries, each replaced by what it has attended."""
        return self.new_rows + self.rows * ROW

    @property
    def inputs(self) -> int:
        """Address of the input rows, which the residual sum needs again."""
        return self.queries + self.rows * WIDTH

    @property
    def end(self) -> int:
        """End of what outlives a kernel; temporaries may follow."""
        return self.inputs + self.rows * WIDTH

    @property
    def limit(self) -> int:
        """End of temporaries, where the resident weights begin."""
        return SPAD_WORDS - sum(WEIGHTS[name] for name in self.resident)

    @property
    def weights(self) -> dict[str, Place]:
        """Places of the resident weights."""
        places = {}
        address = self.limit
        for name in self.resident:
            places[name] = Place(address)
            address += WEIGHTS[name]
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
