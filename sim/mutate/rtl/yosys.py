"""Runs proof tools as child processes with a time limit."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from sim.shared.paths import ROOT

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
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=limit,
            check=False,
            start_new_session=True,
        )
    except subprocess.TimeoutExpired as late:
        return ToolRun(False, False, (late.output or b"").decode(errors="replace"))
    return ToolRun(done.returncode == 0, True, done.stdout.decode(errors="replace"))
