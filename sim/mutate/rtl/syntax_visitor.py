"""Walks the syntax trees and hands every place where hardware is described to the rules.

What only shapes the design stays out: declarations and their dimensions, parameters, event
controls, headers of loops and generate blocks (a mutant there may elaborate for ever), case labels
and functions that constants are computed with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from pyslang import syntax

from sim.mutate.rtl.source import ParsedDesign, Span, children

RESET = "rst"

SKIPPED = {
    "ModuleHeader", "PackageHeader", "ParameterDeclarationStatement", "TypedefDeclaration",
    "EventControlWithExpression", "FunctionPrototype", "PackageImportDeclaration",
    "VariableDimension", "EnumType", "GenvarDeclaration", "EmptyMember", "LocalVariableDeclaration",
    "ImmediateAssertionMember", "ImmediateAssertStatement", "ConcurrentAssertionMember",
    "AssertPropertyStatement", "PropertyDeclaration", "SequenceDeclaration",
}  # fmt: skip
"""Kinds of nodes that are never entered."""


def kind_of(node: Any) -> str:
    """Return the name of a node's syntax kind."""
    return str(node.kind).rsplit(".", maxsplit=1)[-1]


def span_of(file: str, node: Any) -> Span:
    """Return the span of a node or token."""
    where = node.sourceRange if hasattr(node, "sourceRange") else node.range
    return file, where.start.offset, where.end.offset


@dataclass(frozen=True)
class Context:
    """Where in the hardware a node stands.

    ``block``: ff, comb, assign, function or port. ``parents`` are the nodes above, outermost first.
    ``assigned`` names the variables of an always_comb block that certainly have a value by now.
    """

    file: str
    block: str = ""
    in_reset: bool = False
    left_side: bool = False
    loop_names: frozenset[str] = frozenset()
    assigned: frozenset[str] = frozenset()
    parents: tuple[Any, ...] = ()

    def under(self, node: Any, **changes: Any) -> Context:
        """Return the context of a child of ``node``."""
        return replace(self, parents=(*self.parents, node), **changes)


Visit = Callable[[Any, Context], None]


@dataclass
class SyntaxVisitor:
    """Calls ``expression`` and ``statement`` for every place of ``design`` that may mutate."""

    design: ParsedDesign
    expression: Visit
    statement: Visit
    constant_functions: set[str] = field(default_factory=set)

    def run(self) -> None:
        """Walk all files in order."""
        for tree in self.design.trees.values():
            self.constant_functions |= set(_constant_calls(tree.root))
        for file, tree in self.design.trees.items():
            self._member(tree.root, Context(file))

    def _member(self, node: Any, context: Context) -> None:
        kind = kind_of(node)
        if kind in SKIPPED:
            return
        if kind == "FunctionDeclaration":
            if str(node.prototype.name).strip() not in self.constant_functions:
                for item in node.items:
                    self._statement(item, context.under(node, block="function"))
        elif kind in ("AlwaysFFBlock", "AlwaysBlock"):
            self._statement(node.statement, context.under(node, block="ff"))
        elif kind == "AlwaysCombBlock":
            self._comb(node.statement, context.under(node, block="comb"))
        elif kind == "ContinuousAssign":
            inner = context.under(node, block="assign")
            for assignment in children(node.assignments):
                self._expression(assignment.left, inner.under(assignment, left_side=True))
                self._expression(assignment.right, inner.under(assignment))
        elif kind == "NetDeclaration":
            for declarator in children(node.declarators):
                if declarator.initializer is not None:
                    inner = context.under(node, block="assign").under(declarator)
                    self._expression(declarator.initializer.expr, inner)
        elif kind == "NamedPortConnection":
            if node.expr is not None:
                value = _plain(node.expr)
                if span_of(context.file, value) in self.design.input_ports:
                    self._expression(value, context.under(node, block="port"))
        elif kind == "LoopGenerate":
            name = str(node.identifier).strip()
            names = context.loop_names | {name}
            self._member(node.block, context.under(node, loop_names=names))
        elif kind == "IfGenerate":
            self._member(node.block, context.under(node))
            if node.elseClause is not None:
                self._member(node.elseClause, context.under(node))
        elif kind in ("DataDeclaration", "ParameterValueAssignment", "CaseGenerate"):
            return
        else:
            for child in children(node):
                self._member(child, context.under(node))

    def _comb(self, node: Any, context: Context) -> None:
        """Walk an always_comb block, noting what has been assigned before each statement."""
        if kind_of(node) != "SequentialBlockStatement":
            self._statement(node, context)
            return
        assigned: frozenset[str] = frozenset()
        for item in node.items:
            self._statement(item, context.under(node, assigned=assigned))
            if kind_of(item) == "ExpressionStatement" and hasattr(item.expr, "left"):
                assigned |= {str(item.expr.left).strip()}

    def _statement(self, node: Any, context: Context) -> None:
        kind = kind_of(node)
        if kind in SKIPPED or kind == "DataDeclaration":
            return
        self.statement(node, context)
        inner = context.under(node)
        if kind == "TimingControlStatement":
            self._statement(node.statement, inner)
        elif kind == "ConditionalStatement":
            for pattern in children(node.predicate.conditions):
                self._expression(pattern.expr, inner.under(node.predicate).under(pattern))
            resets = str(node.predicate).strip() == RESET
            self._statement(node.statement, inner if not resets else replace(inner, in_reset=True))
            if node.elseClause is not None:
                self._statement(node.elseClause.clause, inner.under(node.elseClause))
        elif kind == "CaseStatement":
            self._expression(node.expr, inner)
            for item in node.items:
                self._statement(item.clause, inner.under(item))
        elif kind == "ForLoopStatement":
            names = {
                str(v.declarator.name).strip() for v in children(node.initializers) if _declares(v)
            }
            self._statement(node.statement, replace(inner, loop_names=inner.loop_names | names))
        elif kind == "ExpressionStatement":
            self._assignment(node.expr, inner)
        elif kind == "ReturnStatement":
            if node.returnValue is not None:
                self._expression(node.returnValue, inner)
        else:
            for child in children(node):
                self._statement(child, inner)

    def _assignment(self, node: Any, context: Context) -> None:
        if kind_of(node) in ("AssignmentExpression", "NonblockingAssignmentExpression"):
            self._expression(node.left, context.under(node, left_side=True))
            self._expression(node.right, context.under(node))

    def _expression(self, node: Any, context: Context) -> None:
        self.expression(node, context)
        inner = context.under(node)
        for child in _operands(node):
            side = context.left_side and kind_of(node) == "ConcatenationExpression"
            self._expression(child, replace(inner, left_side=side))


