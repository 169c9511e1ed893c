"""Steps on the memory contents: zeros where it does not matter, small values where it does."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np
import numpy.typing as npt

from model.chip.image import Words
from verif.items.program_item import ProgramItem
from verif.shrink.steps import Search, lowest

FEW = 48  # words that are looked at one by one
Which = Literal["spad", "image"]
Places = npt.NDArray[np.int64]
MEMORIES: tuple[Which, ...] = ("spad", "image")


def simpler_memory(item: ProgramItem) -> Search[ProgramItem]:
    """Zero blocks of the scratchpad and of the external memory, then make single words small."""
    for which in MEMORIES:
        item = yield from zero_blocks(item, which)
        item = yield from small_words(item, which)
    return item


def zero_blocks(item: ProgramItem, which: Which) -> Search[ProgramItem]:
    """Zero everything, then halves of what must stay, down to single words."""
    words = _words(item, which)
    blocks = [words.nonzero()[0]]
    while blocks:
        smaller = []
        for block in blocks:
            if not block.size:
                continue
            candidate = _with(item, which, block, np.zeros(block.size, dtype=np.uint32))
            if (yield candidate):
                item = candidate
            elif block.size > 1:
                smaller += [block[: block.size // 2], block[block.size // 2 :]]
        blocks = smaller
    return item


def small_words(item: ProgramItem, which: Which) -> Search[ProgramItem]:
    """Bring each of a few remaining words near to zero, an int8 if possible."""
    places = _words(item, which).nonzero()[0]
    for place in places[:FEW].tolist():
        value = int(_words(item, which)[place : place + 1].view(np.int32)[0])
        byte = (value & 0xFF ^ 0x80) - 0x80
        if byte != value and (yield _with_value(item, which, place, byte)):
            item, value = _with_value(item, which, place, byte), byte
        # The smallest magnitude that still fails, of the same sign.
        variant = partial(_with_magnitude, item, which, place, -1 if value < 0 else 1)
        item = variant((yield from lowest(1, abs(value), variant)))
    return item


def _words(item: ProgramItem, which: Which) -> Words:
    words = item.spad if which == "spad" else item.image
    return np.zeros(0, dtype=np.uint32) if words is None else words


def _with_value(item: ProgramItem, which: Which, place: int, value: int) -> ProgramItem:
    return _with(item, which, np.array([place]), np.array([value & 0xFFFFFFFF], dtype=np.uint32))


def _with_magnitude(
    item: ProgramItem, which: Which, place: int, sign: int, size: int
) -> ProgramItem:
    return _with_value(item, which, place, sign * size)


def _with(item: ProgramItem, which: Which, places: Places, values: Words) -> ProgramItem:
    words = _words(item, which).copy()
    words[places] = values
    if which == "spad":
        return replace(item, spad=words)
    used = words.nonzero()[0]
    return replace(item, image=words[: used[-1] + 1 if used.size else 0])
