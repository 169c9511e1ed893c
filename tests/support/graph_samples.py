"""Random graphs for the compiler tests, and an integer evaluation that knows no addresses."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np

from model.chip import fixed_point as fp
from model.compiler.graph import Graph, Kind, Node
from model.compiler.scales import Scales

Ints = np.ndarray[Any, np.dtype[np.int64]]


def random_graph(draw: random.Random, size: int) -> tuple[Graph, dict[str, Any]]:
    """A graph of about ``size`` inner nodes with small tensors, and samples of its inputs."""
    g = Graph()
    samples: dict[str, Any] = {}
    generator = np.random.default_rng(draw.randrange(2**32))

    def source() -> Node:
        rows, cols = draw.randint(1, 6), draw.choice([1, 3, 4, 8, 9])
        if draw.random() < 0.5:
            name = f"in{len(g.nodes)}"
            samples[name] = generator.normal(0, draw.choice([0.1, 1, 5]), (3, rows, cols))
            return g.input(name, rows, cols, bits=draw.choice([4, 8, 8]))
        return weight(rows, cols)

    def weight(rows: int, cols: int) -> Node:
        return g.weight(
            f"w{len(g.nodes)}", generator.normal(0, 1, (rows, cols)), draw.choice([4, 8])
        )

    tensors = [source(), source()]
    for _ in range(size):
        x = draw.choice(tensors)
        kinds = ["matmul", "transposed", "softmax", "add", "relu", "concat", "slice"]
        kind = draw.choice([*kinds, "beside", "columns"])
        if kind == "matmul":
            tensors.append(g.matmul(x, weight(x.cols, draw.randint(1, 9)), factor=0.5))
        elif kind == "transposed":
            others = [t for t in tensors if t.cols == x.cols]
            tensors.append(g.matmul(x, draw.choice(others), transpose_b=True))
        elif kind == "softmax" and x.kind is Kind.MATMUL:
            # Other sources could drag two differently pinned tensors into one group.
            scores = g.matmul(x, weight(x.cols, draw.randint(1, 6)))
            if draw.random() < 0.5:
                scores = g.add(scores, weight(scores.rows, scores.cols))
            tensors.append(g.softmax(scores))
        elif kind == "add":
            others = [t for t in tensors if (t.rows, t.cols) == (x.rows, x.cols)]
            tensors.append(g.add(x, draw.choice(others)))
        elif kind == "relu":
            tensors.append(g.relu(x))
        elif kind == "concat":
            others = [t for t in tensors if t.cols == x.cols and t.rows + x.rows <= 24]
            if others:
                tensors.append(g.concat_rows(x, draw.choice(others)))
        elif kind == "beside":
            others = [t for t in tensors if t.rows == x.rows and t.cols + x.cols <= 24]
            if others:
                tensors.append(g.concat_cols(x, draw.choice(others)))
        elif kind == "columns":
            lo = draw.randrange(x.cols)
            tensors.append(g.slice_cols(x, lo, draw.randint(lo + 1, x.cols)))
        elif kind == "slice":
            lo = draw.randrange(x.rows)
            tensors.append(g.slice_rows(x, lo, draw.randint(lo + 1, x.rows)))
    last = tensors[-1]
    g.output("last", last)
    g.output("index", g.argmax(last))
    for number, tensor in enumerate(draw.sample(tensors, min(3, len(tensors)))):
        g.output(f"out{number}", tensor)
    return g, samples


def integer_values(graph: Graph, scales: Scales, inputs: Mapping[str, Any]) -> list[Ints]:
    """Every node's integers as the chip should have them, from whole tensors."""
    values: list[Ints] = []

    def rescaled(index: int, scale: float) -> Ints:
        m, s = fp.mantissa_shift(scales.of[index] / scale)
        return fp.requantize(values[index], m, s)

    fused = {
        node.operands[0]: node
        for node in graph.of_kind(Kind.RELU)
        if graph.nodes[node.operands[0]].kind is Kind.MATMUL
        and len(graph.consumers(graph.nodes[node.operands[0]])) == 1
    }
    for node in graph.nodes:
        scale, ops = scales.of[node.index], node.operands
        if node.kind in (Kind.INPUT, Kind.WEIGHT):
            real = inputs[node.name] if node.values is None else node.values
            limit = 7 if node.bits == 4 else 127
            value = np.clip(fp.quantize(real, scale), -limit, limit)
        elif node.kind is Kind.MATMUL:
            a, b = values[ops[0]], values[ops[1]]
            acc = a @ (b.T if node.transpose_b else b)
            m, s = fp.mantissa_shift(
                node.factor * scales.of[ops[0]] * scales.of[ops[1]] / scales.of[node.index]
            )
            value = fp.requantize(acc, m, s, node.index in fused)
        elif node.kind is Kind.SOFTMAX:
            q16 = np.stack([fp.softmax_q16(row) for row in values[ops[0]]])
            value = fp.requantize(q16, *fp.mantissa_shift(127 / 65536))
        elif node.kind is Kind.ADD:
            parts = [
                values[i] if scales.of[i] == scale else rescaled(i, scale) for i in node.operands
            ]
            value = np.clip(parts[0] + parts[1], -127, 127)
        elif node.kind is Kind.RELU:
            value = np.maximum(values[ops[0]], 0)
        elif node.kind is Kind.CONCAT_ROWS:
            value = np.concatenate([values[i] for i in ops])
        elif node.kind is Kind.CONCAT_COLS:
            value = np.concatenate([values[i] for i in ops], axis=1)
        elif node.kind is Kind.SLICE_COLS:
            value = values[ops[0]][:, node.first_col : node.first_col + node.cols]
        elif node.kind is Kind.SHIFT_ROWS:
            value = values[ops[0]].copy()
            for row in range(node.end_row, node.first_row, -1):
                value[row] = value[row - 1]
        elif node.kind is Kind.SLICE_ROWS:
            value = values[ops[0]][node.first_row : node.first_row + node.rows]
        elif node.kind is Kind.ARGMAX:
            value = values[ops[0]].argmax(axis=1)[:, None]
        else:
            value = values[ops[0]]
        values.append(value)
    return values
