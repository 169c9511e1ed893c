"""Makes all mutants of a design: drafts from the rules, put into a form that can be switched."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sim.mutate.rtl.literals import neighbours, value_of
from sim.mutate.rtl.mutant import Edit, Form, Mutant, in_order, key_of
from sim.mutate.rtl.rules import Draft, condition_drafts, drafts, short
from sim.mutate.rtl.source import ParsedDesign, Span, children
from sim.mutate.rtl.syntax_visitor import Context, SyntaxVisitor, kind_of, span_of

ASSIGNMENTS = ("AssignmentExpression", "NonblockingAssignmentExpression")

TYPE_FIREWALLS = {
    "LogicalAndExpression", "LogicalOrExpression", "EqualityExpression", "InequalityExpression",
    "LessThanExpression", "LessThanEqualExpression", "GreaterThanExpression",
    "GreaterThanEqualExpression", "ConcatenationExpression", "MultipleConcatenationExpression",
    "IdentifierSelectName", "UnaryLogicalNotExpression",
}  # fmt: skip
"""Expressions whose own width and sign do not depend on their operands' signs."""

TABLE_ENTRIES = 16
"""A constant with at least this many equal slices is a table, and each entry may be wrong."""


class Generator:
    """Collects the mutants of one design."""

    def __init__(self, design: ParsedDesign) -> None:
        self.design = design
        self.found: list[Mutant] = []

    def run(self) -> list[Mutant]:
        """Return all mutants in source order, without duplicates."""
        SyntaxVisitor(self.design, self._expression, self._statement).run()
        for file, tree in self.design.trees.items():
            self._declarations(file, tree.root)
        for name, entries in _tables(self.design):
            self._table(name, entries)
        return deduplicate(in_order(self.found, self.design.texts), self.design.texts)

    def _add(self, kind: str, edit: Edit, start: int, description: str) -> None:
        line = self.design.line(edit.file, start)
        self.found.append(Mutant(kind, edit.file, line, description, (edit,)))

    # ---- Expressions

    def _expression(self, node: Any, context: Context) -> None:
        for draft in drafts(self.design, node, context):
            self._draft(draft, node, context)
        parent = context.parents[-1]
        decides = kind_of(parent) in ("ConditionalPattern",) or (
            kind_of(parent) == "ConditionalExpression"
            and any(pattern.expr is node for pattern in children(parent.predicate.conditions))
        )
        if decides and not context.left_side:
            for draft in condition_drafts(self.design, node, context):
                self._draft(draft, node, context)

    def _draft(self, draft: Draft, node: Any, context: Context) -> None:
        if draft.exact and not context.left_side:
            edit = Edit(context.file, draft.start, draft.end, draft.text, Form.EXPR)
        else:
            edit = self._widened(draft, context)
        self._add(draft.kind, edit, draft.start, draft.description)

    def _widened(self, draft: Draft, context: Context) -> Edit:
        """Grow a draft to the smallest range around it that can be switched exactly."""
        file = context.file
        for node in reversed(context.parents):
            kind = kind_of(node)
            span = span_of(file, node)
            if kind in TYPE_FIREWALLS and not context.left_side:
                return Edit(file, span[1], span[2], self._replaced(draft, span), Form.EXPR)
            if kind in ("ExpressionStatement", "ReturnStatement"):
                return Edit(file, span[1], span[2], self._replaced(draft, span), Form.STMT)
        return Edit(file, draft.start, draft.end, draft.text, Form.TEXT)

    def _replaced(self, draft: Draft, span: Span) -> str:
        """Return the text of a span with the draft made in it."""
        text = self.design.text(span)
        return text[: draft.start - span[1]] + draft.text + text[draft.end - span[1] :]

    # ---- Statements

    def _statement(self, node: Any, context: Context) -> None:
        if kind_of(node) != "ExpressionStatement" or kind_of(node.expr) not in ASSIGNMENTS:
            return
        span = span_of(context.file, node)
        target = str(node.expr.left).strip()
        clocked = kind_of(node.expr) == "NonblockingAssignmentExpression"
        # Without a value from before, dropping an assignment would make a latch.
        if not clocked and target not in context.assigned:
            return
        kind = "reset" if context.in_reset else "drop"
        what = "reset of" if context.in_reset else "assignment dropped:"
        shown = f"{target} dropped" if context.in_reset else short(self.design.text(span))
        edit = Edit(context.file, span[1], span[2], ";", Form.STMT)
        self._add(kind, edit, span[1], f"{what} {shown}")

    # ---- Declarations

    def _declarations(self, file: str, node: Any) -> None:
        """Find the signed declarations: without the word, arithmetic turns unsigned."""
        if kind_of(node) in ("LogicType", "ImplicitType") and str(node.signing).strip() == "signed":
            _, start, end = span_of(file, node.signing)
            line = self.design.texts[file].splitlines()[self.design.line(file, start) - 1]
            edit = Edit(file, start, end, "", Form.TEXT)
            self._add("sign", edit, start, f"declared unsigned: {short(line)}")
        for child in children(node):
            self._declarations(file, child)

    # ---- Tables

    def _table(self, span: Span, entries: list[str]) -> None:
        """Set each entry of a constant table off by one, where the table is read."""
        file, start, end = span
        text = self.design.text(span)
        index, _, width = text[text.index("[") + 1 : -1].partition("+:")
        bits = int(width)
        place = self.design.infos[(file, start + text.index("[") + 1, end - len(width) - 3)].width
        for at, literal in enumerate(reversed(entries)):
            near = neighbours(literal)[-1]
            sign = "+" if value_of(near) > value_of(literal) else "-"
            hit = f"{bits}'(({index}) == {place}'d{at * bits})"
            new = f"{text} {sign} {hit}"
            edit = Edit(file, start, end, new, Form.EXPR)
            self._add("table", edit, start, f"table entry {at}: {literal} becomes {near}")


def _tables(design: ParsedDesign) -> Iterator[tuple[Span, list[str]]]:
    """Yield the places where a constant table is read, and the table's entries as written."""
    for file, tree in design.trees.items():
        tables: dict[str, list[str]] = {}
        for node in _all(tree.root):
            if kind_of(node) == "Declarator" and node.initializer is not None:
                value = node.initializer.expr
                if kind_of(value) == "ConcatenationExpression":
                    items = [child for child in children(value)]
                    if len(items) >= TABLE_ENTRIES:
                        texts = [design.text(span_of(file, item)) for item in items]
                        tables[str(node.name).strip()] = texts
        for node in _all(tree.root):
            if kind_of(node) == "IdentifierSelectName":
                entries = tables.get(str(node.identifier).strip())
                if entries and kind_of(node.selectors[0].selector) == "AscendingRangeSelect":
                    yield span_of(file, node), entries


def _all(node: Any) -> Iterator[Any]:
    yield node
    for child in children(node):
        yield from _all(child)


def deduplicate(mutants: list[Mutant], sources: dict[str, str]) -> list[Mutant]:
    """Drop mutants that make the same text as an earlier one, or the original's."""
    seen = {key_of(Mutant("", file, 0, "", (Edit(file, 0, 0, "", Form.TEXT),)), sources)
            for file in sources}  # fmt: skip
    kept = []
    for mutant in mutants:
        key = key_of(mutant, sources)
        if key not in seen:
            seen.add(key)
            kept.append(mutant)
    return kept


def generate(design: ParsedDesign) -> list[Mutant]:
    """Return all generated mutants of a design, in source order."""
    return Generator(design).run()
