"""Where the weights and texts lie that the project ships."""

from __future__ import annotations

from pathlib import Path

DATA = Path(__file__).parent / "data"
