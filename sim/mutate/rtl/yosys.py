"""Runs proof tools as child processes with a time limit."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from sim.shared.files import read_text
from sim.shared.paths import ROOT
from sim.shared.process import Child

_IMPORT = re.compile(r"^[ \t]*import\s+\w+::\*\s*;[ \t]*\n", re.MULTILINE)


class ToolMissingError(RuntimeError):
    """The proof tools are not installed."""


@dataclass(frozen=True)
class ToolRun:
    """What a tool said. ``finished`` is False after the time limit."""

    ok: bool
    finished: bool
    log: str


def portable(text: str) -> str:
    """Return SystemVerilog as Yosys reads it: package imports move in front of the module."""
    imports = [line.strip() for line in _IMPORT.findall(text)]
    return "".join(f"{line}\n" for line in imports) + _IMPORT.sub("", text)


def run_module(module: str, folder: Path, limit: float) -> ToolRun:
    """Run a Python module of this project on a folder, at most ``limit`` seconds."""
    return _run([sys.executable, "-m", module, str(folder)], ROOT, limit)


def run_abc(commands: str, folder: Path, limit: float) -> ToolRun:
    """Run abc commands in a folder, at most ``limit`` seconds.

    Raises:
        ToolMissingError: pyosys brings no abc here.
    """
    spec = find_spec("pyosys")
    abc = Path(spec.origin).parent / "yosys-abc" if spec and spec.origin else None
    if abc is None or not abc.exists():
        raise ToolMissingError("pyosys with yosys-abc is not installed: pip install pyosys")
    return _run([str(abc), "-c", commands], folder, limit)


def _run(command: list[str], folder: Path, limit: float) -> ToolRun:
    """Run a tool as a child that does not outlive this process, however that ends."""
    with tempfile.TemporaryDirectory() as place:
        log = Path(place) / "log"
        with Child(command, cwd=folder, env=os.environ, log=log) as child:
            late = child.running(limit)
        return ToolRun(not late and child.code == 0, not late, read_text(log))
