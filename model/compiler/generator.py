"""Code generator: the nodes of a graph become instructions, in graph order.

A weight or an input is loaded by one LD just before its first use, or by one for each of its
pieces; scratchpad buffers are freed after their last consumer. A tensor whose rows have others
beside them is written and moved row by row; the matrix unit reads it by its strides.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple

from model.chip import isa
from model.chip.fixed_point import ShiftRangeError, mantissa_shift
from model.chip.isa import MAX_K, MAX_LENGTH, MAX_TILE, FaultCode, Instruction
from model.compiler.allocator import FirstFit
from model.compiler.graph import Graph, Kind, Node
from model.compiler.packing import is_packed, stored_words
from model.compiler.placement import Placement
from model.compiler.scales import PROBABILITY_FACTOR, Scales
from model.errors import CompileError

Transfer = Callable[[int, int, int], Instruction]  # of an address in each memory and a length


class Block(NamedTuple):
    """Rows in the scratchpad: the first one's address, and the words from one to the next."""

    address: int
    stride: int

    def row(self, number: int) -> int:
        """Address of a row."""
        return self.address + number * self.stride


class Piece(NamedTuple):
    """An LD or ST whose external address is bound later: its place in the code and its rows."""

    position: int
    name: str
    first_row: int
    rows: int


