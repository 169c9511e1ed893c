"""What may be wrong with one expression: the mutation operators, node by node."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from sim.mutate.rtl.literals import is_number, neighbours, one
from sim.mutate.rtl.source import Info, ParsedDesign, children
from sim.mutate.rtl.syntax_visitor import Context, kind_of, span_of

SWAPS: dict[str, list[tuple[str, str]]] = {
    "AddExpression": [("-", "arithmetic")],
    "SubtractExpression": [("+", "arithmetic")],
    "MultiplyExpression": [("+", "arithmetic")],
    "LogicalShiftLeftExpression": [(">>", "arithmetic")],
    "LogicalShiftRightExpression": [("<<", "arithmetic")],
    "ArithmeticShiftRightExpression": [(">>", "sign")],
    "BinaryAndExpression": [("|", "logic")],
    "BinaryOrExpression": [("&", "logic")],
    "BinaryXorExpression": [("|", "logic")],
    "LogicalAndExpression": [("||", "logic")],
    "LogicalOrExpression": [("&&", "logic")],
    "EqualityExpression": [("!=", "comparison")],
    "InequalityExpression": [("==", "comparison")],
    "LessThanExpression": [("<=", "comparison"), (">=", "comparison")],
    "LessThanEqualExpression": [("<", "comparison"), (">", "comparison")],
    "GreaterThanExpression": [(">=", "comparison"), ("<=", "comparison")],
    "GreaterThanEqualExpression": [(">", "comparison"), ("<", "comparison")],
}
"""Operators that take a binary operator's place. The type of the expression stays."""

LITERALS = {
    "IntegerVectorExpression", "IntegerLiteralExpression", "UnbasedUnsizedLiteralExpression",
}  # fmt: skip

NEGATED_BY_SWAP = {kind for kind, swaps in SWAPS.items() if swaps[0][1] == "comparison"} | {
    "UnaryLogicalNotExpression"
}


@dataclass(frozen=True)
class Draft:
    """One way to write a range wrong: bytes ``start``..``end`` become ``text``.

    ``exact`` is False when the replacement's width or sign may differ from the original's.
    """

    kind: str
    start: int
    end: int
    text: str
    description: str
    exact: bool = True


