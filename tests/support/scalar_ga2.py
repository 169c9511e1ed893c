"""A second, deliberately plain GA-2 for the tests: Python integers, one word at a time.

It shares no code with ``model``; it follows the tables of docs/isa.md in the order in which the
hardware reads and writes single words.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

MASK32 = 0xFFFFFFFF
TABLE = [round(65535 * math.exp(-d / 16)) for d in range(256)]


def signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def clamp(value: int, low: int, high: int) -> int:
    return max(low, min(high, value))


def rnd(p: int, s: int) -> int:
    half = 2 ** (s - 1) if s > 0 else 0
    magnitude = (abs(p) + half) // 2**s
    return -magnitude if p < 0 else magnitude


def requantize(acc: int, m: int, s: int, relu: int) -> int:
    return clamp(rnd(acc * m, s), 0 if relu else -127, 127)


def softmax(scores: list[int]) -> list[int]:
    largest = max(scores)
    e = [TABLE[largest - x] for x in scores]
    r = 2**38 // sum(e)
    return [(v * r + 2**21) // 2**22 for v in e]


def cut(word: int, high: int, low: int) -> int:
    return (word >> low) % (1 << (high - low + 1))


def unpack_fields(word: int) -> dict[str, int]:
    return {
        "op": cut(word, 127, 124),
        "a": cut(word, 123, 108),
        "b": cut(word, 107, 92),
        "c": cut(word, 91, 76),
        "d": cut(word, 75, 52),
        "e": cut(word, 51, 46),
        "f": cut(word, 45, 38),
        "g": cut(word, 37, 30),
        "h": cut(word, 29, 22),
        "fl": cut(word, 21, 18),
        "x": cut(word, 17, 0),
    }


def fault_of(i: dict[str, int]) -> int:
    """The fault rules with explicit sets of addresses."""
    op = i["op"]
    if op >= 9:
        return 1
    length = i["d"] % 65536 if op == 6 else i["c"]
    if op in (1, 2, 4, 5, 6, 7, 8) and (
        length == 0 or length > 4095 or (op == 8 and 8 * length > 4095)
    ):
        return 2
    if op == 3 and (i["f"] not in range(1, 5) or i["h"] not in range(1, 5)):
        return 3
    if op == 3 and i["g"] not in range(1, 65):
        return 3
    # (base, words) of scratchpad regions; MM and AMAX check only the base of some.
    regions = {
        0: [],
        1: [(i["a"], length)],
        2: [(i["a"], length)],
        3: [(i["a"], 0), (i["b"], 0), (i["c"], 0)],
        4: [(i["a"], length), (i["b"], length)],
        5: [(i["a"], length), (i["b"], length)],
        6: [(i["a"], length), (i["b"], length), (i["c"], length)],
        7: [(i["a"], 0), (i["b"], length)],
        8: [(i["a"], 8 * length), (i["b"], length)],
    }[op]
    if any(base > 4095 or base + words > 4096 for base, words in regions):
        return 4
    if op in (1, 2) and i["b"] + length > 65536:
        return 4
    if op in (4, 5, 6, 8):
        (dst, written), *sources = regions
        target = set(range(dst, dst + written))
        for base, words in sources:
            source = set(range(base, base + words))
            if target & source and (op == 8 or target != source):
                return 5
    return 0


@dataclass
class ScalarGa2:
    """State and observations of one run; see ``run``."""

    depth: int = 8192
    spad: list[int] = field(default_factory=lambda: [0] * 4096)
    ext: list[int] = field(default_factory=list)

    def run(self, program: list[int], image: list[int], latencies: list[int]) -> None:
        self.ext = [*image, *[0] * (self.depth - len(image))]
        self.latencies = latencies
        self.requests = 0
        self.cycles = {"total": 0, "mm": 0, "dma": 0, "vec": 0, "n_inst": 0}
        self.fault, self.fault_pc = 0, 0
        self.retires: list[tuple[int, ...]] = []
        self.bursts: list[tuple[str, int, int]] = []
        pc = 0
        while True:
            i = unpack_fields(program[pc] if pc < len(program) else 0)
            self.cycles["total"] += 2
            if i["op"] == 0:
                return
            self.writes: list[tuple[int, int]] = []
            self.ext_writes = 0
            code = fault_of(i)
            if code:
                self.fault, self.fault_pc = code, pc
                self.retires.append((pc, i["op"], code, 0, 0, 0, 0))
                return
            busy = self.execute(i)
            unit = "mm" if i["op"] == 3 else "dma" if i["op"] in (1, 2) else "vec"
            self.cycles[unit] += busy
            self.cycles["total"] += busy
            self.cycles["n_inst"] += 1
            signature = 0
            for order, (address, data) in enumerate(self.writes):
                x = (data ^ address * 0x9E3779B1 ^ order * 0x85EBCA6B) & MASK32
                x = (x ^ x >> 16) * 0x85EBCA6B & MASK32
                x = (x ^ x >> 13) * 0xC2B2AE35 & MASK32
                signature = (signature + (x ^ x >> 16)) & MASK32
            counts = (len(self.writes), self.ext_writes)
            self.retires.append((pc, i["op"], 0, busy, *counts, signature))
            pc += 1

    def put(self, address: int, value: int) -> None:
        self.spad[address] = value & MASK32
        self.writes.append((address, value & MASK32))

    def int8(self, address: int) -> int:
        return signed(self.spad[address], 8)

    def execute(self, i: dict[str, int]) -> int:
        a, b, c, n = i["a"], i["b"], i["c"], i["c"]
        match i["op"]:
            case 1:
                return self.load(a, b, n)
            case 2:
                self.bursts.append(("write", b, n))
                for j in range(n):
                    self.ext_writes += 1
                    if b + j < self.depth:
                        self.ext[b + j] = self.spad[a + j]
                return n + 2
            case 3:
                return self.matmul(i)
            case 4:
                for j in range(n):
                    acc = signed(self.spad[b + j], 32)
                    self.put(a + j, requantize(acc, i["d"], i["e"], i["fl"] & 1))
                return n + 2
            case 5:
                for j, p in enumerate(softmax([self.int8(b + j) for j in range(n)])):
                    self.put(a + j, p)
                return 3 * n + 47
            case 6:
                n = i["d"] & 0xFFFF
                for j in range(n):
                    self.put(a + j, clamp(self.int8(b + j) + self.int8(c + j), -127, 127))
                return 2 * n + 2
            case 7:
                values = [signed(self.spad[b + j], 32) for j in range(n)]
                self.put(a, values.index(max(values)))
                return n + 3
            case 8:
                for j in range(n):
                    packed = self.spad[b + j]
                    for k in range(8):
                        self.put(a + 8 * j + k, signed(packed >> (4 * k), 4))
                return 10 * n + 1
        raise NotImplementedError(f"operation {i['op']} has no effect here yet")

    def load(self, dst: int, src: int, n: int) -> int:
        """Move the words and step through the cycles in which requests and answers happen."""
        self.bursts.append(("read", src, n))
        answered = -1
        for j in range(n):
            lat = self.latencies[self.requests % len(self.latencies)]
            self.requests += 1
            answered = max(answered + 1, j + lat)
            self.put(dst + j, self.ext[src + j] if src + j < self.depth else 0)
        return answered + 2

    def matmul(self, i: dict[str, int]) -> int:
        m, k, n = i["f"], i["g"], i["h"]
        lda, ldb, ldc = i["d"] % 4096, i["d"] // 4096, i["x"] % 4096
        results = []
        for row in range(m):
            for col in range(n):
                total = 0
                for j in range(k):
                    at = col * ldb + j if i["fl"] & 1 else j * ldb + col
                    left = self.int8((i["b"] + row * lda + j) % 4096)
                    total += left * self.int8((i["c"] + at) % 4096)
                results.append(((i["a"] + row * ldc + col) % 4096, total))
        for address, total in results:
            self.put(address, total)
        return m * k + k * n + (k + m + n - 2) + m * n + 7
