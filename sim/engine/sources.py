"""The HDL files of a design: what its list names, and everything that these include or load."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sim.shared.errors import ToolError

# Any string may be the name of a file that is read, by a parameter or a macro, too.
_STRING = re.compile(rb'"([^"\n]{1,200})"')


class DesignError(ToolError):
    """The folder holds no design; the message names what is wrong and what would be right."""


@dataclass(frozen=True)
class Sources:
    """HDL files as a compiler sees them.

    Attributes:
        files: to compile, in order.
        include_dirs: where included files are looked for, in order.
        defines: macros, ``NAME`` or ``NAME=VALUE``.
    """

    files: tuple[Path, ...]
    include_dirs: tuple[Path, ...] = ()
    defines: tuple[str, ...] = ()

    @property
    def search(self) -> tuple[Path, ...]:
        """Folders that a compiler looks into for included files: those of the sources come last."""
        return tuple(dict.fromkeys([*self.include_dirs, *(path.parent for path in self.files)]))

    def contents(self) -> dict[Path, bytes]:
        """What can be read: the files, then whatever they include or load, directly or not.

        A name that is found in several places counts in each.

        Raises:
            DesignError: a file cannot be read.
        """
        read: dict[Path, bytes] = {}
        waiting = list(self.files)
        while waiting:
            path = waiting.pop(0)
            if path in read:
                continue
            try:
                read[path] = path.read_bytes()
            except OSError as error:
                raise DesignError(f"{path}: {error.strerror}") from None
            for name in _STRING.findall(read[path]):
                for folder in (path.parent, *self.search):
                    found = Path(os.path.normpath(folder / os.fsdecode(name)))
                    if found.is_file():
                        waiting.append(found)
        return read


def read_list(path: Path, *outer: Path) -> Sources:
    """Read a list of files such as ``ga2.f``.

    It holds files, ``+incdir+DIR``, ``-I DIR``, ``+define+NAME=VALUE``, ``-D NAME`` and
    ``-f LIST``, relative to its folder; ``//`` and ``#`` start comments.

    Raises:
        DesignError: anything else, with its line; a file that is missing; a list that names itself.
    """
    files: list[Path] = []
    folders: list[Path] = []
    defines: list[str] = []
    for kind, value in _words(path):
        target = Path(os.path.normpath(path.parent / value))
        if kind == "-f":
            if target in (path, *outer):
                raise DesignError(f"{path}: names {value}, which names it in turn")
            inner = read_list(target, path, *outer)
            files += inner.files
            folders += inner.include_dirs
            defines += inner.defines
        elif kind == "-I":
            folders.append(target)
        elif kind == "-D":
            defines.append(value)
        elif not target.is_file():
            raise DesignError(f"{path}: names {value}, which is no file")
        else:
            files.append(target)
    return Sources(tuple(files), tuple(dict.fromkeys(folders)), tuple(dict.fromkeys(defines)))


def _words(path: Path) -> Iterator[tuple[str, str]]:
    """The list's entries: kind (``-f``, ``-I``, ``-D`` or empty for a file) and value."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DesignError(f"{path}: {getattr(error, 'strerror', '') or 'no text file'}") from None
    for number, line in enumerate(lines, start=1):
        try:
            words = iter(shlex.split(re.sub(r"(^|\s)(//|#).*", "", line)))
            for word in words:
                if word[:2] in ("-f", "-I", "-D"):
                    yield word[:2], word[2:] or next(words)
                elif plus := re.match(r"\+(incdir|define)\+(.+)", word):
                    kind = "-I" if plus[1] == "incdir" else "-D"
                    yield from ((kind, value) for value in plus[2].split("+"))
                elif word[0] in "+-":
                    known = "files, +incdir+, -I, +define+, -D and -f"
                    raise DesignError(f"{path}: line {number}: {word!r} is none of {known}")
                else:
                    yield "", word
        except (ValueError, StopIteration) as error:
            if isinstance(error, DesignError):
                raise
            raise DesignError(f"{path}: line {number}: {line.strip()!r} is cut short") from None
