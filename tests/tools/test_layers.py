"""Who may import whom, from the imports themselves.

A package is a folder of the second level (``verif.env``, ``sim.regress``). What is in ``REMAINING``
is still to be mended: the list only ever gets shorter.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from sim.shared.paths import ROOT

LAYERS = ("model", "verif", "sim", "tests")
# (importer, imported): what the rules forbid and the project still has.
REMAINING: set[tuple[str, str]] = set()
# Texts of inner layers that name a command of the outer one, by file.
REMAINING_TEXTS: set[str] = set()
COMMAND = re.compile(r"\bsim\.\w+|(^|['`])make [a-z]")


@cache
def trees() -> dict[str, ast.Module]:
    """Syntax tree of every module, by its dotted name."""
    files = [path for layer in LAYERS[:-1] for path in (ROOT / layer).rglob("*.py")]
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): ast.parse(
            path.read_text()
        )
        for path in files
    }


def imported(tree: ast.AST, names: set[str]) -> Iterator[str]:
    """Modules that a module imports, also inside functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.module, "relative imports hide where they lead"
            for each in node.names:
                full = f"{node.module}.{each.name}"
                yield full if full in names else node.module


def package(module: str) -> str:
    """The folder of the second level that a module lies in."""
    return ".".join(module.split(".")[:2])


def edges(modules: dict[str, ast.Module]) -> set[tuple[str, str]]:
    """(importer, imported) of all packages of the project."""
    names = set(modules)
    pairs = (
        (package(module), package(other))
        for module, tree in modules.items()
        for other in imported(tree, names)
        if other.split(".")[0] in LAYERS
    )
    return {(one, other) for one, other in pairs if one != other}


def forbidden(found: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """The imports that break a rule."""

    def breaks(one: str, other: str) -> bool:
        upwards = LAYERS.index(other.split(".")[0]) > LAYERS.index(one.split(".")[0])
        mutual = (other, one) in found
        inner = {"sim.shared": (), "sim.engine": ("sim.shared",)}
        outwards = one in inner and other.startswith("sim.") and other not in inner[one]
        return upwards or mutual or outwards

    return {pair for pair in found if breaks(*pair)}


def test_imports_run_downwards_and_never_both_ways() -> None:
    found = forbidden(edges(trees()))
    assert not found - REMAINING, "new imports against the rules"
    assert not REMAINING - found, "mended: take it off the list"


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("model.chip.isa", "from verif.items import job"),
        ("verif.env.env", "import sim.engine.builds"),
        ("sim.shared.cli", "from sim.engine.builds import BuildError"),
        ("sim.engine.builds", "def f():\n    from sim.decode import job"),
        ("sim.report.page", "from sim.regress.store import RECORD"),
        ("sim.regress.engine", "from tests.support import sabotage"),
    ],
)
def test_a_forbidden_import_is_found(module: str, line: str) -> None:
    changed = {**trees(), module: ast.parse(line)}
    assert forbidden(edges(changed)) - REMAINING


def texts(tree: ast.Module) -> Iterator[str]:
    """All texts of a module that are no docstrings."""
    scopes = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    documents = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, scopes) and node.body and isinstance(node.body[0], ast.Expr)
    }
    constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant))
    for node in constants:
        if isinstance(node.value, str) and id(node) not in documents:
            yield node.value


def test_no_inner_layer_knows_an_outer_command() -> None:
    found = {
        str(Path(*module.split(".")).with_suffix(".py"))
        for module, tree in trees().items()
        if not module.startswith("sim") and any(COMMAND.search(text) for text in texts(tree))
    }
    assert not found - REMAINING_TEXTS, "an inner layer names a command"
    assert not REMAINING_TEXTS - found, "mended: take it off the list"
