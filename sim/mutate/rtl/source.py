"""The RTL as pyslang sees it: text, syntax trees, and the types of expressions by position."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyslang import SourceManager, SourceRange, ast, syntax

Span = tuple[str, int, int]


class SourceError(ValueError):
    """The RTL does not compile, or a file of the list is missing."""


@dataclass(frozen=True)
class Info:
    """What the elaborated design says of one expression.

    ``width`` in bits (0 when it is no integral type), ``left``/``right`` the bounds of the value
    that a select picks from, ``members`` the names of the enumeration that a named value is of.
    """

    width: int
    signed: bool
    left: int = 0
    right: int = 0
    members: tuple[str, ...] = ()
    parameter: bool = False


@dataclass
class Design:
    """A set of source files: texts, trees and types."""

    texts: dict[str, str]
    trees: dict[str, Any]
    infos: dict[Span, Info] = field(default_factory=dict)
    input_ports: set[Span] = field(default_factory=set)
    _lines: dict[str, list[int]] = field(default_factory=dict)

    def line(self, file: str, offset: int) -> int:
        """Return the 1-based line of an offset."""
        if file not in self._lines:
            text = self.texts[file]
            self._lines[file] = [i for i, char in enumerate(text) if char == "\n"]
        return bisect.bisect_left(self._lines[file], offset) + 1

    def text(self, span: Span) -> str:
        """Return the source text of a span."""
        return self.texts[span[0]][span[1] : span[2]]


def file_list(rtl: Path) -> list[str]:
    """Return the files that ``ga2.f`` of an RTL folder names, packages first.

    Raises:
        SourceError: there is no list, or it names a file that is not there.
    """
    listing = rtl / "ga2.f"
    if not listing.exists():
        raise SourceError(f"{listing} is missing: it lists the RTL files, one a line")
    lines = (line.split("//")[0].strip() for line in listing.read_text().splitlines())
    names = [line for line in lines if line and not line.startswith(("#", "+", "-"))]
    for name in names:
        if not (rtl / name).exists():
            raise SourceError(f"{listing} names {name}, which is not there")
    return names


def read_sources(rtl: Path) -> dict[str, str]:
    """Return the RTL files in order. Latin-1, so that an offset in bytes is one in characters."""
    return {name: (rtl / name).read_text(encoding="latin-1") for name in file_list(rtl)}


def errors_of(texts: dict[str, str]) -> list[str]:
    """Compile and elaborate the texts; return the errors, empty when there are none."""
    compilation, manager, _ = compile_texts(texts)
    found = []
    for diagnostic in compilation.getAllDiagnostics():
        if diagnostic.isError():
            file = manager.getFileName(diagnostic.location)
            found.append(f"{file}:{diagnostic.location.offset}: {diagnostic.code}")
    return found


def compile_texts(texts: dict[str, str]) -> tuple[Any, Any, dict[str, Any]]:
    """Parse and add every text; return the compilation, its source manager and the trees."""
    manager = SourceManager()
    compilation = ast.Compilation()
    trees = {}
    for name, text in texts.items():
        trees[name] = syntax.SyntaxTree.fromText(text, manager, name, name)
        compilation.addSyntaxTree(trees[name])
    return compilation, manager, trees


def load(texts: dict[str, str]) -> Design:
    """Compile the texts and collect positions and types.

    Raises:
        SourceError: the design has errors.
    """
    found = errors_of(texts)
    if found:
        raise SourceError("the RTL does not compile: " + "; ".join(found[:5]))
    compilation, _, trees = compile_texts(texts)
    design = Design(dict(texts), trees)
    buffers = {tree.root.sourceRange.start.buffer.id: name for name, tree in trees.items()}
    _Collector(design, buffers).collect(compilation.getRoot())
    return design


class _Collector:
    """Walks the elaborated design once and files types under source spans."""

    def __init__(self, design: Design, buffers: dict[int, str]) -> None:
        self.design = design
        self.buffers = buffers

    def collect(self, root: Any) -> None:
        root.visit(self._visit)

    def _span(self, range_: SourceRange) -> Span | None:
        name = self.buffers.get(range_.start.buffer.id)
        return None if name is None else (name, range_.start.offset, range_.end.offset)

    def _visit(self, node: Any) -> None:
        if isinstance(node, ast.InstanceSymbol):
            for connection in node.portConnections:
                self._connection(connection)
        elif isinstance(node, ast.Expression):
            span = self._span(node.sourceRange)
            if span is not None:
                self._expression(span, node)

    def _connection(self, connection: Any) -> None:
        expression = connection.expression
        if expression is None or connection.port.direction != ast.ArgumentDirection.In:
            return
        span = self._span(expression.sourceRange)
        if span is not None:
            self.design.input_ports.add(span)

    def _expression(self, span: Span, node: Any) -> None:
        kind = node.type
        width = kind.bitWidth if kind.isIntegral else 0
        signed = bool(kind.isIntegral and kind.isSigned)
        left = right = 0
        members: tuple[str, ...] = ()
        parameter = False
        if isinstance(node, ast.RangeSelectExpression | ast.ElementSelectExpression):
            base = node.value.type.canonicalType
            if base.hasFixedRange:
                left, right = base.fixedRange.left, base.fixedRange.right
        if isinstance(node, ast.NamedValueExpression):
            if node.symbol.kind == ast.SymbolKind.EnumValue:
                members = tuple(member.name for member in kind.canonicalType)
            if node.symbol.kind == ast.SymbolKind.Parameter:
                parameter = True
        # The visit goes outside in: the innermost node of a span, which is the one that was
        # typed, stays; conversions that the language inserts around it are overwritten.
        self.design.infos[span] = Info(width, signed, left, right, members, parameter)


def children(node: Any) -> Sequence[Any]:
    """Return the child nodes of a syntax node, without its tokens."""
    return [child for child in node if isinstance(child, syntax.SyntaxNode)]
