"""Directed programs for LD and ST: lengths, memory limits, latencies, order of traffic."""

from __future__ import annotations

from model.chip.isa import EXT_WORDS, SPAD_WORDS, ld, st
from verif.items.program_item import ProgramItem
from verif.stimulus.builder import Builder
from verif.stimulus.data import pattern
from verif.stimulus.registry import directed

FAMILY = "load_store"
LAST = SPAD_WORDS - 1


@directed(FAMILY)
def ld_st_length_one() -> ProgramItem:
    """LD and ST of a single word, at the ends and in the middle of the scratchpad."""
    b = Builder("ld_st_length_one").ext(0, pattern(8, salt=1))
    for i, address in enumerate((0, 1, 2047, 2048, LAST - 1, LAST)):
        b.add(ld(address, i, 1))
        b.keep(address, 1)
    return b.item()


@directed(FAMILY)
def ld_st_lengths() -> ProgramItem:
    """LD and ST of every length from 2 to 20, and of 300, each to a place of its own."""
    b = Builder("ld_st_lengths").ext(0, pattern(512, salt=2))
    source = 0
    for length in range(2, 21):
        b.add(ld(100 + source, source, length))
        source += length
    b.add(ld(1000, source, 300))
    b.keep(100, source).keep(1000, 300)
    for length in range(2, 21):
        b.keep(90 + length, length)
    return b.item()


@directed(FAMILY)
def ld_maximum_length() -> ProgramItem:
    """LD of 4,095 words to both possible bases, a slice stored from each end."""
    b = Builder("ld_maximum_length").ext(0, pattern(4100, salt=3))
    b.add(ld(1, 2, 4095))
    b.keep(0, 40)
    b.keep(SPAD_WORDS - 40, 40)
    return b.item()


@directed(FAMILY)
def st_maximum_length() -> ProgramItem:
    """ST of 4,095 words that end at the last word of the scratchpad."""
    return Builder("st_maximum_length").keep(1, 4095).item()


@directed(FAMILY)
def spad_last_word() -> ProgramItem:
    """The last scratchpad word as the end of a load and of a store."""
    b = Builder("spad_last_word").ext(0, pattern(16, salt=4))
    b.add(ld(SPAD_WORDS - 16, 0, 16))
    b.keep(SPAD_WORDS - 16, 16)
    b.keep(SPAD_WORDS - 17, 17)
    return b.item()


@directed(FAMILY)
def ext_last_word() -> ProgramItem:
    """Reads and writes that end at external address 65,535."""
    b = Builder("ext_last_word").ext(0, pattern(4, salt=5))
    b.add(st(10, EXT_WORDS - 5, 5), ld(100, EXT_WORDS - 5, 5), ld(200, EXT_WORDS - 1, 1))
    b.add(st(300, EXT_WORDS - 1, 1), ld(106, EXT_WORDS - 3, 3))
    b.keep(100, 9)
    b.keep(200, 1)
    return b.item(depth=EXT_WORDS)


@directed(FAMILY)
def ext_beyond_depth() -> ProgramItem:
    """Past the memory's depth reads give zero and writes are dropped, also within one burst."""
    b = Builder("ext_beyond_depth").ext(0, pattern(1024, salt=6))
    b.add(ld(0, 1016, 16), st(50, 1020, 8), ld(20, 1016, 16), ld(40, 40000, 4))
    b.add(st(60, 40000, 4), st(0, 0, 44))
    return b.item(depth=1024)


@directed(FAMILY)
def ext_high_address_bits() -> ProgramItem:
    """Every bit of the external address, of reads and of writes."""
    b = Builder("ext_high_address_bits").ext(0, pattern(2, salt=7))
    for bit in range(1, 16):
        b.add(st(bit * 3, 1 << bit, 2))
    for bit in range(1, 16):
        b.add(ld(1000 + 2 * bit, 1 << bit, 2))
    b.add(st(1000, EXT_WORDS - 64, 40))
    return b.item(depth=EXT_WORDS)


@directed(FAMILY)
def st_then_ld_same_words() -> ProgramItem:
    """A load sees what the store right before it wrote; a store sees the load right before it."""
    b = Builder("st_then_ld_same_words").ext(0, pattern(64, salt=8))
    b.add(st(0, 20, 12), ld(500, 18, 16), st(500, 40, 16), ld(503, 0, 4), st(501, 60, 10))
    b.add(ld(510, 60, 1), st(510, 80, 1))
    return b.item()


@directed(FAMILY)
def ld_every_latency() -> list[ProgramItem]:
    """Loads of 1, 2, 5 and 70 words under every fixed read latency from 1 to 64."""
    items = []
    for latency in range(1, 65):
        b = Builder(f"ld_every_latency/{latency}").ext(0, pattern(96, salt=9 + latency))
        b.add(ld(0, 3, 1), ld(10, 5, 2), ld(20, 7, 5))
        if latency in (1, 2, 7, 8, 9, 31, 32, 33, 63, 64):
            b.add(ld(40, 11, 70))
            b.keep(40, 71)
        b.keep(0, 26)
        items.append(b.item(latency=latency))
    return items


@directed(FAMILY)
def ld_varying_latency() -> list[ProgramItem]:
    """Responses that come after a different delay for each request, gaps and bursts included."""
    series = {
        "rising": tuple(range(1, 65)),
        "falling": tuple(range(64, 0, -1)),
        "alternating": (1, 64),
        "mostly_fast": (1, 1, 1, 1, 40, 1, 2, 1, 1, 9),
        "uneven": (3, 17, 1, 1, 29, 8, 2, 64, 5, 5, 13),
    }
    items = []
    for name, latencies in series.items():
        b = Builder(f"ld_varying_latency/{name}").ext(0, pattern(120, salt=40))
        b.add(ld(0, 3, 1), ld(10, 5, 2), ld(20, 7, 66), ld(90, 0, 9))
        b.keep(0, 100)
        items.append(b.item(latencies=latencies))
    return items
