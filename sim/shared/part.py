"""A share of some work, so that several processes do all of it and none does anything twice."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True)
class Part:
    """Share ``number``, from 1, of ``of`` shares.

    >>> [Part(n, 3).dealt("abcdefgh") for n in (1, 2, 3)]
    [['a', 'd', 'g'], ['b', 'e', 'h'], ['c', 'f']]
    >>> [Part(n, 3).stretch("abcdefgh") for n in (1, 2, 3)]
    [['a', 'b'], ['c', 'd', 'e'], ['f', 'g', 'h']]
    """

    number: int
    of: int

    def dealt(self, items: Sequence[Item]) -> list[Item]:
        """Return every ``of``-th item."""
        return list(items[self.number - 1 :: self.of])

    def stretch(self, items: Sequence[Item]) -> list[Item]:
        """Return neighbours, where these have something in common."""
        first, end = (n * len(items) // self.of for n in (self.number - 1, self.number))
        return list(items[first:end])


WHOLE = Part(1, 1)


def part_option(text: str) -> Part:
    """Read the value of ``--part`` for argparse, such as ``3/8``."""
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    part = Part(int(found[1]), int(found[2])) if found else None
    if part is None or not 1 <= part.number <= part.of:
        raise argparse.ArgumentTypeError(f"{text!r} is no part: give one such as 3/8, or 8/8")
    return part


def add_part_options(parser: argparse.ArgumentParser, of: str) -> None:
    """Add ``--part`` (``of`` says of what) and ``--out``, where its result goes."""
    parser.add_argument("--part", type=part_option, default=WHOLE, help=f"3/8: an eighth of {of}")
    parser.add_argument(
        "--out", type=Path, help="folder of the result, not of what is kept for later"
    )
