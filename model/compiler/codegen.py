"""A tensor graph becomes a GA-2 program and an external memory image.

External memory holds weights and inputs in graph order, then the outputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from model.chip import isa
from model.chip.image import Words
from model.chip.isa import EXT_WORDS, SPAD_WORDS
from model.compiler.allocator import FirstFit
from model.compiler.compiled import Compiled, Region
from model.compiler.generator import Generator
from model.compiler.graph import Graph, Kind
from model.compiler.packing import quantized_words, stored_words
from model.compiler.scales import Scales, assign_scales


def compile_graph(
    graph: Graph,
    ranges: Sequence[float],
    tag_ranges: Mapping[str, float] | None = None,
    *,
    spad_words: int = SPAD_WORDS,
    ext_words: int = EXT_WORDS,
    reuse: bool = True,
) -> Compiled:
    """Compile a graph.

    ranges: largest absolute value of every node over the calibration samples (scales.py);
    tag_ranges: ranges fixed from outside. With reuse=False no scratchpad buffer is ever freed.
    Raises CompileError: out of scratchpad or external memory (OutOfMemory, with the words asked for
    and free), K above 64, a tensor longer than an instruction can handle, a shift outside 0..63.
    """
    scales = assign_scales(graph, ranges, tag_ranges)
    external = _External(graph, scales, ext_words)
    spad = FirstFit("scratchpad", spad_words)
    generator = Generator(graph, scales, spad, external.address, reuse=reuse)
    generator.emit_graph()
    generator.emit(isa.halt())
    return Compiled(
        instructions=tuple(generator.code),
        program=tuple(isa.encode(instruction) for instruction in generator.code),
        image=external.image(),
        inputs=external.regions(Kind.INPUT),
        outputs=external.regions(Kind.OUTPUT),
        notes=scales.notes,
        spad_peak=spad.peak,
    )


class _External:
    """Layout of external memory: weights and inputs in graph order, then outputs."""

    def __init__(self, graph: Graph, scales: Scales, words: int) -> None:
        self._graph = graph
        self._scales = scales
        self._memory = FirstFit("external memory", words)
        self.address: dict[int, int] = {}
        sources = [node for node in graph.nodes if node.kind in (Kind.INPUT, Kind.WEIGHT)]
        for node in [*sources, *graph.of_kind(Kind.OUTPUT)]:
            self.address[node.index] = self._memory.alloc(stored_words(node))

    def regions(self, kind: Kind) -> dict[str, Region]:
        return {
            node.name: Region(
                node.name,
                self.address[node.index],
                node.rows,
                node.cols,
                self._scales.of[node.index],
                node.bits if kind is Kind.INPUT else 8,
            )
            for node in self._graph.of_kind(kind)
        }

    def image(self) -> Words:
        image = np.zeros(self._memory.peak, dtype=np.uint32)
        for node in self._graph.of_kind(Kind.WEIGHT):
            assert node.values is not None
            words = quantized_words(node.values, self._scales.of[node.index], node.bits)
            address = self.address[node.index]
            image[address : address + words.size] = words
        return image
