"""Puts a directed program together: instructions, memory contents, surroundings, final stores."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from model.chip.image import Words
from model.chip.isa import SPAD_WORDS, Instruction, encode, halt, st
from verif.items.program_item import ProgramItem
from verif.stimulus.data import pattern, words

SMALLEST_DEPTH = 1024


class Builder:
    """One directed program in the making.

    The scratchpad starts as a pattern in which every word differs; ``spad`` and ``ext`` overwrite
    parts of it. ``keep`` appends a store of results to the next free external address, so that an
    error reaches the memory the scoreboard compares.
    """

    def __init__(self, name: str, out: int = 0) -> None:
        """Start the program ``name``; results are stored from external address ``out`` on."""
        self.name = name
        self.program: list[int] = []
        self.out = out
        self._image: Words = np.zeros(0, dtype=np.uint32)
        self._spad = pattern(SPAD_WORDS)

    def spad(self, address: int, values: Iterable[int] | Words) -> Builder:
        """Put words into the scratchpad before the program starts."""
        block = values if isinstance(values, np.ndarray) else words(values)
        if address + len(block) > SPAD_WORDS:
            raise ValueError(f"{self.name}: {len(block)} words at {address} leave the scratchpad")
        self._spad[address : address + len(block)] = block
        return self

    def ext(self, address: int, values: Iterable[int] | Words) -> Builder:
        """Put words into the external memory; results are stored behind them."""
        block = values if isinstance(values, np.ndarray) else words(values)
        end = address + len(block)
        if end > len(self._image):
            grown = np.zeros(end, dtype=np.uint32)
            grown[: len(self._image)] = self._image
            self._image = grown
        self._image[address:end] = block
        self.out = max(self.out, end)
        return self

    def add(self, *instructions: Instruction | int) -> Builder:
        """Append instructions, encoded here; an int is a raw 128-bit word."""
        for instruction in instructions:
            self.program.append(
                instruction if isinstance(instruction, int) else encode(instruction)
            )
        return self

    def keep(self, source: int, length: int) -> Builder:
        """Store ``length`` scratchpad words from ``source`` to the next free external address."""
        self.add(st(source, self.out, length))
        self.out += length
        return self

    def item(self, *, halted: bool = True, **surroundings: Any) -> ProgramItem:
        """Finish the program, with a HALT if ``halted``; ``surroundings`` sets item fields."""
        if halted:
            self.add(halt())
        depth = max(SMALLEST_DEPTH, -(-self.out // SMALLEST_DEPTH) * SMALLEST_DEPTH)
        fields: dict[str, Any] = {
            "name": self.name,
            "program": self.program,
            "image": self._image,
            "spad": self._spad,
            "depth": min(depth, 65536),
            "provenance": f"directed {self.name}",
        }
        fields.update(surroundings)
        return ProgramItem(**fields)
