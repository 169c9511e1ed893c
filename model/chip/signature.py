"""Signature of an instruction's scratchpad writes, as the testbench's retire probe computes it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from model.chip.image import Words
from model.chip.isa import SPAD_WORDS

ADDRESS_FACTOR = 0x9E3779B1

# uint32 products wrap modulo 2**32, as the signature wants.
_ADDRESS_HASH: Words = np.arange(SPAD_WORDS, dtype=np.uint32) * np.uint32(ADDRESS_FACTOR)
_ORDER: Words = np.arange(SPAD_WORDS, dtype=np.uint32) * np.uint32(2) + np.uint32(1)


def _combine(data: Words, address_hash: Words) -> int:
    return int(np.dot(data ^ address_hash, _ORDER[: data.size]))


def signature_at(base: int, data: Words) -> int:
    """Signature of writing ``data`` (n,) to consecutive addresses from ``base``.

    It is ``sum_i (data_i ^ (addr_i * 0x9E3779B1)) * (2*i + 1) mod 2**32``, so it depends on the
    addresses, the values and the order of the writes; 0 when there are none.
    """
    return _combine(data, _ADDRESS_HASH[base : base + data.size])


def signature_of(addresses: npt.NDArray[np.int64], data: Words) -> int:
    """Signature of writing ``data`` (n,) to ``addresses`` (n,), in that order."""
    return _combine(data, _ADDRESS_HASH[addresses])
