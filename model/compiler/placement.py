"""Where tensors live in the scratchpad: who shares a buffer with whom, and for how long.

A slice is a view of its source, the inputs of a concat are built directly inside its buffer, and a
relu fused into its matmul takes the matmul's place. Everything else has a buffer of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

from model.compiler.graph import Graph, Kind, Node
from model.compiler.packing import NIBBLES, is_packed, packed_words


@dataclass(frozen=True)
class Home:
    """A tensor's place: ``offset`` words into the buffer of node ``root``."""

    root: int
    offset: int


class Placement:
    """Homes of all tensors, the buffers' sizes and their last users."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.fused: dict[int, int] = {}  # matmul -> the relu that its RQ also does
        self.copied: set[tuple[int, int]] = set()  # (concat, operand position) that need a copy
        self.words = [_buffer_words(node) for node in graph.nodes]  # as a buffer of its own
        self.last_use: dict[int, int] = {}  # root -> index of the last node that touches it
        self._find_fused()
        self.home = self._find_homes()
        self._find_lifetimes()

    def _find_fused(self) -> None:
        for relu in self._graph.of_kind(Kind.RELU):
            source = self._graph.nodes[relu.operands[0]]
            if source.kind is Kind.MATMUL and len(self._graph.consumers(source)) == 1:
                self.fused[source.index] = relu.index

    def _find_homes(self) -> list[Home]:
        inside: dict[int, Home] = {}
        for concat in self._graph.of_kind(Kind.CONCAT_ROWS):
            offset = 0
            for position, index in enumerate(concat.operands):
                operand = self._graph.nodes[index]
                if index in inside or not _can_move(operand):
                    self.copied.add((concat.index, position))
                else:
                    inside[index] = Home(concat.index, offset)
                offset += operand.size
        for matmul, relu in self.fused.items():
            inside[matmul] = Home(relu, 0)

        homes: dict[int, Home] = {}

        def resolve(index: int) -> Home:
            if index not in homes:
                node = self._graph.nodes[index]
                if node.kind is Kind.SLICE_ROWS:
                    outer = Home(node.operands[0], node.first_row * node.cols)
                else:
                    outer = inside.get(index, Home(index, 0))
                if outer.root == index:
                    homes[index] = outer
                else:
                    base = resolve(outer.root)
                    homes[index] = Home(base.root, base.offset + outer.offset)
            return homes[index]

        return [resolve(index) for index in range(len(self._graph.nodes))]

    def _find_lifetimes(self) -> None:
        for node in self._graph.nodes:
            for index in (node.index, *node.operands):
                self.last_use[self.home[index].root] = node.index


def _can_move(node: Node) -> bool:
    """Whether a tensor can be built inside a concat's buffer (a view cannot)."""
    if node.kind is Kind.SLICE_ROWS:
        return False
    # UNPACK writes whole groups of eight and would spill over the neighbour.
    return not (is_packed(node) and node.size % NIBBLES)


def _buffer_words(node: Node) -> int:
    return packed_words(node.size) * NIBBLES if is_packed(node) else node.size
