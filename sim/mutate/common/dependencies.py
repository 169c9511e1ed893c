"""What a verdict depends on, derived from imports, so that nothing is forgotten."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib.metadata import packages_distributions, version
from pathlib import Path

import grimp

from sim.shared.paths import ROOT

PACKAGES = ("model", "verif", "sim")
FINDER = "pkgutil"  # who imports it loads modules that it does not name


def imported(modules: Iterable[str], apart_from: str = "") -> tuple[list[Path], list[str]]:
    """Return what modules of the project import, directly or not.

    Args:
        modules: dotted names.
        apart_from: package that is not entered.

    Returns:
        The project's files, the modules' own among them, and ``name==version`` of every package
        from elsewhere; both sorted.
    """
    graph = grimp.build_graph(*PACKAGES, include_external_packages=True, cache_dir=None)
    if apart_from:
        graph.squash_module(apart_from)
    found: set[str] = set()
    waiting = set(modules)
    while waiting:
        for module in waiting:
            found |= {module} | graph.find_upstream_modules(module)
        waiting = (_discovered(graph, found) | _around(found)) - found
    found.discard(apart_from)
    ours = {name for name in found if name.partition(".")[0] in PACKAGES}
    files = sorted({_file(name) for name in ours})
    others = {name.partition(".")[0] for name in found - ours} - sys.stdlib_module_names
    return files, sorted(_versions(others))


def _around(modules: set[str]) -> set[str]:
    """Return the packages around modules of the project: importing a module runs those, too."""
    return {
        name.rsplit(".", depth)[0]
        for name in modules
        if name.partition(".")[0] in PACKAGES
        for depth in range(1, name.count(".") + 1)
    }


def _discovered(graph: grimp.ImportGraph, modules: set[str]) -> set[str]:
    """Return what modules may load that find others by themselves: all around and below them."""
    if FINDER not in graph.modules:
        return set()
    finders = graph.find_modules_that_directly_import(FINDER) & modules
    packages = tuple(f"{module.rpartition('.')[0]}." for module in finders)
    return {name for name in graph.modules if packages and name.startswith(packages)}


def _file(module: str) -> Path:
    path = ROOT / module.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _versions(names: set[str]) -> list[str]:
    where = packages_distributions()
    return [f"{one}=={version(one)}" for name in names for one in sorted(set(where.get(name, ())))]
