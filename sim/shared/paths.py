"""Where things lie in the project's folder, and what its simulators are called."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
RESULTS = BUILD / "results"  # JSON and JUnit of every front end
WAVES = BUILD / "waves"
RTL = ROOT / "hw" / "rtl"
HDL = ROOT / "verif" / "hdl"  # HDL of the testbench

SIMULATORS = ("icarus", "verilator")


def shown(path: Path) -> str:
    """Return ``path`` as it is best printed: relative to the project when it lies inside."""
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
