"""A random source whose draws are the same on every Python version, platform and simulator.

Only ``getrandbits`` of the Mersenne Twister is used, seeded with an integer: it is the same in
every CPython from 3.2 on. The helpers draw integers only; nothing here depends on float rounding,
on hashing of strings or on the order in which programs are asked for.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Source:
    """Draws for one program, derived from (seed, profile, index) alone."""

    def __init__(self, seed: int, profile: str, index: int) -> None:
        """Derive the state from the program's identity, so that programs are independent."""
        digest = hashlib.sha256(f"{seed}/{profile}/{index}".encode()).digest()
        self.bits = random.Random(int.from_bytes(digest[:16], "little")).getrandbits

    def below(self, limit: int) -> int:
        """An integer in 0..limit-1, uniform."""
        bits, width = self.bits, limit.bit_length()
        value = bits(width)
        while value >= limit:
            value = bits(width)
        return value

    def between(self, low: int, high: int) -> int:
        """An integer in low..high, both included, uniform."""
        return low + self.below(high - low + 1)

    def chance(self, percent: int) -> bool:
        """True in ``percent`` of a hundred draws."""
        bits = self.bits  # as below(100), which this is called for most
        value = bits(7)
        while value >= 100:
            value = bits(7)
        return value < percent

    def pick(self, choices: Sequence[T]) -> T:
        """One of ``choices``, uniform."""
        return choices[self.below(len(choices))]

    def weighted(self, table: Sequence[tuple[int, T]]) -> T:
        """One of the values of ``table``, a sequence of (weight, value)."""
        point = self.below(sum([weight for weight, _ in table]))
        for weight, value in table:
            point -= weight
            if point < 0:
                return value
        raise AssertionError("weights changed while drawing")

    def octets(self, count: int) -> bytes:
        """``count`` random bytes."""
        return self.bits(8 * count).to_bytes(count, "little")
