"""The kernels of a layer, as graphs: project, attend (once a head and request), finish.

Tensors carry the decode graph's names, with a number behind a dot where there are several.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from model.compiler.graph import Graph, Node
from model.decode.visible import Visible
from model.serving.architecture import Architecture
from model.serving.layout import joined


@dataclass(frozen=True)
class Span:
    """The rows of a context buffer that a query sees: ``start`` up to ``end``.

    sinks: how many of them are sinks, which have to lie right before the other ones.
    """

    start: int
    end: int
    sinks: int


@dataclass(frozen=True)
class AttendShape:
    """All that a request's part of a step depends on, beside addresses.

    old: rows of each piece of the context that is loaded; new: of each that goes to its slots;
    spans: what each query sees.
    """

    old: tuple[int, ...]
    new: tuple[int, ...]
    spans: tuple[Span, ...]


def attend_shape(first: int, count: int, visible: Visible, page_rows: int) -> AttendShape:
    """Shape of ``count`` new rows from position ``first``."""
    old = old_rows(first, visible)
    spans = []
    for query in range(first, first + count):
        end = len(old) + query - first + 1
        size = visible.context(query)
        hole = visible.keep_from(query) > visible.sinks
        spans.append(Span(end - size, end, visible.sinks if hole else 0))
    return AttendShape(
        tuple(rows for _, rows in joined(old, page_rows)),
        tuple(rows for _, rows in joined(range(first, first + count), page_rows)),
        tuple(spans),
    )


def old_rows(first: int, visible: Visible) -> Sequence[int]:
    """Positions that the queries from ``first`` on see of those before it."""
    return visible.rows(first)[:-1]


def project_graph(model: Architecture, layer: int, rows: int) -> Graph:
    """What goes into a layer to queries and new rows of its heads.

    The first layer's comes from an address of its own for each row.
    """
    g = Graph()
    pieces = (1,) * rows if layer == 0 else ()
    x = g.input(model.entry(layer), rows, model.width, pieces=pieces)
    for head in range(model.heads):
        of = model.head_name(layer, head)
        _, k, v = (g.matmul(x, _weight(g, model, f"w{n}{of}"), name=f"{n}{of}") for n in "qkv")
        g.concat_cols(k, v, name=f"kv.{head}")
    return g


def attend_graph(model: Architecture, layer: int, head: int, shape: AttendShape) -> Graph:
    """Store a request's new rows, load what it sees of its old ones, and attend, in one head."""
    g = Graph()
    of, count = model.head_name(layer, head), len(shape.spans)
    q = g.input(f"q{of}", count, model.head_width)
    bias = _weight(g, model, f"bias{head}") if f"bias{head}" in model.weights else None
    context = _context(g, model, shape)
    attended = []
    sinks_at = 0
    for number, span in enumerate(shape.spans):
        if span.start > sinks_at and span.sinks:  # one row further on: bring the sinks along
            context = g.shift_rows(
                context, sinks_at, sinks_at + span.sinks, name=f"context.{number}"
            )
            sinks_at = span.start
        name = f"attended{of}.{number}" if count > 1 else f"attended{of}"
        rows = g.slice_rows(context, span.start, span.end, name=f"context.{number}.seen")
        keys = g.slice_cols(rows, 0, model.head_width, name=f"k{of}.{number}")
        values = g.slice_cols(rows, model.head_width, model.row, name=f"v{of}.{number}")
        query = g.slice_rows(q, number, number + 1, name=f"q{of}.{number}")
        scores = g.matmul(
            query,
            keys,
            transpose_b=True,
            factor=1 / math.sqrt(model.head_width),
            name=f"scores{of}.{number}",
        )
        if bias is not None:  # by the place among the rows that are seen, the last ones of all
            near = g.slice_cols(bias, bias.cols - keys.rows, bias.cols, f"bias{head}.{number}")
            scores = g.add(scores, near, name=f"biased{of}.{number}")
        weights = g.softmax(scores, name=f"attention{of}.{number}")
        attended.append(g.matmul(weights, values, name=name))
    stack = attended[0]
    for number, row in enumerate(attended[1:], start=2):
        name = f"attended{of}" if number == count else f"attended{of}.to.{number}"
        stack = g.concat_rows(stack, row, name=name)
    return g


def finish_graph(model: Architecture, layer: int, rows: int) -> Graph:
    """From what the queries have attended to what comes out of a layer.

    Out of the last one come logits and the tokens that they choose.
    """
    g = Graph()
    of = model.layer_name(layer)
    x = g.input(model.entry(layer), rows, model.width)
    h = g.add(x, _mixed(g, model, layer, rows), name=f"h{of}")
    up = g.matmul(h, _weight(g, model, f"w1{of}"), name=f"up{of}")
    hidden = g.relu(up, name=f"hidden{of}")
    y = g.add(h, g.matmul(hidden, _weight(g, model, f"w2{of}"), name=f"down{of}"), name=f"y{of}")
    if layer == model.layers - 1:
        logits = g.matmul(y, _weight(g, model, "wout"), name="scores_out")
        g.output("tok", g.argmax(logits, name="tok.rows"))
        g.output("logits", logits)
    return g


def _weight(g: Graph, model: Architecture, name: str) -> Node:
    return g.weight(name, model.weights[name])


def _context(g: Graph, model: Architecture, shape: AttendShape) -> Node:
    """New rows that go to their slots, behind the old ones that are loaded, where there are any."""
    count = len(shape.spans)
    if not shape.old:
        context = g.input("context", count, model.row)
        g.output("slots", context, pieces=shape.new)
        return context
    old = g.input("old", sum(shape.old), model.row, pieces=shape.old)
    new = g.input("new", count, model.row)
    g.output("slots", new, pieces=shape.new)
    return g.concat_rows(old, new, name="context")


def _mixed(g: Graph, model: Architecture, layer: int, rows: int) -> Node:
    """What the heads of a layer have attended, projected and added up."""
    parts = []
    for head in range(model.heads):
        of = model.head_name(layer, head)
        attended = g.input(f"attended{of}", rows, model.head_width)
        parts.append(g.matmul(attended, _weight(g, model, f"wo{of}"), name=f"projected{of}"))
    total = parts[0]
    for part in parts[1:]:
        total = g.add(total, part, name=f"mixed{layer}")
    return total
