"""Code generator: a tensor graph becomes a GA-2 program and an external memory image.

Nodes become instructions in graph order. A weight or an input is loaded by one LD just before its
first use; scratchpad buffers are freed after their last consumer. External memory holds weights and
inputs in graph order, then the outputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from model.chip import isa
from model.chip.fixed_point import ShiftRangeError, mantissa_shift
from model.chip.image import Words
from model.chip.isa import (
    EXT_WORDS,
    MAX_K,
    MAX_LENGTH,
    MAX_TILE,
    SPAD_WORDS,
    FaultCode,
    Instruction,
)
from model.compiler.allocator import FirstFit
from model.compiler.compiled import Compiled, Region
from model.compiler.graph import Graph, Kind, Node
from model.compiler.packing import is_packed, quantized_words, stored_words
from model.compiler.placement import Placement
from model.compiler.scales import PROBABILITY_FACTOR, Scales, assign_scales
from model.errors import CompileError


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
    generator = _Generator(graph, assign_scales(graph, ranges, tag_ranges), spad_words, reuse)
    external = _External(graph, generator.scales, ext_words)
    for node in graph.nodes:
        generator.emit_node(node, external.address)
    generator.emit(isa.halt())
    return Compiled(
        instructions=tuple(generator.code),
        program=tuple(isa.encode(instruction) for instruction in generator.code),
        image=external.image(),
        inputs=external.regions(Kind.INPUT),
        outputs=external.regions(Kind.OUTPUT),
        notes=generator.scales.notes,
        spad_peak=generator.spad.peak,
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


class _Generator:
    """Emits the instructions of one node after the other."""

    def __init__(self, graph: Graph, scales: Scales, spad_words: int, reuse: bool) -> None:
        self.graph = graph
        self.scales = scales
        self.place = Placement(graph)
        self.spad = FirstFit("scratchpad", spad_words)
        self.reuse = reuse
        self.code: list[Instruction] = []
        self._base: dict[int, int] = {}  # buffer root -> address, while it is allocated
        self._loaded: set[int] = set()

    def emit(self, instruction: Instruction) -> None:
        fault = isa.check_fault(instruction)
        if fault is not FaultCode.NONE:  # a limit that no check above has named
            raise CompileError(f"generated {instruction}, which faults with {fault.name}")
        self.code.append(instruction)

    def emit_node(self, node: Node, external: Mapping[int, int]) -> None:
        if node.size > MAX_LENGTH:
            raise CompileError(f"{node.name}: {node.size} words, an instruction takes {MAX_LENGTH}")
        for index in node.operands:
            self._load_once(self.graph.nodes[index], external)
        if node.kind is Kind.MATMUL:
            self._matmul(node)
        elif node.kind is Kind.SOFTMAX:
            self._softmax(node)
        elif node.kind is Kind.ADD:
            self._add(node)
        elif node.kind is Kind.RELU and node.operands[0] not in self.place.fused:
            self._rescale(self.addr(node.index), node.operands[0], node.index, node, relu=1)
        elif node.kind is Kind.CONCAT_ROWS:
            self._concat(node)
        elif node.kind is Kind.ARGMAX:
            source = self.graph.nodes[node.operands[0]]
            for row in range(node.rows):
                start = self.addr(source.index) + row * source.cols
                self.emit(isa.amax(self.addr(node.index) + row, start, source.cols))
        elif node.kind is Kind.OUTPUT:
            self.emit(isa.st(self.addr(node.operands[0]), external[node.index], node.size))
        self._free_after(node)

    def addr(self, index: int) -> int:
        """Scratchpad address of a tensor; its buffer is allocated at the first mention."""
        home = self.place.home[index]
        if home.root not in self._base:
            self._base[home.root] = self.spad.alloc(self.place.words[home.root])
        return self._base[home.root] + home.offset

    def _free_after(self, node: Node) -> None:
        if self.reuse:
            done = [root for root in self._base if self.place.last_use[root] <= node.index]
            for root in done:
                self.spad.release(self._base.pop(root))

    def _temporary(self, words: int) -> int:
        return self.spad.alloc(words)

    def _drop_temporary(self, address: int) -> None:
        if self.reuse:
            self.spad.release(address)

    def _load_once(self, node: Node, external: Mapping[int, int]) -> None:
        if node.kind not in (Kind.INPUT, Kind.WEIGHT) or node.index in self._loaded:
            return
        self._loaded.add(node.index)
        words = stored_words(node)
        if is_packed(node):
            packed = self._temporary(words)
            self.emit(isa.ld(packed, external[node.index], words))
            self.emit(isa.unpack(self.addr(node.index), packed, words))
            self._drop_temporary(packed)
        else:
            self.emit(isa.ld(self.addr(node.index), external[node.index], words))

    def _matmul(self, node: Node) -> None:
        a, b = (self.graph.nodes[index] for index in node.operands)
        if a.cols > MAX_K:
            raise CompileError(f"{node.name}: inner length K = {a.cols} exceeds {MAX_K}")
        a_addr, b_addr = self.addr(a.index), self.addr(b.index)
        acc = self._temporary(node.size)
        for row in range(0, node.rows, MAX_TILE):
            for col in range(0, node.cols, MAX_TILE):
                b_step = col * b.cols if node.transpose_b else col
                self.emit(
                    isa.mm(
                        acc + row * node.cols + col,
                        a_addr + row * a.cols,
                        b_addr + b_step,
                        min(MAX_TILE, node.rows - row),
                        a.cols,
                        min(MAX_TILE, node.cols - col),
                        tb=int(node.transpose_b),
                        ldb=b.cols,
                        ldc=node.cols,
                    )
                )
        scale = self.scales.of
        factor = node.factor * scale[a.index] * scale[b.index] / scale[node.index]
        relu = int(node.index in self.place.fused)
        self._requantize(self.addr(node.index), acc, node, factor, relu)
        self._drop_temporary(acc)

    def _softmax(self, node: Node) -> None:
        source = self.addr(node.operands[0])
        probabilities = self._temporary(node.size)
        for row in range(node.rows):
            step = row * node.cols
            self.emit(isa.sm(probabilities + step, source + step, node.cols))
        self._requantize(self.addr(node.index), probabilities, node, PROBABILITY_FACTOR)
        self._drop_temporary(probabilities)

    def _add(self, node: Node) -> None:
        scale = self.scales.of
        sources: list[int] = []
        temporaries: list[int] = []
        for index in node.operands:
            if scale[index] == scale[node.index]:
                sources.append(self.addr(index))
            else:
                temporaries.append(self._temporary(node.size))
                sources.append(temporaries[-1])
                self._rescale(temporaries[-1], index, node.index, node)
        self.emit(isa.vadd(self.addr(node.index), sources[0], sources[1], node.size))
        for address in temporaries:
            self._drop_temporary(address)

    def _concat(self, node: Node) -> None:
        offset = 0
        for position, index in enumerate(node.operands):
            if (node.index, position) in self.place.copied:
                self._rescale(
                    self.addr(node.index) + offset, index, node.index, self.graph.nodes[index]
                )
            offset += self.graph.nodes[index].size

    def _rescale(self, dst: int, source: int, target: int, node: Node, relu: int = 0) -> None:
        """RQ a tensor from its own scale to that of ``target`` (a copy when they are equal)."""
        factor = self.scales.of[source] / self.scales.of[target]
        self._requantize(dst, self.addr(source), node, factor, relu)

    def _requantize(self, dst: int, src: int, node: Node, factor: float, relu: int = 0) -> None:
        try:
            m, s = mantissa_shift(factor)
        except (ShiftRangeError, ValueError) as error:
            raise CompileError(f"{node.name}: {error}") from error
        self.emit(isa.rq(dst, src, node.size, m, s, relu))
