"""Folders made once and found again by their name, which says everything that went into them.

A folder is made beside its place, then renamed, so that none is ever half made. Size and hash of
what it is used for are recorded in it: a file that is cut short or missing has it made again.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sim.shared.files import locked

MANIFEST = "manifest.json"


def cached(
    folder: Path,
    products: Sequence[str],
    make: Callable[[Path], None],
    request: Mapping[str, Any] | None = None,
) -> None:
    """Have ``make`` fill ``folder``, unless it is there and its products are whole.

    Args:
        folder: named after everything that goes into it.
        products: names of the files that it is used for.
        make: fills the folder that it is given; what it raises is passed on.
        request: what was asked for; recorded beside the products.
    """
    if is_whole(folder):
        return
    with locked(folder):
        if is_whole(folder):
            return
        # Whoever left them was killed: this lock would be theirs.
        for left in folder.parent.glob(f".{folder.name}-*"):
            shutil.rmtree(left, ignore_errors=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        try:
            make(temporary)
            state = {name: _state(temporary / name) for name in products}
            manifest = {"name": folder.name, "products": state, "request": dict(request or {})}
            (temporary / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")
            shutil.rmtree(folder, ignore_errors=True)
            temporary.rename(folder)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def is_whole(folder: Path) -> bool:
    """Whether every product of ``folder`` is as it was when it was made."""
    try:
        manifest = read_manifest(folder)
        products = manifest["products"]
        named = manifest.get("name", folder.name) == folder.name  # or a copy of another folder
        return (
            named
            and bool(products)
            and all(_state(folder / name) == state for name, state in products.items())
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read what was recorded. Raises OSError or ValueError when it cannot be read."""
    manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_text())
    return manifest


def _state(path: Path) -> list[Any]:
    data = path.read_bytes()
    return [len(data), hashlib.sha256(data).hexdigest()]
