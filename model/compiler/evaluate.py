"""Floating-point evaluation of a graph, many samples at once, bit for bit the same everywhere.

Sums run left to right in double precision (a loop over the inner index of vectorized rows), and
exponentials come from math.exp: neither a BLAS, nor Python's sum(), nor numpy's exp gives the same
last bit on every machine and version.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from model.compiler.graph import FloatArray, Graph, GraphError, Kind, Node


def ordered_matmul(a: FloatArray, b: FloatArray) -> FloatArray:
    """(..., M, K) times (..., K, N), every dot product accumulated left to right."""
    total = a[..., :, 0:1] * b[..., 0:1, :]
    for k in range(1, a.shape[-1]):
        total = total + a[..., :, k : k + 1] * b[..., k : k + 1, :]
    return total


def ordered_softmax(x: FloatArray) -> FloatArray:
    """Softmax over the last axis; exponentials by math.exp, their sum left to right."""
    shifted = x - x.max(axis=-1, keepdims=True)
    exp = np.array([math.exp(value) for value in shifted.ravel().tolist()]).reshape(x.shape)
    total = exp[..., 0:1]
    for k in range(1, x.shape[-1]):
        total = total + exp[..., k : k + 1]
    result: FloatArray = exp / total
    return result


def evaluate(graph: Graph, inputs: Mapping[str, FloatArray]) -> list[FloatArray]:
    """Value of every node for S samples.

    inputs: name -> (S, rows, cols). Returns one array per node, (S, rows, cols), or (rows, cols)
    where the value does not depend on the inputs. Raises GraphError on a missing, unknown, empty or
    misshapen input, or one that holds no finite number.
    """
    unknown = sorted(inputs.keys() - {node.name for node in graph.of_kind(Kind.INPUT)})
    if unknown:
        raise GraphError(f"no input is named {unknown[0]!r}")
    values: list[FloatArray] = []
    for node in graph.nodes:
        values.append(_value(node, [values[i] for i in node.operands], inputs))
    return values


def _value(node: Node, args: list[FloatArray], inputs: Mapping[str, FloatArray]) -> FloatArray:
    if node.kind is Kind.INPUT:
        if node.name not in inputs:
            raise GraphError(f"no value for input {node.name!r}")
        value = inputs[node.name]
        if value.shape[-2:] != (node.rows, node.cols):
            raise GraphError(f"input {node.name!r}: {value.shape} for {node.rows}x{node.cols}")
        if value.size == 0:
            raise GraphError(f"input {node.name!r}: no samples")
        if not np.isfinite(value).all():
            raise GraphError(f"input {node.name!r}: values that are not finite numbers")
        return value
    if node.kind is Kind.WEIGHT:
        assert node.values is not None
        return node.values
    if node.kind is Kind.MATMUL:
        b = np.swapaxes(args[1], -1, -2) if node.transpose_b else args[1]
        product = ordered_matmul(args[0], b)
        return product if node.factor == 1.0 else product * node.factor
    if node.kind is Kind.SOFTMAX:
        return ordered_softmax(args[0])
    if node.kind is Kind.ADD:
        return args[0] + args[1]
    if node.kind is Kind.RELU:
        positive: FloatArray = np.maximum(args[0], 0.0)
        return positive
    if node.kind in (Kind.CONCAT_ROWS, Kind.CONCAT_COLS):
        lead = np.broadcast_shapes(args[0].shape[:-2], args[1].shape[:-2])
        parts = [np.broadcast_to(arg, lead + arg.shape[-2:]) for arg in args]
        axis = -2 if node.kind is Kind.CONCAT_ROWS else -1
        joined: FloatArray = np.concatenate(parts, axis=axis)
        return joined
    if node.kind is Kind.SLICE_ROWS:
        view: FloatArray = args[0][..., node.first_row : node.first_row + node.rows, :]
        return view
    if node.kind is Kind.SLICE_COLS:
        view = args[0][..., node.first_col : node.first_col + node.cols]
        return view
    if node.kind is Kind.SHIFT_ROWS:
        lo, hi = node.first_row, node.end_row
        shifted: FloatArray = args[0].copy()
        shifted[..., lo + 1 : hi + 1, :] = args[0][..., lo:hi, :]
        return shifted
    if node.kind is Kind.ARGMAX:
        index: FloatArray = args[0].argmax(axis=-1)[..., None].astype(np.float64)
        return index
    return args[0]  # output
