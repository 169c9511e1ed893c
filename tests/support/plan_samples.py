"""Changed copies of the test plan."""

from __future__ import annotations

from pathlib import Path

from verif.plan import PLAN_FILE


def changed(tmp_path: Path, old: str, new: str) -> Path:
    """The plan with one change."""
    text = PLAN_FILE.read_text()
    assert text.count(old) >= 1
    path = tmp_path / "plan.yaml"
    path.write_text(text.replace(old, new, 1))
    return path
