"""Directed programs for SM: one element, equal elements, the whole table, long rows, placement."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from model.chip.fixed_point import EXP_TABLE
from model.chip.isa import SPAD_WORDS, sm
from verif.items.program_item import ProgramItem
from verif.stimulus.builder import Builder
from verif.stimulus.data import junk_int8
from verif.stimulus.registry import directed

FAMILY = "softmax"


@directed(FAMILY)
def sm_one_element() -> ProgramItem:
    """A row of one score gives 65,536 whatever the score."""
    scores = [-128, -127, -1, 0, 1, 126, 127]
    b = Builder("sm_one_element").spad(0, junk_int8(scores))
    for i in range(len(scores)):
        b.add(sm(100 + i, i, 1))
    return b.keep(100, len(scores)).item()


@directed(FAMILY)
def sm_equal_elements() -> ProgramItem:
    """Rows of equal scores: 2 to 9, 16, 64 and 100 of them, at several values."""
    b = Builder("sm_equal_elements")
    dst = 1000
    for value, length in zip(
        (-128, -127, -64, -1, 0, 1, 64, 126, 127, 5, -5),
        (2, 3, 4, 5, 6, 7, 8, 9, 16, 64, 100),
        strict=True,
    ):
        b.spad(dst - 1000, junk_int8([value] * length))
        b.add(sm(dst, dst - 1000, length))
        dst += length
    return b.keep(1000, dst - 1000).item()


@directed(FAMILY)
def sm_all_minimum() -> ProgramItem:
    """Nothing but -128, 1 to 500 times: the running maximum starts low enough.

    170 of them are told from 170 scores one above their maximum by the rounding.
    """
    b = Builder("sm_all_minimum").spad(0, junk_int8([-128] * 500))
    b.add(sm(1000, 0, 1), sm(1001, 0, 2), sm(1003, 0, 33), sm(1036, 0, 500), sm(1536, 0, 170))
    return b.keep(1000, 706).item()


def _probabilities(exponentials: Sequence[int]) -> list[int]:
    """Return what SM makes of scores with these exponentials (docs/isa.md)."""
    reciprocal = (1 << 38) // sum(exponentials)
    return [(e * reciprocal + (1 << 21)) >> 22 for e in exponentials]


def telling_row(distance: int) -> list[int]:
    """Return distances of a row of scores whose result shows an error of one at ``distance``.

    A maximum, the distance once or more, and one score that moves the sum to where the rounding
    tells the table's entry from the next larger and the next smaller one.
    """
    for copies, other in product(range(1, 9), range(256)):
        if other == distance:
            continue
        row = [0, *[distance] * copies, other]
        right, above, below = (
            _probabilities([int(EXP_TABLE[d]) + (error if d == distance else 0) for d in row])
            for error in (0, 1, -1)
        )
        if right not in (above, below):
            return row
    raise ValueError(f"no row tells the entry of distance {distance} from its neighbours")


@directed(FAMILY)
def sm_every_distance() -> ProgramItem:
    """A maximum and scores at each distance 1..255 from it: no table entry can be off by one."""
    b = Builder("sm_every_distance")
    source = 0
    for distance in range(1, 256):
        row = telling_row(distance)
        high = 127 - (distance * 37) % (256 - max(row))
        turn = distance % len(row)
        b.spad(source, junk_int8([high - d for d in row[turn:] + row[:turn]]))
        b.add(sm(2000 + source, source, len(row)))
        source += len(row)
    return b.keep(2000, source).item()


@directed(FAMILY)
def sm_whole_range() -> ProgramItem:
    """All 256 scores in one row, rising and falling."""
    b = Builder("sm_whole_range")
    b.spad(0, junk_int8(list(range(-128, 128)))).spad(300, junk_int8(list(range(127, -129, -1))))
    b.add(sm(1000, 0, 256), sm(1256, 300, 256))
    return b.keep(1000, 512).item()


@directed(FAMILY)
def sm_maximum_place() -> ProgramItem:
    """The maximum first, in the middle, last, and several times."""
    b = Builder("sm_maximum_place")
    rows = (
        [90, 3, -4, 7, 1],
        [3, -4, 90, 7, 1],
        [3, -4, 7, 1, 90],
        [90, 3, 90, -128, 90],
        [-3, -90, -2, -128, -2],
        [-128, -128, -128, -128, 127],
    )
    for i, row in enumerate(rows):
        b.spad(8 * i, junk_int8(row))
        b.add(sm(100 + 8 * i, 8 * i, len(row)))
    return b.keep(100, 8 * len(rows)).item()


@directed(FAMILY)
def sm_lengths() -> ProgramItem:
    """Every length from 1 to 20: the sum, and so the quotient, takes many values."""
    b = Builder("sm_lengths").spad(0, junk_int8([(i * 53) % 97 - 48 for i in range(64)]))
    dst = 1000
    for length in range(1, 21):
        b.add(sm(dst, 2 * length, length))
        dst += length + 1
    return b.keep(1000, dst - 1000).item()


@directed(FAMILY)
def sm_quotients() -> ProgramItem:
    """Rows of two to five close scores: the division sees 120 different sums."""
    b = Builder("sm_quotients")
    dst = source = 0
    for i in range(120):
        row = [100 - (i * (j + 3) * 7) % 40 * (j > 0) for j in range(2 + i % 4)]
        b.spad(source, junk_int8(row))
        b.add(sm(2000 + dst, source, len(row)))
        source += len(row)
        dst += len(row)
    return b.keep(2000, dst).item()


@directed(FAMILY)
def sm_last_bit() -> ProgramItem:
    """Rows whose result hangs on the last bit of the dividend, the quotient or the rounding.

    Given as distances from the maximum; searched for among the sums that the table can make.
    """
    rows = (
        [0, 0, 163],  # the sum is 2**17: no remainder, and halves to round
        [0, 53, 8, 89],  # a product one below a half
        [0, 19, 0, 0, 0, 0, 0, 0, 6, 61, 106, 154],  # the sum divides 2**38 + 1
    )
    b = Builder("sm_last_bit")
    for i, row in enumerate(rows):
        b.spad(16 * i, junk_int8([100 - d for d in row]))
        b.add(sm(100 + 16 * i, 16 * i, len(row)))
    return b.keep(100, 16 * len(rows)).item()


@directed(FAMILY)
def sm_maximum_length() -> list[ProgramItem]:
    """4,095 scores in place: mixed, and all equal (the largest sum there is)."""
    items = []
    mixed = [(i * 97) % 256 - 128 for i in range(4095)]
    for variant, scores in (("mixed", mixed), ("equal", [127] * 4095)):
        b = Builder(f"sm_maximum_length/{variant}").spad(1, junk_int8(scores))
        b.add(sm(1, 1, 4095))
        items.append(b.keep(0, 40).keep(1800, 300).keep(SPAD_WORDS - 40, 40).item())
    return items


@directed(FAMILY)
def sm_operand_placement() -> ProgramItem:
    """In place, side by side above and below, and far apart."""
    b = Builder("sm_operand_placement")
    b.add(sm(0, 0, 10), sm(20, 30, 10), sm(60, 50, 10), sm(3000, 100, 10), sm(200, 3100, 10))
    b.add(sm(310, 311, 1), sm(321, 320, 1), sm(330, 330, 1))
    return b.keep(0, 80).keep(3000, 10).keep(200, 10).keep(300, 40).item()


@directed(FAMILY)
def sm_last_word() -> ProgramItem:
    """Source and destination that end at the last word."""
    b = Builder("sm_last_word")
    b.add(sm(0, SPAD_WORDS - 9, 9), sm(SPAD_WORDS - 1, 20, 1), sm(SPAD_WORDS - 12, 40, 11))
    return b.keep(0, 9).keep(SPAD_WORDS - 12, 12).item()