class Generator:
    """Emits the instructions of one node after the other.

    ``external`` gives the address of each weight, input and output that has one, by node. A tensor
    in ``placed`` (node -> address) has its place in words that ``spad`` has handed out already, and
    keeps them beyond the program unless it is ``consumed``; weights and inputs in there that have
    no external address are not loaded. ``compact`` accumulates a product where its result will be.
    """

    def __init__(
        self,
        graph: Graph,
        scales: Scales,
        spad: FirstFit,
        external: Mapping[int, int],
        placed: Mapping[int, int] | None = None,
        *,
        consumed: Collection[int] = (),
        reuse: bool = True,
        compact: bool = False,
    ) -> None:
        self.graph = graph
        self.scales = scales
        self.place = Placement(graph)
        self.spad = spad
        self.reuse = reuse
        self.compact = compact
        self.code: list[Instruction] = []
        self.pieces: list[Piece] = []
        self._external = external
        self._placed = self._roots(placed or {})
        self._kept = self._placed.keys() - set(consumed)
        self._base = dict(self._placed)  # buffer root -> address, while it is allocated
        self._loaded: set[int] = set()

    def emit(self, instruction: Instruction) -> None:
        """Append an instruction. Raises CompileError when it would fault."""
        fault = isa.check_fault(instruction)
        if fault is not FaultCode.NONE:  # a limit that no check above has named
            raise CompileError(f"generated {instruction}, which faults with {fault.name}")
        self.code.append(instruction)

    def emit_graph(self) -> None:
        """Append the instructions of all nodes. Raises CompileError like compile_graph()."""
        for node in self.graph.nodes:
            self._emit_node(node)

    def block(self, index: int) -> Block:
        """Where a tensor lies; its buffer is allocated at the first mention."""
        home = self.place.home[index]
        if home.root not in self._base:
            self._base[home.root] = self.spad.alloc(self.place.words[home.root])
        return Block(self._base[home.root] + home.offset, home.stride)

    def _roots(self, placed: Mapping[int, int]) -> dict[int, int]:
        roots = {}
        for index, address in placed.items():
            home = self.place.home[index]
            if home.root != index:
                name = self.graph.nodes[index].name
                raise CompileError(f"{name}: placed, but it lies inside another tensor")
            roots[index] = address
        return roots

    def _emit_node(self, node: Node) -> None:
        if node.size > MAX_LENGTH:
            raise CompileError(f"{node.name}: {node.size} words, an instruction takes {MAX_LENGTH}")
        for index in node.operands:
            self._load_once(self.graph.nodes[index])
        if node.kind is Kind.MATMUL:
            self._matmul(node)
        elif node.kind is Kind.SOFTMAX:
            self._softmax(node)
        elif node.kind is Kind.ADD:
            self._add(node)
        elif node.kind is Kind.RELU and node.operands[0] not in self.place.fused:
            self._rescale(self.block(node.index), node.operands[0], node.index, node, relu=1)
        elif node.kind in (Kind.CONCAT_ROWS, Kind.CONCAT_COLS):
            self._concat(node)
        elif node.kind is Kind.SHIFT_ROWS:
            self._shift(node)
        elif node.kind is Kind.ARGMAX:
            source = self.graph.nodes[node.operands[0]]
            start, result = self.block(source.index), self.block(node.index)
            for row in range(node.rows):
                self.emit(isa.amax(result.row(row), start.row(row), source.cols))
        elif node.kind is Kind.OUTPUT:
            source = self.graph.nodes[node.operands[0]]
            self._transfer(isa.st, node, self.block(source.index))
        self._free_after(node)

    def _free_after(self, node: Node) -> None:
        if self.reuse:
            done = [root for root in self._base if self.place.last_use[root] <= node.index]
            for root in done:
                if root not in self._kept:
                    self.spad.release(self._base.pop(root))

    def _temporary(self, node: Node) -> Block:
        return Block(self.spad.alloc(node.size), node.cols)

    def _drop_temporary(self, block: Block) -> None:
        if self.reuse:
            self.spad.release(block.address)

    def _load_once(self, node: Node) -> None:
        if node.kind not in (Kind.INPUT, Kind.WEIGHT) or node.index in self._loaded:
            return
        self._loaded.add(node.index)
        target = self.block(node.index)
        if node.index not in self._external and not node.pieces:
            if self.place.home[node.index].root not in self._placed:
                raise CompileError(f"{node.name}: neither in external memory nor in the scratchpad")
        elif is_packed(node):
            if target.stride != node.cols:
                raise CompileError(f"{node.name}: packed values cannot lie beside others")
            words = stored_words(node)
            packed = self.spad.alloc(words)
            self.emit(isa.ld(packed, self._external[node.index], words))
            self.emit(isa.unpack(target.address, packed, words))
            if self.reuse:
                self.spad.release(packed)
        else:
            self._transfer(isa.ld, node, target)

    def _transfer(self, make: Transfer, node: Node, block: Block) -> None:
        """LD or ST a tensor, whole or in pieces."""

        def one(first_row: int, rows: int, external: int) -> None:
            for row, words in _runs(rows, node.cols, block):
                near = block.row(first_row + row)
                far = external + row * node.cols
                self.emit(make(near, far, words))

        row = 0
        for rows in node.pieces:
            if block.stride != node.cols:
                raise CompileError(f"{node.name}: a piece cannot lie beside others")
            self.pieces.append(Piece(len(self.code), node.name, row, rows))
            one(row, rows, 0)
            row += rows
        if not node.pieces:
            one(0, node.rows, self._external[node.index])

    def _matmul(self, node: Node) -> None:
        a, b = (self.graph.nodes[index] for index in node.operands)
        if a.cols > MAX_K:
            raise CompileError(f"{node.name}: inner length K = {a.cols} exceeds {MAX_K}")
        left, right = self.block(a.index), self.block(b.index)
        home = self.place.home[node.index]
        alone = home.root not in self._base and self.place.words[home.root] == node.size
        if self.compact and alone and home.stride == node.cols:
            acc = self.block(node.index)
        else:
            acc = self._temporary(node)
        for row in range(0, node.rows, MAX_TILE):
            for col in range(0, node.cols, MAX_TILE):
                self.emit(
                    isa.mm(
                        acc.row(row) + col,
                        left.row(row),
                        right.row(col) if node.transpose_b else right.address + col,
                        min(MAX_TILE, node.rows - row),
                        a.cols,
                        min(MAX_TILE, node.cols - col),
                        tb=int(node.transpose_b),
                        lda=left.stride,
                        ldb=right.stride,
                        ldc=acc.stride,
                    )
                )
        scale = self.scales.of
        factor = node.factor * scale[a.index] * scale[b.index] / scale[node.index]
        relu = int(node.index in self.place.fused)
        target = self.block(node.index)
        self._requantize(target, acc, node, factor, relu)
        if acc != target:
            self._drop_temporary(acc)

    def _softmax(self, node: Node) -> None:
        source = self.block(node.operands[0])
        probabilities = self._temporary(node)
        for row in range(node.rows):
            self.emit(isa.sm(probabilities.row(row), source.row(row), node.cols))
        self._requantize(self.block(node.index), probabilities, node, PROBABILITY_FACTOR)
        self._drop_temporary(probabilities)

    def _add(self, node: Node) -> None:
        scale = self.scales.of
        sources: list[Block] = []
        temporaries: list[Block] = []
        for index in node.operands:
            if scale[index] == scale[node.index]:
                sources.append(self.block(index))
            else:
                temporaries.append(self._temporary(node))
                sources.append(temporaries[-1])
                self._rescale(temporaries[-1], index, node.index, node)
        target, (left, right) = self.block(node.index), sources
        for row, words in _runs(node.rows, node.cols, target, left, right):
            self.emit(isa.vadd(target.row(row), left.row(row), right.row(row), words))
        for block in temporaries:
            self._drop_temporary(block)

    def _concat(self, node: Node) -> None:
        target = self.block(node.index)
        row = col = 0
        for position, index in enumerate(node.operands):
            operand = self.graph.nodes[index]
            if (node.index, position) in self.place.copied:
                part = Block(target.row(row) + col, target.stride)
                self._rescale(part, index, node.index, operand)
            if node.kind is Kind.CONCAT_ROWS:
                row += operand.rows
            else:
                col += operand.cols

    def _shift(self, node: Node) -> None:
        """Copy rows down by one, the last one first so that none is lost on the way."""
        block = self.block(node.index)
        root = self.place.home[node.index].root
        for other in self.graph.nodes[: node.index]:
            if self.place.home[other.index].root == root:
                late = [one for one in self.graph.consumers(other) if one.index > node.index]
                if late:
                    raise CompileError(f"{late[0].name}: reads {other.name}, whose rows have moved")
        m, s = mantissa_shift(1.0)
        for row in range(node.end_row - 1, node.first_row - 1, -1):
            self.emit(isa.rq(block.row(row + 1), block.row(row), node.cols, m, s))

    def _rescale(self, dst: Block, source: int, target: int, node: Node, relu: int = 0) -> None:
        """RQ a tensor from its own scale to that of ``target`` (a copy when they are equal)."""
        factor = self.scales.of[source] / self.scales.of[target]
        self._requantize(dst, self.block(source), node, factor, relu)

    def _requantize(self, dst: Block, src: Block, node: Node, factor: float, relu: int = 0) -> None:
        try:
            m, s = mantissa_shift(factor)
        except (ShiftRangeError, ValueError) as error:
            raise CompileError(f"{node.name}: {error}") from error
        for row, words in _runs(node.rows, node.cols, dst, src):
            self.emit(isa.rq(dst.row(row), src.row(row), words, m, s, relu))


def _runs(rows: int, cols: int, *blocks: Block) -> Iterator[tuple[int, int]]:
    """(first row, words) of the longest runs that are contiguous in all blocks."""
    if rows == 1 or all(block.stride == cols for block in blocks):
        yield 0, rows * cols
    else:
        yield from ((row, cols) for row in range(rows))
