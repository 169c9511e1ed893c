"""Files of JSON lines: appended to by several processes, read whole or while they grow."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import msgspec

from sim.shared.paths import shown


class JsonLinesError(ValueError):
    """A line that is no JSON object; the message names the file and the line."""


def append(path: Path, *records: dict[str, Any]) -> None:
    """Append records, all in one write, so that writers at the same time do not mix.

    Raises:
        OSError: the file cannot be written; ``filename`` is ``path``.
    """
    with Writer(path) as writer:
        writer.add(*records)


class Writer:
    """Appends records; each is in the file when ``add`` returns, whatever happens next.

    Raises:
        OSError: the file cannot be opened or written; ``filename`` is its path.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        size = os.fstat(self._handle).st_size
        # A line torn by a kill or a full disk must not swallow the next one.
        self._torn = size > 0 and os.pread(self._handle, 1, size - 1) != b"\n"

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, *records: dict[str, Any]) -> None:
        """Append records."""
        lines = "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records)
        data = (("\n" if self._torn and lines else "") + lines).encode()
        try:
            while data:
                data = data[os.write(self._handle, data) :]
                self._torn = bool(data)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from error

    def close(self) -> None:
        """Bring everything to the disk and close."""
        if self._handle >= 0:
            os.fsync(self._handle)
            os.close(self._handle)
            self._handle = -1


def read(path: Path, kind: type[Any] = dict) -> list[dict[str, Any]]:
    """Return the records of a file, none when there is no file.

    What a kill or a full disk tore is left out, and said in one line on stderr; so is what
    cannot be read as ``kind``, a class of records.

    Raises:
        OSError: the file cannot be read.
    """
    if not path.exists():
        return []
    records = []
    for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            records.append(_record(path, number, line, kind))
        except JsonLinesError as error:
            print(f"{error}: left out", file=sys.stderr)
    return records


class Tail:
    """The records that were appended to a file since the last look."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._offset = 0
        self._lines = 0

    def new(self) -> list[dict[str, Any]]:
        """Return the records of complete new lines; none while there is no file.

        Raises:
            JsonLinesError: a complete line is no JSON object.
        """
        if not self.path.exists():
            return []
        with open(self.path, "rb") as file:
            file.seek(self._offset)
            data = file.read()
        complete = data[: data.rfind(b"\n") + 1]
        records = []
        for line in complete.split(b"\n")[:-1]:
            self._offset += len(line) + 1
            self._lines += 1
            if line.strip():
                records.append(_record(self.path, self._lines, line))
        return records


def _record(path: Path, number: int, line: bytes, kind: type[Any] = dict) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError:  # JSON and UTF-8 alike
        record = None
    if not isinstance(record, dict):
        raise JsonLinesError(f"{shown(path)}:{number}: no JSON object: {line[:40]!r}")
    try:
        msgspec.convert(record, kind)
    except msgspec.ValidationError as error:
        raise JsonLinesError(f"{shown(path)}:{number}: no {kind.__name__}: {error}") from None
    return record
