"""Import the model package with one module's source text changed, beside the real one."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

MODEL = Path(__file__).parents[2] / "model"


class _Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds and loads one module from a text."""

    def __init__(self, name: str, path: Path, text: str) -> None:
        self.name = name
        self.path = path
        self.text = text
        self.loaded = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.name:
            return None
        return importlib.util.spec_from_loader(fullname, self, origin=str(self.path))

    def exec_module(self, module: ModuleType) -> None:
        self.loaded = True
        exec(compile(self.text, f"<changed {self.path.name}>", "exec"), module.__dict__)


def source_of(module: str) -> Path:
    """File of the module with this dotted name below ``model``."""
    return MODEL / f"{module.replace('.', '/')}.py"


def changed_source(module: str, old: str, new: str) -> str:
    """Source of model.<module> with its only occurrence of ``old`` replaced by ``new``."""
    text = source_of(module).read_text()
    # Letter by letter: white space means something in Python.
    if text.count(old) != 1:
        raise AssertionError(f"{old!r} occurs {text.count(old)} times, not once, in model.{module}")
    if old == new:
        raise AssertionError(f"replacing {old!r} changes nothing")
    return text.replace(old, new)


@contextmanager
def model_with(module: str, text: str) -> Iterator[None]:
    """Inside, ``import model...`` gives a fresh package in which ``module`` has this text."""
    ours = {name: mod for name, mod in sys.modules.items() if name.partition(".")[0] == "model"}
    for name in ours:
        del sys.modules[name]
    finder = _Changed(f"model.{module}", source_of(module), text)
    sys.meta_path.insert(0, finder)
    try:
        importlib.import_module(f"model.{module}")
        yield
        assert finder.loaded, f"model.{module} was not imported from the changed text"
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if name.partition(".")[0] == "model"]:
            del sys.modules[name]
        sys.modules.update(ours)
