"""Integer evaluation of a graph, many samples at once: what a compiled program computes.

It follows the rules of the compiler node by node, without instructions and addresses, and is as
fast as the floating-point evaluation. Tests hold it against compiled programs on the machine.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from model.chip.fixed_point import (
    EXP_TABLE,
    IntArray,
    mantissa_shift,
    quantize,
    requantize,
    saturating_add,
)
from model.compiler.graph import FloatArray, Graph, Kind, Node
from model.compiler.placement import Placement
from model.compiler.scales import INT4_STEPS, INT8_STEPS, PROBABILITY_FACTOR, Scales


class IntegerGraph:
    """A graph with scales, ready to be evaluated."""

    def __init__(self, graph: Graph, scales: Scales) -> None:
        self.graph = graph
        self.scales = scales
        self._fused = Placement(graph).fused
        self._weights = {
            node.index: self._quantized(node, node.values)
            for node in graph.of_kind(Kind.WEIGHT)
            if node.values is not None
        }

    def evaluate(self, inputs: Mapping[str, FloatArray]) -> list[IntArray]:
        """Integer of every node for S samples.

        Args:
            inputs: name -> real values, (S, rows, cols), quantized as the host does.

        Returns:
            One array per node, (S, rows, cols), or (rows, cols) where it depends on no input. A
            matmul that a relu is fused into has the relu's values.
        """
        values: list[IntArray] = []
        for node in self.graph.nodes:
            values.append(self._value(node, [values[i] for i in node.operands], inputs))
        return values

    def _value(
        self, node: Node, args: list[IntArray], inputs: Mapping[str, FloatArray]
    ) -> IntArray:
        scale = self.scales.of
        if node.kind is Kind.INPUT:
            return self._quantized(node, inputs[node.name])
        if node.kind is Kind.WEIGHT:
            return self._weights[node.index]
        if node.kind is Kind.MATMUL:
            a, b = node.operands
            factor = node.factor * scale[a] * scale[b] / scale[node.index]
            right = np.swapaxes(args[1], -1, -2) if node.transpose_b else args[1]
            # Exact in float64, whose products a BLAS does: sums stay far below 2**53.
            product = (args[0].astype(np.float64) @ right.astype(np.float64)).astype(np.int64)
            return _rescaled(product, factor, node.index in self._fused)
        if node.kind is Kind.ADD:
            left, right = (
                arg if scale[i] == scale[node.index] else self._moved(arg, i, node.index, False)
                for arg, i in zip(args, node.operands, strict=True)
            )
            return saturating_add(left, right)
        if node.kind in (Kind.CONCAT_ROWS, Kind.CONCAT_COLS):
            lead = np.broadcast_shapes(args[0].shape[:-2], args[1].shape[:-2])
            return np.concatenate(
                [np.broadcast_to(arg, lead + arg.shape[-2:]) for arg in args],
                axis=-2 if node.kind is Kind.CONCAT_ROWS else -1,
            )
        (x,), (source,) = args, node.operands
        if node.kind is Kind.SOFTMAX:
            return _rescaled(softmax_rows(x), PROBABILITY_FACTOR, relu=False)
        if node.kind is Kind.RELU and source not in self._fused:
            return self._moved(x, source, node.index, relu=True)
        if node.kind is Kind.SLICE_ROWS:
            return x[..., node.first_row : node.first_row + node.rows, :]
        if node.kind is Kind.SLICE_COLS:
            return x[..., node.first_col : node.first_col + node.cols]
        if node.kind is Kind.SHIFT_ROWS:
            shifted = x.copy()
            shifted[..., node.first_row + 1 : node.end_row + 1, :] = x[
                ..., node.first_row : node.end_row, :
            ]
            return shifted
        if node.kind is Kind.ARGMAX:
            return np.asarray(x.argmax(axis=-1)[..., None])
        return x  # output, or a relu that is fused

    def _moved(self, values: IntArray, source: int, target: int, relu: bool) -> IntArray:
        return _rescaled(values, self.scales.of[source] / self.scales.of[target], relu)

    def _quantized(self, node: Node, values: FloatArray) -> IntArray:
        limit = INT4_STEPS if node.bits == 4 else INT8_STEPS
        return np.clip(quantize(values, self.scales.of[node.index]), -limit, limit)


def softmax_rows(x: IntArray) -> IntArray:
    """Softmax of int8 scores in sixteenths over the last axis, as unsigned Q0.16."""
    e = EXP_TABLE[x.max(axis=-1, keepdims=True) - x]
    reciprocal = (1 << 38) // e.sum(axis=-1, keepdims=True)
    return np.asarray((e * reciprocal + (1 << 21)) >> 22)


def _rescaled(values: IntArray, factor: float, relu: bool) -> IntArray:
    m, s = mantissa_shift(factor)
    return requantize(values, m, s, relu)
