"""The RTL as pyslang sees it: text, syntax trees, and the types of expressions by position."""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyslang import SourceManager, SourceRange, ast, syntax

from sim.engine.design import Design
from sim.shared.errors import ToolError

Span = tuple[str, int, int]

_INCLUDE = re.compile(r'`include[ \t]+"([^"\n]+)"')


class SourceError(ToolError):
    """The RTL does not compile, or cannot be taken apart."""


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
class ParsedDesign:
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


def read_sources(design: Design) -> dict[str, str]:
    """Return the design's files in order, name to text, with what they include in its place.

    Latin-1, so that an offset in bytes is one in characters.

    Raises:
        SourceError: two files of one name, or macros defined by the file list.
    """
    names = [path.name for path in design.sources.files]
    if double := {name for name in names if names.count(name) > 1}:
        raise SourceError(f"{design.path}: two files are named {sorted(double)[0]}: rename one")
    if design.sources.defines:
        macros = ", ".join(design.sources.defines)
        raise SourceError(f"{design.path}/ga2.f: defines {macros}: define them in a source instead")
    return {path.name: _with_includes(design, path) for path in design.sources.files}


def _with_includes(design: Design, path: Path, outer: tuple[Path, ...] = ()) -> str:
    """Return a file's text; an include that the design does not hold stays, for other tools."""

    def included(match: re.Match[str]) -> str:
        found = [other for other in design.contents if other.as_posix().endswith(f"/{match[1]}")]
        if not found or found[0] in outer:
            return match[0]
        return _with_includes(design, found[0], (*outer, path))

    return _INCLUDE.sub(included, design.contents[path].decode("latin-1"))


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


def load(texts: dict[str, str]) -> ParsedDesign:
    """Compile the texts and collect positions and types.

    Raises:
        SourceError: the design has errors.
    """
    found = errors_of(texts)
    if found:
        raise SourceError("the RTL does not compile: " + "; ".join(found[:5]))
    compilation, _, trees = compile_texts(texts)
    design = ParsedDesign(dict(texts), trees)
    buffers = {tree.root.sourceRange.start.buffer.id: name for name, tree in trees.items()}
    _Collector(design, buffers).collect(compilation.getRoot())
    return design


class _Collector:
    """Walks the elaborated design once and files types under source spans."""

    def __init__(self, design: ParsedDesign, buffers: dict[int, str]) -> None:
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
