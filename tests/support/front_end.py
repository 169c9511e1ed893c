"""Front ends called as make calls them."""

from __future__ import annotations

import subprocess
import sys

from sim.engine.compilers import tool_environment
from sim.shared.paths import ROOT


def call(module: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run ``python -m sim.MODULE`` in the project's folder."""
    return subprocess.run(
        [sys.executable, "-m", f"sim.{module}", *map(str, arguments)],
        cwd=ROOT,
        env=tool_environment(),
        capture_output=True,
        text=True,
        timeout=240,
    )
