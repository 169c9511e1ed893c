"""What works inside the forked process: the changed module, and an eye on pytest."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import json
import math
import resource
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, TextIO

import pytest

# Processor time that a test may take, against what it takes on the unchanged module. A crowded
# machine, with caches shared, can double it.
LIMIT_FACTOR, LIMIT_SECONDS = 5.0, 3.0


class Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds and loads one module from a text."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return a specification for the one module."""
        if fullname != self.name:
            return None
        return importlib.util.spec_from_loader(fullname, self, origin=f"changed {fullname}")

    def exec_module(self, module: ModuleType) -> None:
        """Run the text."""
        exec(compile(self.text, f"<changed {self.name}>", "exec"), module.__dict__)


class Watch:
    """A pytest plugin: orders the tests, limits the time of each, and notes what happens."""

    def __init__(self, notes: TextIO, seconds: Mapping[str, float], kills: Counter[str]) -> None:
        self.notes = notes
        self.seconds = seconds
        self.kills = kills
        self.begin = 0.0
        if seconds:
            self.limit(sum(seconds.values()))  # collecting: a loop may be at a module's top

    def limit(self, usual: float) -> None:
        """Let the kernel end this process if what begins now takes much longer than usual."""
        most = math.ceil(time.process_time() + LIMIT_FACTOR * usual + LIMIT_SECONDS)
        resource.setrlimit(resource.RLIMIT_CPU, (most, resource.RLIM_INFINITY))

    def note(self, **what: Any) -> None:
        """Write it down at once: the process may not live to do it later."""
        self.notes.write(json.dumps(what) + "\n")
        self.notes.flush()

    def note_files(self, root: Path, modules: Iterable[str]) -> None:
        """Note which files of the project these modules come from."""
        files = {str(getattr(sys.modules[name], "__file__", None) or "") for name in modules}
        mine = {file for file in files if Path(file).is_relative_to(root)}
        self.note(files=sorted(file for file in mine if "site-packages" not in file))

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Put first what kills most in the least time."""
        items.sort(key=lambda i: self.seconds.get(i.nodeid, 0.0) / (1 + self.kills[i.nodeid]))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Begin a test."""
        self.begin = time.process_time()
        if self.seconds:
            self.limit(self.seconds.get(nodeid, 0.0))
        self.note(begin=nodeid)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """End a test."""
        self.note(done=nodeid, seconds=time.process_time() - self.begin)
