"""The scratchpad allocator: never hands out a word twice, always joins what is free."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.allocator import FirstFit, OutOfMemory
from model.errors import CompileError


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.booleans(), st.integers(1, 20)), max_size=60))
def test_against_a_map_of_words(operations: list[tuple[bool, int]]) -> None:
    memory = FirstFit("scratchpad", 64)
    owner: list[int | None] = [None] * 64
    live: list[int] = []
    for take, number in operations:
        if take:
            starts = [
                start
                for start in range(64 - number + 1)
                if all(owner[w] is None for w in range(start, start + number))
            ]
            if not starts:
                with pytest.raises(OutOfMemory):
                    memory.alloc(number)
            else:
                address = memory.alloc(number)
                assert address == starts[0]
                owner[address : address + number] = [address] * number
                live.append(address)
        elif live:
            address = live.pop(number % len(live))
            memory.release(address)
            owner = [None if word == address else word for word in owner]
        assert memory.free_words == owner.count(None)
        ends = [start + length for start, length in memory.holes]
        assert all(end < start for end, (start, _) in zip(ends, memory.holes[1:], strict=False))
    for address in live:
        memory.release(address)
    assert memory.holes == [(0, 64)]


def test_out_of_memory_says_asked_and_free() -> None:
    memory = FirstFit("scratchpad", 100)
    first = memory.alloc(40)
    memory.alloc(20)
    memory.release(first)
    with pytest.raises(CompileError, match=r"asked for 50 words, 80 words are free.*hole 40"):
        memory.alloc(50)
    assert memory.peak == 60


def test_misuse_is_an_error() -> None:
    memory = FirstFit("scratchpad", 10)
    with pytest.raises(ValueError, match="cannot allocate 0 words"):
        memory.alloc(0)
    memory.alloc(4)
    with pytest.raises(ValueError, match="address 2 is not allocated"):
        memory.release(2)
