"""Files that survive a kill, a full disk and a second writer; digests; locks between processes."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock


def write_text(path: Path, text: str) -> None:
    """Replace ``path`` by ``text`` in one step: readers see the old file or the new one.

    The folder is made when it is missing.

    Raises:
        OSError: it cannot be written; ``filename`` is ``path``, and the old file is as it was.
    """
    temporary = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(text)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException as error:
        if temporary:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        if isinstance(error, OSError):
            # A full disk says nothing of the file, and a temporary name says nothing to a reader.
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def write_json(path: Path, data: Any, indent: int | None = 1) -> None:
    """Replace ``path`` by ``data`` as JSON in one step. Raises OSError as ``write_text`` does."""
    write_text(path, json.dumps(data, indent=indent) + "\n")


def read_text(path: Path) -> str:
    """Return the text of a file that any program may have written: bytes that are no UTF-8 show.

    Raises:
        OSError: it cannot be read.
    """
    return path.read_text(encoding="utf-8", errors="backslashreplace")


def read_json(path: Path) -> dict[str, Any] | None:
    """Return the JSON object that a file holds; None when there is none to be had."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return data if isinstance(data, dict) else None


def digest(*parts: str | bytes | Path) -> str:
    """Return 16 hexadecimal digits that name these texts and files.

    A file counts with its name and its contents, not with its folder.

    Raises:
        OSError: a file cannot be read.
    """
    whole = hashlib.sha256()
    for part in parts:
        if isinstance(part, Path):
            pieces = [part.name.encode(), part.read_bytes()]
        else:
            pieces = [part.encode() if isinstance(part, str) else part]
        for piece in pieces:
            # With its length, so that no two lists of parts run together into the same bytes.
            whole.update(b"%d:" % len(piece) + piece)
    return whole.hexdigest()[:16]


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of ``path`` against other processes; the file itself need not be there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.parent / f".{path.name}.lock"):
        yield
