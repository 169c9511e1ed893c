"""Where tensors live in the scratchpad: who shares a buffer with whom, and for how long.

A slice is a view of its source, rows are shifted in place, the inputs of a concat are built inside
its buffer, and a relu fused into its matmul takes the matmul's place. Everything else has a buffer
of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

from model.compiler.graph import Graph, Kind, Node
from model.compiler.packing import NIBBLES, is_packed, packed_words

VIEWS = (Kind.SLICE_ROWS, Kind.SLICE_COLS, Kind.SHIFT_ROWS)


@dataclass(frozen=True)
class Home:
    """A tensor's place: ``offset`` words into the buffer of node ``root``.

    Two rows of it are ``stride`` words apart: more than its columns when others lie beside it.
    """

    root: int
    offset: int
    stride: int


@dataclass(frozen=True)
class _Inside:
    """A tensor that begins at a row and a column of another one."""

    outer: int
    row: int = 0
    col: int = 0


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
        inside: dict[int, _Inside] = {}
        for concat in self._graph.nodes:
            if concat.kind not in (Kind.CONCAT_ROWS, Kind.CONCAT_COLS):
                continue
            row = col = 0
            for position, index in enumerate(concat.operands):
                operand = self._graph.nodes[index]
                if index in inside or not _can_move(operand, concat):
                    self.copied.add((concat.index, position))
                else:
                    inside[index] = _Inside(concat.index, row, col)
                if concat.kind is Kind.CONCAT_ROWS:
                    row += operand.rows
                else:
                    col += operand.cols
        for node in self._graph.nodes:
            if node.kind in VIEWS:
                inside[node.index] = _view(node)
        for matmul, relu in self.fused.items():
            inside[matmul] = _Inside(relu)

        homes: dict[int, Home] = {}

        def resolve(index: int) -> Home:
            if index not in homes:
                if index in inside:
                    place = inside[index]
                    base = resolve(place.outer)
                    offset = base.offset + place.row * base.stride + place.col
                    homes[index] = Home(base.root, offset, base.stride)
                else:
                    homes[index] = Home(index, 0, self._graph.nodes[index].cols)
            return homes[index]

        return [resolve(index) for index in range(len(self._graph.nodes))]

    def _find_lifetimes(self) -> None:
        for node in self._graph.nodes:
            for index in (node.index, *node.operands):
                self.last_use[self.home[index].root] = node.index


def _view(node: Node) -> _Inside:
    """Where in its source a view begins; rows are shifted within the whole of it."""
    if node.kind is Kind.SHIFT_ROWS:
        return _Inside(node.operands[0])
    return _Inside(node.operands[0], node.first_row, node.first_col)


def _can_move(node: Node, concat: Node) -> bool:
    """Whether a tensor can be built inside a concat's buffer (a view cannot)."""
    if node.kind in VIEWS:
        return False
    # UNPACK writes whole groups of eight and would spill over the neighbour.
    return not (is_packed(node) and (node.size % NIBBLES or concat.kind is Kind.CONCAT_COLS))


def _buffer_words(node: Node) -> int:
    return packed_words(node.size) * NIBBLES if is_packed(node) else node.size
