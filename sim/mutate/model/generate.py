"""Mutants of one Python module, by Cosmic Ray's operators and one that drops statements."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.operators.provider import OperatorProvider

# These need the names of variables.
LEFT_OUT = ("VariableReplacer", "VariableInserter")

# Cosmic Ray replaces a binary operator by each of the eleven others. Most give a value so far off,
# or an error, that nothing is learned; these come close.
BINARY = {
    "Add": ("Sub", "BitOr"),
    "Sub": ("Add", "BitXor"),
    "Mul": ("FloorDiv", "Add"),
    "Div": ("Mul", "FloorDiv"),
    "FloorDiv": ("Mul", "Mod", "Div"),
    "Mod": ("FloorDiv", "BitAnd"),
    "Pow": ("Mul", "LShift"),
    "RShift": ("LShift", "FloorDiv"),
    "LShift": ("RShift", "Mul", "Pow"),
    "BitOr": ("BitAnd", "BitXor", "Add"),
    "BitAnd": ("BitOr", "BitXor", "Mod"),
    "BitXor": ("BitOr", "BitAnd", "Sub"),
}


@dataclass(frozen=True)
class Mutant:
    """One changed module.

    Attributes:
        module: dotted name below ``model``.
        operator: of Cosmic Ray.
        line: first line that differs, from 1.
        old, new: that line before and after, without indentation.
        text: the whole module.
    """

    module: str
    operator: str
    line: int
    old: str
    new: str
    text: str

    @property
    def file(self) -> str:
        """The module's file, in the project's folder."""
        return f"model/{self.module.replace('.', '/')}.py"

    @property
    def kind(self) -> str:
        """The operator, as a report calls it."""
        return self.operator

    @property
    def name(self) -> str:
        """None of these has one."""
        return ""

    @property
    def description(self) -> str:
        """The change, as a report calls it."""
        return self.key

    @property
    def where(self) -> str:
        """File and line."""
        return f"{self.file}:{self.line}"

    @property
    def key(self) -> str:
        """How a reason names it: without the line's number or comment, which may change."""
        old, new = (line.partition("  #")[0] for line in (self.old, self.new))
        return f"{old} -> {new}"


class DropStatement(Operator):  # type: ignore[misc]
    """Replaces a call, an assignment to an attribute or item, or a ``raise`` by ``pass``."""

    def mutation_positions(self, node: Any) -> Iterator[tuple[Any, Any]]:
        """The statement itself, once."""
        if node.type == "simple_stmt" and self.droppable(node.children[0]):
            yield node.start_pos, node.end_pos

    @staticmethod
    def droppable(statement: Any) -> bool:
        """Dropping an assignment to a name would only make the name undefined."""
        if statement.type == "expr_stmt":
            return bool(statement.children[0].type == "atom_expr" or statement.children[1] != "=")
        return statement.type in ("atom_expr", "raise_stmt")

    def mutate(self, node: Any, index: int) -> Any:
        """Keep the line with its indentation."""
        prefix = node.get_first_leaf().prefix
        replacement = get_ast("pass\n").children[0]
        replacement.get_first_leaf().prefix = prefix
        return replacement

    @classmethod
    def examples(cls) -> Iterable[Any]:
        """None; the tests have some."""
        return ()


def in_use(name: str) -> bool:
    """Whether an operator of Cosmic Ray is one that asks something."""
    kind, _, change = name.partition("_")
    if kind == "ReplaceBinaryOperator":
        old, _, new = change.partition("_")
        return new in BINARY[old]
    if kind == "ReplaceComparisonOperator":
        # Whether equal integers are one object is up to the interpreter, so `is` in place of `==`,
        # or the other way round, asks nothing about the program.
        return len({side in ("Is", "IsNot") for side in change.split("_")}) == 1
    return name not in LEFT_OUT


def operators() -> dict[str, Operator]:
    """The operators in use, by name."""
    provider = OperatorProvider()
    names = [name for name in provider if in_use(name)]
    return {**{name: provider[name]() for name in names}, "DropStatement": DropStatement()}


def meaning(text: str) -> str:
    """The module's syntax without annotations and docstrings, which nothing here evaluates.

    Raises:
        SyntaxError: it has none.
    """
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            node.returns = None
        elif isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(None)
    return ast.dump(tree)


def generate(module: str, source: str) -> list[Mutant]:
    """All mutants of ``source``, no two of the same syntax, in the order of their lines."""
    tree = get_ast(source)
    seen = {meaning(source)}
    mutants = []
    for name, operator in operators().items():
        count = sum(1 for node in ast_nodes(tree) for _ in operator.mutation_positions(node))
        for occurrence in range(count):
            text = mutate_code(source, operator, occurrence)
            if text is None:
                continue
            try:
                syntax = meaning(text)
            except SyntaxError:
                continue
            if syntax not in seen:
                seen.add(syntax)
                mutants.append(_mutant(module, name, source, text))
    return sorted(mutants, key=lambda mutant: mutant.line)


def _mutant(module: str, operator: str, source: str, text: str) -> Mutant:
    before, after = source.splitlines(), text.splitlines()
    pairs = zip(before, after, strict=False)
    first = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(before), len(after)))
    # A decorator goes with the empty lines above it.
    line, old = _first_filled(before, first)
    return Mutant(module, operator, line, old, _first_filled(after, first)[1], text)


def _first_filled(lines: list[str], index: int) -> tuple[int, str]:
    """Number, from 1, and text of the first line from ``index`` on that is not empty."""
    found = ((i + 1, line.strip()) for i, line in enumerate(lines) if i >= index and line.strip())
    return next(found, (index + 1, ""))
