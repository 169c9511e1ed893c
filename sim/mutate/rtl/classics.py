"""The named faults: mistakes that designers of such a chip have made, as patches of the source.

A patch names its place by text, which must occur exactly once: when the RTL changes, the list
fails loudly instead of testing something else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sim.mutate.rtl.classic_list import CLASSICS, Classic, Patch
from sim.mutate.rtl.mutant import Edit, Form, Mutant
from sim.mutate.rtl.source import Design, children
from sim.mutate.rtl.walk import kind_of, span_of


class PatchError(ValueError):
    """The RTL has no unique place for a patch."""


@dataclass(frozen=True)
class _Place:
    start: int
    end: int


def named_mutants(design: Design) -> list[Mutant]:
    """Return the named faults as mutants of a design.

    Raises:
        PatchError: a patch's text is missing or not unique.
    """
    return [_mutant(design, classic) for classic in CLASSICS]


def _mutant(design: Design, classic: Classic) -> Mutant:
    edits = tuple(_edit(design, classic.name, patch) for patch in classic.patches)
    first = edits[0]
    line = design.line(first.file, first.start)
    return Mutant("classic", first.file, line, classic.about, edits, classic.name)


def _edit(design: Design, name: str, patch: Patch) -> Edit:
    place = locate(design.texts[patch.file], name, patch)
    form = _form(design, patch.file, place)
    return Edit(patch.file, place.start, place.end, patch.new, form)


def locate(text: str, name: str, patch: Patch) -> _Place:
    """Find a patch's text.

    Raises:
        PatchError: see :func:`named_mutants`.
    """
    near = patch.near or patch.old
    for what, where in ((near, text), (patch.old, near)):
        if where.count(what) != 1:
            raise PatchError(
                f"fault {name}: {what!r} occurs {where.count(what)} times, not once, in "
                f"{patch.file}: adapt sim/mutate/rtl/classic_list.py to the RTL"
            )
    start = text.index(near) + near.index(patch.old)
    return _Place(start, start + len(patch.old))


def _form(design: Design, file: str, place: _Place) -> Form:
    """Tell whether a range is an expression, a statement or neither."""
    span = (file, place.start, place.end)
    for node in _nodes(design.trees[file].root):
        if span_of(file, node) == span:
            if kind_of(node) == "ExpressionStatement":
                return Form.STMT
            if span in design.infos:
                return Form.EXPR
    return Form.TEXT


def _nodes(node: Any) -> Iterator[Any]:
    yield node
    for child in children(node):
        yield from _nodes(child)
