"""Tensor graph: what a program computes, before scales, addresses and instructions.

Every tensor is two-dimensional. Nodes are kept in the order they were added, which is the order the
code generator follows. Building checks shapes and raises GraphError with the shapes in the message.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from model.errors import ModelError

FloatArray = NDArray[np.float64]


class GraphError(ModelError, ValueError):
    """A node that makes no sense: shapes that do not fit, a name used twice, a bad operand."""


class Kind(Enum):
    """What a node does."""

    INPUT = "input"
    WEIGHT = "weight"
    MATMUL = "matmul"
    SOFTMAX = "softmax"
    ADD = "add"
    RELU = "relu"
    CONCAT_ROWS = "concat_rows"
    CONCAT_COLS = "concat_cols"
    SLICE_ROWS = "slice_rows"
    SLICE_COLS = "slice_cols"
    SHIFT_ROWS = "shift_rows"
    ARGMAX = "argmax"
    OUTPUT = "output"


@dataclass(frozen=True)
class Node:
    """One node and the tensor (rows x cols) it produces."""

    index: int
    kind: Kind
    operands: tuple[int, ...]
    rows: int
    cols: int
    name: str
    tag: str | None = None
    transpose_b: bool = False  # matmul
    factor: float = 1.0  # matmul
    bits: int = 8  # weight, input
    first_row: int = 0  # slice_rows, shift_rows
    end_row: int = 0  # shift_rows: one past the last row that moves
    first_col: int = 0  # slice_cols
    pieces: tuple[int, ...] = ()  # input, output: rows of each piece that has an address of its own
    values: FloatArray | None = field(default=None, repr=False, compare=False)  # weight

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.rows * self.cols


class Graph:
    """A list of nodes with one method per kind of node to add it."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._names: set[str] = set()

    def input(
        self,
        name: str,
        rows: int,
        cols: int,
        tag: str | None = None,
        bits: int = 8,
        pieces: Sequence[int] = (),
    ) -> Node:
        """Add a tensor that the host supplies for every run, as int8 or as packed int4.

        ``pieces``, rows each, lie anywhere in external memory: their addresses are bound later.
        """
        for count in (rows, cols):
            if isinstance(count, bool) or not isinstance(count, int) or count < 1:
                raise GraphError(f"input {name!r}: shape {rows}x{cols} is not two counts from 1")
        _check_bits("input", name, bits)
        _check_pieces(name, rows, pieces)
        if pieces and bits != 8:
            raise GraphError(f"input {name!r}: {bits} bits cannot come in pieces")
        return self._add(Kind.INPUT, (), rows, cols, name, tag=tag, bits=bits, pieces=tuple(pieces))

    def weight(self, name: str, values: ArrayLike, bits: int = 8, tag: str | None = None) -> Node:
        """Add a constant tensor, stored as int8 or as int4 packed eight to a word."""
        try:
            array = np.array(values, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise GraphError(f"weight {name!r}: not a matrix of real numbers: {error}") from None
        if array.ndim != 2 or array.size == 0:
            raise GraphError(f"weight {name!r}: shape {array.shape} is not a filled matrix")
        wrong = np.argwhere(~np.isfinite(array))
        if wrong.size:
            row, col = wrong[0].tolist()
            raise GraphError(
                f"weight {name!r}: {array[row, col]} at [{row}, {col}] is not a finite number"
            )
        _check_bits("weight", name, bits)
        rows, cols = array.shape
        return self._add(Kind.WEIGHT, (), rows, cols, name, tag=tag, bits=bits, values=array)

    def matmul(
        self,
        a: Node,
        b: Node,
        *,
        transpose_b: bool = False,
        factor: float = 1.0,
        name: str = "",
        tag: str | None = None,
    ) -> Node:
        """factor * (A x B), or factor * (A x B^T); the factor must be positive."""
        inner, cols = (b.cols, b.rows) if transpose_b else (b.rows, b.cols)
        if a.cols != inner:
            mark = "^T" if transpose_b else ""
            raise GraphError(f"matmul: {a.rows}x{a.cols} times ({b.rows}x{b.cols}){mark}")
        if not (factor > 0 and math.isfinite(factor)):
            raise GraphError(f"matmul: factor {factor!r} is not positive and finite")
        return self._add(
            Kind.MATMUL, (a, b), a.rows, cols, name, tag=tag, transpose_b=transpose_b, factor=factor
        )

    def softmax(self, x: Node, name: str = "") -> Node:
        """Softmax of every row."""
        return self._add(Kind.SOFTMAX, (x,), x.rows, x.cols, name)

    def add(self, a: Node, b: Node, name: str = "") -> Node:
        """A + B, equal shapes."""
        if (a.rows, a.cols) != (b.rows, b.cols):
            raise GraphError(f"add: {a.rows}x{a.cols} plus {b.rows}x{b.cols}")
        return self._add(Kind.ADD, (a, b), a.rows, a.cols, name)

    def relu(self, x: Node, name: str = "") -> Node:
        """max(x, 0)."""
        return self._add(Kind.RELU, (x,), x.rows, x.cols, name)

    def concat_rows(self, top: Node, bottom: Node, name: str = "", tag: str | None = None) -> Node:
        """The rows of ``top`` followed by those of ``bottom``."""
        if top.cols != bottom.cols:
            raise GraphError(f"concat_rows: {top.cols} columns above {bottom.cols}")
        return self._add(
            Kind.CONCAT_ROWS, (top, bottom), top.rows + bottom.rows, top.cols, name, tag=tag
        )

    def slice_rows(self, x: Node, lo: int, hi: int, name: str = "") -> Node:
        """Rows lo..hi-1, a view that costs nothing."""
        if not 0 <= lo < hi <= x.rows:
            raise GraphError(f"slice_rows: {lo}..{hi} of {x.rows} rows")
        return self._add(Kind.SLICE_ROWS, (x,), hi - lo, x.cols, name, first_row=lo)

    def concat_cols(self, left: Node, right: Node, name: str = "", tag: str | None = None) -> Node:
        """The columns of ``left`` with those of ``right`` beside them."""
        if left.rows != right.rows:
            raise GraphError(f"concat_cols: {left.rows} rows beside {right.rows}")
        return self._add(
            Kind.CONCAT_COLS, (left, right), left.rows, left.cols + right.cols, name, tag=tag
        )

    def slice_cols(self, x: Node, lo: int, hi: int, name: str = "") -> Node:
        """Columns lo..hi-1, a view that costs nothing."""
        if not 0 <= lo < hi <= x.cols:
            raise GraphError(f"slice_cols: {lo}..{hi} of {x.cols} columns")
        return self._add(Kind.SLICE_COLS, (x,), x.rows, hi - lo, name, first_col=lo)

    def shift_rows(self, x: Node, lo: int, hi: int, name: str = "") -> Node:
        """``x`` with its rows lo..hi-1 moved down by one; row lo stays, row hi is lost.

        It happens in place: nothing may read ``x`` or a view of it after this node.
        """
        if not 0 <= lo < hi < x.rows:
            raise GraphError(f"shift_rows: {lo}..{hi} by one in {x.rows} rows")
        return self._add(Kind.SHIFT_ROWS, (x,), x.rows, x.cols, name, first_row=lo, end_row=hi)

    def argmax(self, x: Node, name: str = "") -> Node:
        """Index of the first maximum of every row (rows x 1); it can only go to an output."""
        return self._add(Kind.ARGMAX, (x,), x.rows, 1, name)

    def output(self, name: str, x: Node, pieces: Sequence[int] = ()) -> Node:
        """Hand a tensor back to the host under this name.

        ``pieces``, rows each, go to slots whose addresses are bound later.
        """
        _check_pieces(name, x.rows, pieces)
        return self._add(Kind.OUTPUT, (x,), x.rows, x.cols, name, pieces=tuple(pieces))

    def consumers(self, node: Node) -> list[Node]:
        """Nodes that read this one, each once, in order."""
        return [other for other in self.nodes if node.index in other.operands]

    def of_kind(self, kind: Kind) -> list[Node]:
        """All nodes of one kind, in order."""
        return [node for node in self.nodes if node.kind is kind]

    def _add(
        self,
        kind: Kind,
        operands: tuple[Node, ...],
        rows: int,
        cols: int,
        name: str,
        *,
        tag: str | None = None,
        transpose_b: bool = False,
        factor: float = 1.0,
        bits: int = 8,
        first_row: int = 0,
        end_row: int = 0,
        first_col: int = 0,
        pieces: tuple[int, ...] = (),
        values: FloatArray | None = None,
    ) -> Node:
        for operand in operands:
            self._check_operand(kind, operand)
        index = len(self.nodes)
        name = name or f"{kind.value}{index}"
        if name in self._names:
            raise GraphError(f"name {name!r} is used twice")
        self._names.add(name)
        indices = tuple(operand.index for operand in operands)
        node = Node(
            index,
            kind,
            indices,
            rows,
            cols,
            name,
            tag,
            transpose_b,
            factor,
            bits,
            first_row,
            end_row,
            first_col,
            pieces,
            values,
        )
        self.nodes.append(node)
        return node

    def _check_operand(self, kind: Kind, operand: Node) -> None:
        if operand.index >= len(self.nodes) or self.nodes[operand.index] is not operand:
            raise GraphError(f"{kind.value}: operand {operand.name!r} belongs to another graph")
        if operand.kind is Kind.OUTPUT:
            raise GraphError(f"{kind.value}: output {operand.name!r} cannot be read back")
        if operand.kind is Kind.ARGMAX and kind is not Kind.OUTPUT:
            raise GraphError(f"{kind.value}: {operand.name!r} holds indices, not numbers")


def _check_bits(what: str, name: str, bits: int) -> None:
    if bits not in (4, 8):
        raise GraphError(f"{what} {name!r}: {bits} bits; only 4 and 8 exist")


def _check_pieces(name: str, rows: int, pieces: Sequence[int]) -> None:
    if pieces and (min(pieces) < 1 or sum(pieces) != rows):
        raise GraphError(f"{name!r}: pieces of {list(pieces)} rows do not make {rows}")
