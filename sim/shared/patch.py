"""Planting a fault: a text that must stand exactly once in a source becomes another."""

from __future__ import annotations

import re

import msgspec

from sim.shared.errors import ToolError


class PatchError(ToolError):
    """A source has no unique place for a patch."""


class Patch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``old`` becomes ``new`` in ``file``, where it stands in the unique text ``near``.

    White space in ``old`` and ``near`` stands for any.
    """

    file: str
    old: str
    new: str
    near: str = ""

    def place(self, text: str) -> tuple[int, int]:
        """Return start and end of ``old`` in the file's text.

        Raises:
            PatchError: ``near`` or ``old`` does not stand there exactly once.
        """
        start, end = find(text, self.near or self.old, self.file)
        inner = find(text[start:end], self.old, self.file)
        return start + inner[0], start + inner[1]

    def apply(self, text: str) -> str:
        """Return the file's text with the patch made.

        Raises:
            PatchError: as ``place``.
        """
        start, end = self.place(text)
        return text[:start] + self.new + text[end:]


def find(text: str, what: str, where: str) -> tuple[int, int]:
    """Return start and end of ``what`` in a text named ``where``; white space stands for any.

    Raises:
        PatchError: it does not stand there exactly once.
    """
    pattern = r"\s+".join(re.escape(word) for word in re.split(r"\s+", what))
    found = [match.span() for match in re.finditer(pattern, text)]
    if len(found) != 1:
        raise PatchError(f"{what!r} occurs {len(found)} times, not once, in {where}")
    return found[0]


def patch(text: str, old: str, new: str, where: str = "the text") -> str:
    """Return ``text`` with its only ``old`` replaced by ``new``.

    Raises:
        PatchError: ``old`` does not stand there exactly once.
    """
    return Patch(where, old, new).apply(text)
