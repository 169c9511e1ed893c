"""Runs Yosys (the pyosys wheel) and its abc as child processes with a time limit."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

_RUNNER = """
import sys
from pyosys import libyosys
design = libyosys.Design()
for line in open(sys.argv[1]):
    if line.strip():
        libyosys.run_pass(line.strip(), design)
"""

_IMPORT = re.compile(r"^[ \t]*import\s+\w+::\*\s*;[ \t]*\n", re.MULTILINE)


class ToolMissingError(RuntimeError):
    """The proof tools are not installed."""


@dataclass(frozen=True)
class Outcome:
    """What a tool said. ``finished`` is False after the time limit."""

    ok: bool
    finished: bool
    log: str


def portable(text: str) -> str:
    """Return SystemVerilog as Yosys reads it: package imports move in front of the module."""
    imports = [line.strip() for line in _IMPORT.findall(text)]
    return "".join(f"{line}\n" for line in imports) + _IMPORT.sub("", text)


def run_yosys(commands: Sequence[str], folder: Path, limit: float) -> Outcome:
    """Run Yosys commands in a folder, at most ``limit`` seconds. ``ok``: all of them succeeded."""
    script = folder / "commands.ys"
    script.write_text("\n".join(commands) + "\n")
    return _run([sys.executable, "-c", _RUNNER, script.name], folder, limit)


def run_abc(commands: str, folder: Path, limit: float) -> Outcome:
    """Run abc commands in a folder, at most ``limit`` seconds.

    Raises:
        ToolMissingError: pyosys brings no abc here.
    """
    spec = find_spec("pyosys")
    abc = Path(spec.origin).parent / "yosys-abc" if spec and spec.origin else None
    if abc is None or not abc.exists():
        raise ToolMissingError("pyosys with yosys-abc is not installed: pip install pyosys")
    return _run([str(abc), "-c", commands], folder, limit)


def _run(command: list[str], folder: Path, limit: float) -> Outcome:
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        return Outcome(False, False, (late.output or b"").decode(errors="replace"))
    return Outcome(done.returncode == 0, True, done.stdout.decode(errors="replace"))
