"""First-fit memory allocator with coalescing, for the scratchpad and for external memory."""

from __future__ import annotations

from model.errors import CompileError


class OutOfMemory(CompileError):  # noqa: N818 - reads as a condition
    """No hole is large enough; holds the words asked for and the words free."""

    def __init__(self, region: str, asked: int, free: int, largest: int) -> None:
        super().__init__(
            f"{region}: asked for {asked} words, {free} words are free (largest hole {largest})"
        )
        self.region = region
        self.asked = asked
        self.free = free
        self.largest = largest


class FirstFit:
    """Hands out word ranges of a memory, lowest address that fits first."""

    def __init__(self, region: str, words: int) -> None:
        """``region`` names the memory in error messages; ``words`` is its size."""
        self.region = region
        self.peak = 0  # highest address ever used, plus one
        self._holes: list[tuple[int, int]] = [(0, words)] if words else []  # (address, length)
        self._taken: dict[int, int] = {}

    @property
    def free_words(self) -> int:
        """Words not handed out."""
        return sum(length for _, length in self._holes)

    @property
    def holes(self) -> list[tuple[int, int]]:
        """Free ranges (address, length), in address order, never adjacent to each other."""
        return list(self._holes)

    def alloc(self, length: int) -> int:
        """Return the address of a fresh range of ``length`` >= 1 words. Raises OutOfMemory."""
        if length < 1:
            raise ValueError(f"{self.region}: cannot allocate {length} words")
        for position, (address, size) in enumerate(self._holes):
            if size >= length:
                rest = [(address + length, size - length)] if size > length else []
                self._holes[position : position + 1] = rest
                self._taken[address] = length
                self.peak = max(self.peak, address + length)
                return address
        largest = max((size for _, size in self._holes), default=0)
        raise OutOfMemory(self.region, length, self.free_words, largest)

    def reserve(self, address: int, length: int) -> None:
        """Take the range of ``length`` >= 1 words at ``address``. Raises OutOfMemory."""
        for position, (start, size) in enumerate(self._holes):
            if start <= address and address + length <= start + size:
                end = address + length
                rest = [(start, address - start), (end, start + size - end)]
                self._holes[position : position + 1] = [hole for hole in rest if hole[1]]
                self._taken[address] = length
                self.peak = max(self.peak, end)
                return
        largest = max((size for _, size in self._holes), default=0)
        raise OutOfMemory(self.region, length, self.free_words, largest)

    def release(self, address: int) -> None:
        """Give a range back, joined with the holes around it. Raises ValueError if not taken."""
        if address not in self._taken:
            raise ValueError(f"{self.region}: address {address} is not allocated")
        length = self._taken.pop(address)
        position = 0
        while position < len(self._holes) and self._holes[position][0] < address:
            position += 1
        self._holes.insert(position, (address, length))
        self._join(position)
        if position > 0:
            self._join(position - 1)

    def _join(self, position: int) -> None:
        if position + 1 >= len(self._holes):
            return
        address, length = self._holes[position]
        after, after_length = self._holes[position + 1]
        if address + length == after:
            self._holes[position : position + 2] = [(address, length + after_length)]