def _plain(node: Any) -> Any:
    """Return the expression inside the property wrappers that arguments and ports come in."""
    while kind_of(node) in ("SimplePropertyExpr", "SimpleSequenceExpr"):
        node = node.expr
    return node


def _declares(node: Any) -> bool:
    return kind_of(node) == "ForVariableDeclaration"


def _operands(node: Any) -> Iterator[Any]:
    """Yield the expressions inside an expression that are not constants by their place."""
    kind = kind_of(node)
    if kind == "ConditionalExpression":
        for pattern in children(node.predicate.conditions):
            yield pattern.expr
        yield node.left
        yield node.right
    elif kind == "InvocationExpression":
        if node.arguments is not None:
            for argument in children(node.arguments.parameters):
                if hasattr(argument, "expr"):
                    yield _plain(argument.expr)
    elif kind in ("IdentifierSelectName", "ElementSelectExpression"):
        selects = node.selectors if kind == "IdentifierSelectName" else [node.select]
        for select in selects:
            if kind_of(select.selector) == "BitSelect":
                yield select.selector.expr
            elif kind_of(select.selector) == "AscendingRangeSelect":
                yield select.selector.left
    elif kind == "CastExpression":
        yield node.right
    elif kind == "SignedCastExpression":
        yield node.inner
    elif kind == "MultipleConcatenationExpression":
        yield node.concatenation
    elif kind in ("AssignmentPatternExpression", "ScopedName", "IdentifierName"):
        return
    else:
        yield from children(node)


def _constant_calls(node: Any) -> Iterator[str]:
    """Yield the names of functions called where only constants may stand."""
    kind = kind_of(node)
    inside = kind in SKIPPED or kind in ("DataDeclaration", "ParameterValueAssignment")
    if inside and kind != "LocalVariableDeclaration":
        yield from _calls(node)
        return
    for child in children(node):
        yield from _constant_calls(child)


def _calls(node: Any) -> Iterator[str]:
    if isinstance(node, syntax.InvocationExpressionSyntax):
        yield str(node.left).strip().rsplit("::", maxsplit=1)[-1]
    for child in children(node):
        yield from _calls(child)
