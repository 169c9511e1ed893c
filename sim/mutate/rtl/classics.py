"""Named faults as mutants: mistakes that designers of such a chip have made (``classics.yaml``).

A patch names its place by text, which must occur exactly once: when the RTL changes, the list
fails loudly instead of testing something else.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from sim.mutate.rtl.mutant import Edit, Form, Mutant
from sim.mutate.rtl.source import Design, Span, children
from sim.mutate.rtl.walk import kind_of, span_of
from sim.shared.patch import Patch, PatchError

FILE = Path(__file__).with_name("classics.yaml")


class Classic(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A named fault: all its patches together."""

    name: str
    about: str
    patches: tuple[Patch, ...]


@lru_cache
def classics() -> tuple[Classic, ...]:
    """Return all named faults."""
    return msgspec.yaml.decode(FILE.read_bytes(), type=tuple[Classic, ...])


def named_mutants(design: Design) -> list[Mutant]:
    """Return the named faults as mutants of a design.

    Raises:
        PatchError: a patch's text is missing or not unique.
    """
    return [_mutant(design, classic) for classic in classics()]


def _mutant(design: Design, classic: Classic) -> Mutant:
    try:
        edits = tuple(_edit(design, patch) for patch in classic.patches)
    except PatchError as error:
        raise PatchError(f"fault {classic.name}: {error}: adapt {FILE.name} to the RTL") from None
    first = edits[0]
    line = design.line(first.file, first.start)
    return Mutant("classic", first.file, line, classic.about, edits, classic.name)


def _edit(design: Design, patch: Patch) -> Edit:
    start, end = patch.place(design.texts.get(patch.file, ""))
    span = (patch.file, start, end)
    return Edit(*span, patch.new, _form(design, span))


def _form(design: Design, span: Span) -> Form:
    """Tell whether a range is an expression, a statement or neither."""
    for node in _nodes(design.trees[span[0]].root):
        if span_of(span[0], node) == span:
            if kind_of(node) == "ExpressionStatement":
                return Form.STMT
            if span in design.infos:
                return Form.EXPR
    return Form.TEXT


def _nodes(node: Any) -> Iterator[Any]:
    yield node
    for child in children(node):
        yield from _nodes(child)
