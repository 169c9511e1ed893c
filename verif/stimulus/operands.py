"""Random operands: lengths, scratchpad regions that feed each other, strides, scales."""

from __future__ import annotations

from model.chip.isa import EXT_WORDS, MAX_LENGTH, SPAD_WORDS
from model.chip.operation_table import MAX_K
from verif.stimulus.profiles import Profile, ladder
from verif.stimulus.source import Source

CORNER_LENGTHS = ((6, 1), (4, 2), (3, 3), (3, 4), (2, 7), (2, 8), (2, 9), (2, 16), (1, 33), (1, 64))
_CORNER_LENGTHS = ladder(CORNER_LENGTHS)
LONG = (64, 100)  # a vector beyond what short programs have, yet cheap
CORNER_STRIDES = (0, 1, 2, 3, 4, 5, 63, 64, 65, 100, 1024, 2047, 2048, 4094, 4095)
CORNER_MANTISSAS = (0, 1, 2, 3, 1 << 22, (1 << 23) - 1, 1 << 23, (1 << 23) + 1, (1 << 24) - 1)
CORNER_SHIFTS = (0, 1, 2, 22, 23, 24, 31, 32, 33, 46, 47, 48, 54, 55, 56, 62, 63)


class Operands:
    """Draws operands for one program and remembers the regions its instructions wrote.

    Attributes:
        written: base and size of every region, the last one last.
        sums: those of matrix products.
        ends: of each operation, where its last results end.
        long: the next vector is one of ``LONG`` words.
    """

    def __init__(self, source: Source, profile: Profile) -> None:
        """Start with nothing written."""
        self.source = source
        self.profile = profile
        self.written: list[tuple[int, int]] = []
        self.sums: list[tuple[int, int]] = []
        self.ends: dict[int, int] = {}
        self.long = False

    def corner(self) -> bool:
        """Whether the next choice is taken from corner values."""
        return self.source.chance(self.profile.corners)

    def at_power(self) -> bool:
        """Whether the next choice is made at a power of two."""
        return self.source.chance(self.profile.powers)

    def near_power(self, most: int) -> int:
        """A power of two of at most ``most``, or its neighbour; 1 at least."""
        power = 1 << self.source.below(most.bit_length())
        return max(1, power + self.source.pick((-1, 0, 1)))

    def around_power(self, length: int, limit: int) -> int:
        """A base for ``length`` words below ``limit`` that lie across a power of two or beside it.

        The region ends at the power or one before, starts there or one behind, or contains it.
        """
        power = 1 << self.source.below(limit.bit_length() - 1)
        kind = self.source.below(8)
        before = (length, length + 1, 0, -1)[kind] if kind < 4 else 1 + self.source.below(length)
        return min(max(0, power - before), limit - length)

    def length(self, longest: int = MAX_LENGTH) -> int:
        """A vector length of 1..longest."""
        if self.long:
            value = self.source.between(*LONG)
        elif self.corner():
            value = self.source.pick(_CORNER_LENGTHS)
        elif self.at_power():
            value = self.near_power(self.profile.lengths[-1][1])
        else:
            value = self.source.between(1, self.source.pick(self.profile.length_ladder))
        return min(value, longest)

    def place(self, length: int, limit: int = SPAD_WORDS) -> int:
        """A base for ``length`` words below ``limit``; at either end more often than by chance."""
        if self.corner():
            return self.source.pick((0, limit - length))
        if self.at_power():
            return self.around_power(length, limit)
        return self.source.below(limit - length + 1)

    def fed(self, length: int, regions: list[tuple[int, int]] | None = None) -> int:
        """A source base: mostly where an earlier result lies, so that errors travel on."""
        regions = self.written if regions is None else regions
        if regions and self.source.chance(75):
            base, size = regions[-1 - self.source.below(min(4, len(regions)))]
            base += self.source.below(max(1, size - length + 1))
            return min(base, SPAD_WORDS - length)
        return self.place(length)

    def target(self, length: int, *sources: int, in_place: bool = True) -> int:
        """A destination for ``length`` words that is legal with the given source bases.

        It is one of the sources, adjacent to the first one, or anywhere disjoint from all.
        """
        if in_place and self.source.chance(25):
            base = self.source.pick(sources)
            if all(base == other or abs(base - other) >= length for other in sources):
                return base
        if self.source.chance(20):
            candidate = sources[0] + self.source.pick((length, -length))
            if self._free(candidate, length, length, sources):
                return candidate
        base = self.apart(length, length, *sources)
        if in_place and not self._free(base, length, length, sources):
            return sources[0]
        return base

    def apart(self, length: int, source_length: int, *sources: int) -> int:
        """A destination for ``length`` words disjoint from every source region."""
        for _ in range(4):
            candidate = self.place(length)
            if self._free(candidate, length, source_length, sources):
                return candidate
        # Crowded: try the places that leave most room, then give up on legality (it will fault).
        edges = [base + source_length for base in sources] + [base - length for base in sources]
        for candidate in (0, SPAD_WORDS - length, *edges):
            if self._free(candidate, length, source_length, sources):
                return candidate
        return self.place(length)

    @staticmethod
    def _free(base: int, length: int, source_length: int, sources: tuple[int, ...]) -> bool:
        if base < 0 or base + length > SPAD_WORDS:
            return False
        for other in sources:
            if base < other + source_length and other < base + length:
                return False
        return True

    def external(self, length: int) -> int:
        """An external base: mostly inside the memory, sometimes across or beyond its depth."""
        depth = self.profile.depth
        if length <= depth and not self.source.chance(12):
            return self.place(length, depth)
        kind = self.source.below(8)
        if kind < 4:
            return self.around_power(length, EXT_WORDS)
        if kind < 5:
            return EXT_WORDS - length
        return min(EXT_WORDS - length, max(0, depth - self.source.below(length + 1)))

    def inner(self) -> int:
        """K of a matrix product, 1..64."""
        if self.corner():
            return self.source.pick((1, 1, 2, 3, 4, 5, 8, 63, 64))
        if self.at_power():
            return min(MAX_K, self.near_power(self.profile.inner[-1][1]))
        return self.source.between(1, self.source.pick(self.profile.inner_ladder))

    def stride(self, dense: int) -> int:
        """A stride: mostly the dense one; else beside it, or any, or a corner value."""
        if not self.corner() and self.source.chance(70):
            return dense
        kind = self.source.below(4)
        if kind == 3:
            return self.near_power(MAX_LENGTH)
        if kind == 0:
            return max(0, dense + self.source.pick((-1, 1, 2)))
        return self.source.pick(CORNER_STRIDES) if kind == 1 else self.source.bits(12)

    def scale(self) -> tuple[int, int]:
        """Mantissa and shift of RQ: useful ones for sums and for int8, ties, or any."""
        source = self.source
        if self.corner() and source.chance(50):
            return source.pick(CORNER_MANTISSAS), source.pick(CORNER_SHIFTS)
        kind = source.below(8)
        if kind < 3:
            # acc * m / 2**s stays around +-200 for |acc| between 2**7 and 2**21.
            return (1 << 23) | source.bits(23), source.between(23, 37)
        if kind < 5:
            # A power of two around 2**s: 64 becomes 128, products of small numbers hit ties.
            bit = source.below(24)
            return 1 << bit, max(0, bit + source.between(-1, 4))
        return source.bits(24), source.bits(6)
