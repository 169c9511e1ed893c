"""Signature of an instruction's scratchpad writes, as the testbench's retire probe computes it.

    sum_i mix(data_i ^ addr_i * 0x9E3779B1 ^ i * 0x85EBCA6B) mod 2**32

over the writes i = 0, 1, ... in their order, with ``mix`` the 32-bit finalizer of MurmurHash3. A
linear sum would not do: odd weights are blind to an even number of wrong sign bits.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from model.chip.image import Words
from model.chip.isa import SPAD_WORDS

ADDRESS_FACTOR = 0x9E3779B1
ORDER_FACTOR = MIX_FIRST = 0x85EBCA6B
MIX_SECOND = 0xC2B2AE35

# uint32 products wrap modulo 2**32, as the signature wants.
_ADDRESS_HASH: Words = np.arange(SPAD_WORDS, dtype=np.uint32) * np.uint32(ADDRESS_FACTOR)
_ORDER_HASH: Words = np.arange(SPAD_WORDS, dtype=np.uint32) * np.uint32(ORDER_FACTOR)


def mix(words: Words) -> Words:
    """Mix each of ``words`` (n,) in place, so that each bit of a result hangs on all of its own."""
    words ^= words >> np.uint32(16)
    words *= np.uint32(MIX_FIRST)
    words ^= words >> np.uint32(13)
    words *= np.uint32(MIX_SECOND)
    words ^= words >> np.uint32(16)
    return words


def keys_at(base: int, data: Words) -> Words:
    """What is mixed when ``data`` (n,) is written to consecutive addresses from ``base``."""
    return data ^ _ADDRESS_HASH[base : base + data.size] ^ _ORDER_HASH[: data.size]


def keys_of(addresses: npt.NDArray[np.int64], data: Words) -> Words:
    """What is mixed when ``data`` (n,) is written to ``addresses`` (n,), in that order."""
    return data ^ _ADDRESS_HASH[addresses] ^ _ORDER_HASH[: data.size]


def signatures(keys: Sequence[Words]) -> list[int]:
    """Signature of each instruction's writes, from its keys, (n,) with n > 0 each.

    All at once: a program has many short instructions, and numpy's calls cost more than its work.
    """
    if not keys:
        return []
    starts = np.cumsum([0, *(one.size for one in keys[:-1])])
    sums = np.add.reduceat(mix(np.concatenate(keys)), starts, dtype=np.uint32)
    return [int(one) for one in sums]
