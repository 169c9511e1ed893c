"""A compiled program: its words, its external memory layout, and how to fill and read that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from model.chip.image import Words
from model.chip.isa import Instruction
from model.compiler.graph import FloatArray, GraphError
from model.compiler.packing import packed_words, quantized_words


@dataclass(frozen=True)
class Region:
    """A tensor in external memory, row-major; value = integer * scale.

    An integer takes a word, or the eighth of one where it has 4 bits.
    """

    name: str
    address: int
    rows: int
    cols: int
    scale: float
    bits: int = 8

    @property
    def words(self) -> int:
        """Length in words."""
        size = self.rows * self.cols
        return packed_words(size) if self.bits == 4 else size


@dataclass(frozen=True)
class Compiled:
    """What compile_graph() makes of a graph.

    program: 128-bit words, HALT last. image: external memory from address 0 up to the end of the
    outputs, weights filled in and the rest zero. spad_peak, ext_used: words.
    """

    instructions: tuple[Instruction, ...]
    program: tuple[int, ...]
    image: Words = field(repr=False)
    inputs: Mapping[str, Region]
    outputs: Mapping[str, Region]
    notes: tuple[str, ...]
    spad_peak: int

    @property
    def ext_used(self) -> int:
        """Words of external memory that the program can touch."""
        return int(self.image.size)

    def fill(self, values: Mapping[str, FloatArray]) -> Words:
        """Return a copy of the image with the inputs quantized into their places.

        values: input name -> (rows, cols). Raises GraphError for a missing, unknown or misshapen
        one, or one that holds a NaN.
        """
        if values.keys() != self.inputs.keys():
            raise GraphError(f"inputs {sorted(values)} given, {sorted(self.inputs)} expected")
        image = self.image.copy()
        for name, region in self.inputs.items():
            value = np.asarray(values[name], dtype=np.float64)
            if value.shape != (region.rows, region.cols):
                raise GraphError(f"input {name!r}: {value.shape} for {region.rows}x{region.cols}")
            if np.isnan(value).any():
                raise GraphError(f"input {name!r}: NaN is no number to quantize")
            words = quantized_words(value, region.scale, region.bits)
            image[region.address : region.address + region.words] = words
        return image

    def read(self, ext: Words, name: str) -> NDArray[np.int32]:
        """Output ``name`` as integers (rows, cols) from external memory after a run."""
        if name not in self.outputs:
            raise GraphError(f"no output is named {name!r}: {sorted(self.outputs)}")
        region = self.outputs[name]
        words = ext[region.address : region.address + region.words]
        return words.view(np.int32).reshape(region.rows, region.cols)
