"""Memory images as text, in the format that Verilog's ``$readmemh`` reads."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from model.chip.isa import EXT_WORDS

Words = npt.NDArray[np.uint32]

BYTE_ORDER_MARK = "\ufeff"

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


class ImageError(ValueError):
    """A memory image that cannot be read; the message holds the offending token."""


def parse_hex(text: str) -> Words:
    """Read 32-bit hexadecimal words; ``@addr`` (hexadecimal) moves on, comments are skipped.

    Digits may be grouped by underscores, and a byte order mark may come first.

    Returns:
        uint32 (n,), up to the highest word given; words skipped by ``@`` are 0.

    Raises:
        ImageError: a token that is no 32-bit hexadecimal number, an address above 65,535, or one
            that is given a second word.
    """
    words: dict[int, int] = {}
    address = 0
    for token in _COMMENT.sub(" ", text.removeprefix(BYTE_ORDER_MARK)).split():
        number = token.removeprefix("@")
        digits = number.replace("_", "")
        if number.startswith("_") or not re.fullmatch(r"[0-9a-fA-F]{1,8}", digits):
            raise ImageError(f"{token!r} is not a hexadecimal number of at most 8 digits")
        if token[0] == "@":
            address = int(digits, 16)
            continue
        if address >= EXT_WORDS:
            raise ImageError(f"word {token!r} lands at {address:#x}, beyond the last word 0xffff")
        if address in words:
            raise ImageError(f"word {token!r} lands at {address:#x}, which has a word already")
        words[address] = int(digits, 16)
        address += 1
    image = np.zeros(max(words, default=-1) + 1, dtype=np.uint32)
    image[list(words)] = np.fromiter(words.values(), dtype=np.uint32, count=len(words))
    return image


def format_hex(words: npt.ArrayLike) -> str:
    """Write uint32 words (n,), one a line, so that ``parse_hex`` reads them back."""
    values = np.asarray(words, dtype=np.uint32)
    return "".join(f"{value:08x}\n" for value in values.tolist())
