"""Named faults as mutants: mistakes that designers of such a chip have made (``classics.yaml``).

A patch names its place by text, which must occur exactly once: when the RTL changes, the list
fails loudly instead of testing something else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from sim.mutate.rtl.mutant import Edit, Form, Mutant
from sim.mutate.rtl.source import ParsedDesign, Span, children
from sim.mutate.rtl.syntax_visitor import kind_of, span_of
from sim.shared.patch import Patch, PatchError

FILE = Path(__file__).with_name("classics.yaml")
Forms = dict[Span, Form]


class Classic(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A named fault: all its patches together."""

    name: str
    about: str
    patches: tuple[Patch, ...]


@lru_cache
def classics() -> tuple[Classic, ...]:
    """Return all named faults."""
    return msgspec.yaml.decode(FILE.read_bytes(), type=tuple[Classic, ...])


def named_mutants(
    design: ParsedDesign, all_must_fit: bool = True
) -> tuple[list[Mutant], list[str]]:
    """Return the named faults as mutants of a design, and why others do not fit.

    Raises:
        PatchError: a patch's text is missing or not unique, and all must fit.
    """
    found, unfit = [], []
    forms = {file: _forms(design, file) for file in design.trees}
    for classic in classics():
        try:
            found.append(_mutant(design, forms, classic))
        except PatchError as error:
            if all_must_fit:
                raise PatchError(f"{error}: adapt {FILE.name} to the RTL") from None
            unfit.append(str(error))
    return found, unfit


def _mutant(design: ParsedDesign, forms: Mapping[str, Forms], classic: Classic) -> Mutant:
    try:
        edits = tuple(_edit(design, forms, patch) for patch in classic.patches)
    except PatchError as error:
        raise PatchError(f"fault {classic.name}: {error}") from None
    first = edits[0]
    line = design.line(first.file, first.start)
    return Mutant("classic", first.file, line, classic.about, edits, classic.name)


def _edit(design: ParsedDesign, forms: Mapping[str, Forms], patch: Patch) -> Edit:
    start, end = patch.place(design.texts.get(patch.file, ""))
    span = (patch.file, start, end)
    return Edit(*span, patch.new, forms[patch.file].get(span, Form.TEXT))


def _forms(design: ParsedDesign, file: str) -> Forms:
    """Return which ranges of a file are expressions, and which are statements."""
    found: Forms = {}
    for node in _nodes(design.trees[file].root):
        span = span_of(file, node)
        if kind_of(node) == "ExpressionStatement":
            found.setdefault(span, Form.STMT)
        elif span in design.infos:
            found.setdefault(span, Form.EXPR)
    return found


def _nodes(node: Any) -> Iterator[Any]:
    yield node
    for child in children(node):
        yield from _nodes(child)
