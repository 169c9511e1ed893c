"""Quantization scales: one real number per tensor, from ranges seen in floating point.

scale = range / 127, where the range is that of the tensor's *group*, the tensors that have to share
a scale because no instruction stands between them.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from model.compiler.graph import FloatArray, Graph, Kind, Node
from model.errors import CompileError

SOFTMAX_INPUT_SCALE = 1 / 16  # the SM instruction reads its scores as x/16
SOFTMAX_RESULT_SCALE = 1 / 127  # probabilities 0..1 over the whole int8 range
# SM leaves probabilities in units of 1/65536.
PROBABILITY_FACTOR = 127 / 65536
INT8_STEPS = 127
INT4_STEPS = 7

_SHARING = (
    Kind.CONCAT_ROWS,
    Kind.CONCAT_COLS,
    Kind.RELU,
    Kind.SLICE_ROWS,
    Kind.SLICE_COLS,
    Kind.SHIFT_ROWS,
    Kind.OUTPUT,
)


@dataclass(frozen=True)
class Scales:
    """Scale of every node by index (1.0 for indices from argmax), and notes for the user."""

    of: tuple[float, ...]
    notes: tuple[str, ...]


def largest_values(values: Iterable[FloatArray]) -> list[float]:
    """Largest absolute value of every node, from the arrays that evaluate() returns."""
    return [float(np.abs(array).max()) for array in values]


def merge_ranges(a: Sequence[float], b: Sequence[float]) -> list[float]:
    """Element by element maximum of two lists of ranges; a NaN stays one."""
    return [float(np.maximum(x, y)) for x, y in zip(a, b, strict=True)]


def assign_scales(
    graph: Graph, ranges: Sequence[float], tag_ranges: Mapping[str, float] | None = None
) -> Scales:
    """Choose every tensor's scale.

    ranges: largest absolute value of each node over the calibration samples; tag_ranges: tag ->
    range that replaces what was seen for the tensors of that tag. Raises ValueError when the number
    of ranges is not the number of nodes, CompileError for a range that gives no scale.
    """
    if len(ranges) != len(graph.nodes):
        raise ValueError(f"{len(ranges)} ranges for {len(graph.nodes)} nodes")
    tags = dict(tag_ranges or {})
    groups = _groups(graph)
    group_range = [0.0] * len(graph.nodes)
    for node in graph.nodes:
        own = tags.get(node.tag, ranges[node.index]) if node.tag else ranges[node.index]
        _check_range(node, own)
        root = groups[node.index]
        group_range[root] = max(group_range[root], own)
    _raise_adds(graph, groups, group_range)

    pinned: dict[int, float] = {}
    for node in graph.of_kind(Kind.SOFTMAX):
        _pin(pinned, groups[node.operands[0]], SOFTMAX_INPUT_SCALE, node)
        _pin(pinned, groups[node.index], SOFTMAX_RESULT_SCALE, node)
    steps = _group_steps(graph, groups)

    scales: list[float] = []
    notes: list[str] = []
    for node in graph.nodes:
        root = groups[node.index]
        if node.kind is Kind.ARGMAX or (
            node.kind is Kind.OUTPUT and graph.nodes[node.operands[0]].kind is Kind.ARGMAX
        ):
            scales.append(1.0)
            continue
        scale = pinned.get(root)
        if scale is None:
            scale = group_range[root] / steps[root] if group_range[root] > 0 else 1 / INT8_STEPS
        elif root == node.index and group_range[root] > scale * steps[root]:
            notes.append(
                f"{node.name}: pinned scale {scale:.6g} saturates at {scale * steps[root]:.4g}, "
                f"but values reach {group_range[root]:.4g}"
            )
        scales.append(scale)
    return Scales(tuple(scales), tuple(notes))


def _check_range(node: Node, value: float) -> None:
    """Refuse what makes no scale of full precision; 0 is a tensor that nothing is known of."""
    if not (value >= 0 and math.isfinite(value)):
        raise CompileError(f"{node.name}: range {value!r} is not a finite number of at least 0")
    if value > 0 and value / INT8_STEPS < sys.float_info.min:
        low = INT8_STEPS * sys.float_info.min
        raise CompileError(f"{node.name}: range {value!r} is too small; 0 or at least {low:.3g}")


def _groups(graph: Graph) -> list[int]:
    """Node index -> lowest index of its group."""
    parent = list(range(len(graph.nodes)))

    def find(index: int) -> int:
        while parent[index] != index:
            index = parent[index]
        return index

    for node in graph.nodes:
        if node.kind in _SHARING:
            for operand in node.operands:
                a, b = find(node.index), find(operand)
                parent[max(a, b)] = min(a, b)
    return [find(index) for index in range(len(graph.nodes))]


def _raise_adds(graph: Graph, groups: list[int], group_range: list[float]) -> None:
    """Raise each sum's group to the ranges of its operands, so that no operand saturates in it.

    Repeated until nothing changes: a raised sum may itself be the operand of an earlier group.
    """
    changed = True
    while changed:
        changed = False
        for node in graph.of_kind(Kind.ADD):
            root = groups[node.index]
            needed = max(group_range[groups[operand]] for operand in node.operands)
            if needed > group_range[root]:
                group_range[root] = needed
                changed = True


def _pin(pinned: dict[int, float], root: int, scale: float, softmax: Node) -> None:
    if pinned.setdefault(root, scale) != scale:
        raise CompileError(
            f"{softmax.name}: its tensors share a group pinned to both {pinned[root]} and {scale}"
        )


def _group_steps(graph: Graph, groups: list[int]) -> list[int]:
    """Largest quantized value per group: 7 where an int4 tensor has to fit, else 127."""
    steps = [INT8_STEPS] * len(graph.nodes)
    for node in graph.nodes:
        if node.bits == 4:
            steps[groups[node.index]] = INT4_STEPS
    return steps
