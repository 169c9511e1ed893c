"""Front ends called as make calls them, or in this process, which spares the start of Python."""

from __future__ import annotations

import importlib
import io
import signal
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from unittest.mock import patch

from sim.engine.compilers import tool_environment
from sim.shared.cli import run
from sim.shared.paths import ROOT

Done = subprocess.CompletedProcess[str]


def call(module: str, *arguments: object) -> Done:
    """Run the ``main`` of ``sim.MODULE`` here, with what stands around it in its file."""
    name = module.removesuffix(".__main__").rpartition(".")[2]
    argv = [name, *map(str, arguments)]
    main = importlib.import_module(f"sim.{module}").main
    out, err = io.StringIO(), io.StringIO()
    heard = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with patch("sys.argv", argv), redirect_stdout(out), redirect_stderr(err):
            run(name, main)
    except SystemExit as ended:
        return Done(argv, int(ended.code or 0), out.getvalue(), err.getvalue())
    finally:
        for number, handler in heard.items():  # a front end that ends hears nothing any more
            signal.signal(number, handler)


def call_process(module: str, *arguments: object) -> Done:
    """Run ``python -m sim.MODULE`` in the project's folder."""
    return subprocess.run(
        [sys.executable, "-m", f"sim.{module}", *map(str, arguments)],
        cwd=ROOT,
        env=tool_environment(),
        capture_output=True,
        text=True,
        timeout=240,
    )