def short(text: str, limit: int = 60) -> str:
    """Return source text on one line, cut to ``limit`` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 3] + "..."


Rule = Callable[[ParsedDesign, Any, Context], Iterator[Draft]]


def drafts(design: ParsedDesign, node: Any, context: Context) -> Iterator[Draft]:
    """Yield the drafts for one expression node."""
    kind = kind_of(node)
    if context.left_side:
        if kind == "IdentifierSelectName":
            yield from _selects(design, node, context)
        return
    if kind in SWAPS:
        yield from _binary(design, node, context)
    elif kind == "ConditionalExpression":
        yield from _ternary(design, node, context)
    elif kind in LITERALS:
        yield from _literal(design, node, context)
    elif kind.startswith("Unary"):
        yield from _unary(design, node, context)
    elif kind in ("IdentifierName", "ScopedName"):
        yield from _name(design, node, context)
    elif kind == "IdentifierSelectName":
        yield from _selects(design, node, context)
    elif kind in ("SignedCastExpression", "InvocationExpression"):
        yield from _sign(design, node, context)
    elif kind == "MultipleConcatenationExpression":
        yield from _extension(design, node, context)


def condition_drafts(design: ParsedDesign, node: Any, context: Context) -> Iterator[Draft]:
    """Yield the drafts for an expression that decides an ``if`` or a conditional operator."""
    _, start, end = span_of(context.file, node)
    text = design.text((context.file, start, end))
    for value, word in (("1'b0", "never true"), ("1'b1", "always true")):
        yield Draft("condition", start, end, value, f"condition {short(text)} is {word}")
    if kind_of(node) not in NEGATED_BY_SWAP:
        yield Draft("condition", start, end, f"!({text})", f"condition {short(text)} is negated")


def _binary(design: ParsedDesign, node: Any, context: Context) -> Iterator[Draft]:
    file, start, end = span_of(context.file, node)
    left = design.text(span_of(file, node.left))
    right = design.text(span_of(file, node.right))
    operator = str(node.operatorToken.valueText)
    whole = short(design.text((file, start, end)))
    for other, kind in SWAPS[kind_of(node)]:
        yield Draft(
            kind,
            start,
            end,
            f"({left}) {other} ({right})",
            f"{operator} becomes {other} in {whole}",
        )
    if kind_of(node) in ("LogicalAndExpression", "LogicalOrExpression"):
        for stays, goes in ((left, right), (right, left)):
            text = f"|({stays})"
            yield Draft("logic", start, end, text, f"{short(goes)} ignored in {whole}")
    if kind_of(node) == "SubtractExpression":
        yield Draft("arithmetic", start, end, f"({right}) - ({left})", f"operands swapped: {whole}")


def _ternary(design: ParsedDesign, node: Any, context: Context) -> Iterator[Draft]:
    file, start, end = span_of(context.file, node)
    condition, left, right = (
        design.text(span_of(file, part)) for part in (node.predicate, node.left, node.right)
    )
    whole = short(design.text((file, start, end)))
    text = f"({condition}) ? ({right}) : ({left})"
    yield Draft("ternary", start, end, text, f"arms swapped in {whole}")


def _literal(design: ParsedDesign, node: Any, context: Context) -> Iterator[Draft]:
    span = span_of(context.file, node)
    text = design.text(span)
    for near in neighbours(text):
        yield Draft("constant", span[1], span[2], near, f"{text} becomes {near}")


def _unary(design: ParsedDesign, node: Any, context: Context) -> Iterator[Draft]:
    file, start, end = span_of(context.file, node)
    inner = design.text(span_of(file, node.operand))
    whole = short(design.text((file, start, end)))
    kind = kind_of(node)
    texts = {
        "UnaryLogicalNotExpression": f"|({inner})",
        "UnaryBitwiseNotExpression": f"({inner})",
        "UnaryMinusExpression": f"({inner})",
    }
    if kind in texts:
        group = "arithmetic" if kind == "UnaryMinusExpression" else "logic"
        yield Draft(group, start, end, texts[kind], f"{whole[0]} removed in {whole}")
    reductions = {"UnaryBitwiseOrExpression": "&", "UnaryBitwiseAndExpression": "|"}
    if kind in reductions:
        other = reductions[kind]
        yield Draft("logic", start, end, f"{other}({inner})", f"{whole} becomes {other}{inner}")


def _name(design: ParsedDesign, node: Any, context: Context) -> Iterator[Draft]:
    span = span_of(context.file, node)
    info = design.infos.get(span)
    text = design.text(span)
    if info is None or text in context.loop_names:
        return
    if info.members:
        prefix, _, name = text.rpartition("::")
        at = info.members.index(name)
        others = {info.members[at - 1], info.members[(at + 1) % len(info.members)]} - {name}
        compared = kind_of(context.parents[-1]) in ("EqualityExpression", "InequalityExpression")
        for other in sorted(others)[: 1 if compared else 2]:
            new = f"{prefix}::{other}" if prefix else other
            yield Draft("constant", span[1], span[2], new, f"{text} becomes {new}")
    elif info.parameter and info.width:
        new = f"({text} + {one(info.width, info.signed)})"
        yield Draft("constant", span[1], span[2], new, f"{text} is one too large")


def _selects(design: ParsedDesign, node: Any, context: Context) -> Iterator[Draft]:
    """Shift each constant range or index of a select by one; let each variable index be one off."""
    file, begin, finish = span_of(context.file, node)
    for select in children(node.selectors):
        _, start, end = span_of(file, select)
        info = design.infos.get((file, begin, end))
        if info is None or info.left == info.right:
            continue
        old = short(design.text((file, begin, end)))
        head, tail = design.text((file, begin, start)), design.text((file, end, finish))
        for near, description in _shifted(design, select.selector, context, info):
            text = f"{head}[{near}]{tail}"
            yield Draft("range", begin, finish, text, f"{old} takes {description}")


def _shifted(
    design: ParsedDesign, selector: Any, context: Context, info: Info
) -> Iterator[tuple[str, str]]:
    """Yield the neighbours of one selector: what stands in the brackets, and a description."""
    low, high = sorted((info.left, info.right))
    if kind_of(selector) == "BitSelect":
        span = span_of(context.file, selector.expr)
        text = design.text(span)
        index = design.infos.get(span)
        if is_number(text):
            for near in (int(text) + 1, int(text) - 1):
                if low <= near <= high:
                    yield str(near), f"[{near}]"
        elif index is not None and index.width and low == 0:
            step = f"({text}) + {one(index.width, index.signed)}"
            yield f"(({text}) == {high}) ? '0 : {step}", "the next index"
    elif kind_of(selector) == "SimpleRangeSelect":
        bounds = [design.text(span_of(context.file, e)) for e in (selector.left, selector.right)]
        if all(is_number(bound) for bound in bounds):
            left, right = (int(bound) for bound in bounds)
            for by in (1, -1):
                if low <= min(left, right) + by and max(left, right) + by <= high:
                    yield f"{left + by}:{right + by}", f"[{left + by}:{right + by}]"


def _sign(design: ParsedDesign, node: Any, context: Context) -> Iterator[Draft]:
    file, start, end = span_of(context.file, node)
    text = design.text((file, start, end))
    old = short(text)
    if text.startswith("signed'"):
        yield Draft("sign", start, end, "un" + text, f"{old} becomes unsigned", exact=False)
    elif text.startswith("$signed"):
        new = "$unsigned" + text[len("$signed") :]
        yield Draft("sign", start, end, new, f"{old} becomes unsigned", exact=False)


def _extension(design: ParsedDesign, node: Any, context: Context) -> Iterator[Draft]:
    file, start, end = span_of(context.file, node)
    inner = children(node.concatenation.expressions)
    if len(inner) != 1 or kind_of(inner[0]) != "IdentifierSelectName":
        return
    body = span_of(file, inner[0])
    old = short(design.text((file, start, end)))
    yield Draft("sign", body[1], body[2], "1'b0", f"sign extension {old} becomes zero extension")
