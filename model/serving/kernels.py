"""The three kernels of a step, as graphs: project, attend (once a request), finish.

Tensors carry the decode graph's names, with a number behind a dot where there are several.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from model.compiler.graph import Graph
from model.decode.tiny_lm import WIDTH, TinyLm
from model.decode.visible import Visible
from model.serving.layout import ROW, joined


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


def project_graph(lm: TinyLm, rows: int) -> Graph:
    """Input rows, each from an address of its own, to queries and new rows."""
    g = Graph()
    x = g.input("x", rows, WIDTH, pieces=(1,) * rows)
    g.matmul(x, g.weight("wq", lm.w_q), name="q")
    k = g.matmul(x, g.weight("wk", lm.w_k), name="k")
    v = g.matmul(x, g.weight("wv", lm.w_v), name="v")
    g.concat_cols(k, v, name="kv")
    return g


def attend_graph(shape: AttendShape) -> Graph:
    """Store a request's new rows, load what it sees of its old ones, and attend."""
    g = Graph()
    count = len(shape.spans)
    q = g.input("q", count, WIDTH)
    if shape.old:
        old = g.input("old", sum(shape.old), ROW, pieces=shape.old)
        new = g.input("new", count, ROW)
        g.output("slots", new, pieces=shape.new)
        context = g.concat_rows(old, new, name="context")
    else:
        context = g.input("context", count, ROW)
        g.output("slots", context, pieces=shape.new)
    attended = []
    sinks_at = 0
    for number, span in enumerate(shape.spans):
        if span.start > sinks_at and span.sinks:  # one row further on: bring the sinks along
            context = g.shift_rows(
                context, sinks_at, sinks_at + span.sinks, name=f"context.{number}"
            )
            sinks_at = span.start
        name = f"attended.{number}" if count > 1 else "attended"
        rows = g.slice_rows(context, span.start, span.end, name=f"context.{number}.seen")
        keys = g.slice_cols(rows, 0, WIDTH, name=f"keys.{number}")
        values = g.slice_cols(rows, WIDTH, ROW, name=f"values.{number}")
        query = g.slice_rows(q, number, number + 1, name=f"q.{number}")
        scores = g.matmul(
            query,
            keys,
            transpose_b=True,
            factor=1 / math.sqrt(WIDTH),
            name=f"scores.{number}",
        )
        weights = g.softmax(scores, name=f"attention.{number}")
        attended.append(g.matmul(weights, values, name=name))
    stack = attended[0]
    for number, row in enumerate(attended[1:], start=2):
        stack = g.concat_rows(
            stack, row, name="attended" if number == count else f"attended.to.{number}"
        )
    return g


def finish_graph(lm: TinyLm, rows: int) -> Graph:
    """From what the queries have attended to logits and the tokens that they choose."""
    g = Graph()
    x = g.input("x", rows, WIDTH)
    attended = g.input("attended", rows, WIDTH)
    h = g.add(x, g.matmul(attended, g.weight("wo", lm.w_o), name="projected"), name="h")
    hidden = g.relu(g.matmul(h, g.weight("w1", lm.w_1), name="up"), name="hidden")
    y = g.add(h, g.matmul(hidden, g.weight("w2", lm.w_2), name="down"), name="y")
    logits = g.matmul(y, g.weight("wout", lm.w_out), name="scores_out")
    g.output("tok", g.argmax(logits, name="tok.rows"))
    g.output("logits", logits)
    return g
