"""The allocator never hands out a word twice, and the compiler gives back what it asked for."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.chip.isa import Op
from model.compiler.allocator import FirstFit, OutOfMemory
from model.compiler.codegen import compile_graph
from model.compiler.evaluate import evaluate
from model.compiler.graph import Graph, Node
from model.compiler.placement import Home, Placement
from model.compiler.scales import largest_values
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
    with pytest.raises(
        CompileError, match=r"asked for 50 words, 80 words are free.*hole 40"
    ) as caught:
        memory.alloc(50)
    assert vars(caught.value) == {"region": "scratchpad", "asked": 50, "free": 80, "largest": 40}
    assert memory.peak == 60


def test_a_memory_of_no_words_has_no_hole() -> None:
    memory = FirstFit("scratchpad", 0)
    assert (memory.holes, memory.free_words, memory.peak) == ([], 0, 0)
    with pytest.raises(OutOfMemory, match=r"asked for 1 words, 0 words are free.*hole 0\)"):
        memory.alloc(1)


def test_misuse_is_an_error() -> None:
    memory = FirstFit("scratchpad", 10)
    with pytest.raises(ValueError, match="cannot allocate 0 words"):
        memory.alloc(0)
    memory.alloc(4)
    with pytest.raises(ValueError, match="address 2 is not allocated"):
        memory.release(2)


STEPS: dict[str, Callable[[Graph, Node, Node], Node]] = {
    "relu": lambda g, x, w: g.relu(x),
    "matmul": lambda g, x, w: g.matmul(x, w),
    "softmax": lambda g, x, w: g.softmax(g.matmul(x, w)),
    "add": lambda g, x, w: g.add(x, w),
}


@pytest.mark.parametrize("name", STEPS)
def test_a_longer_chain_takes_no_more_scratchpad(name: str) -> None:
    def peak(steps: int, **options: bool) -> int:
        g = Graph()
        x = g.input("x", 4, 4)
        for step in range(steps):
            # Each weight another, packed, and of a scale that the sum does not have.
            x = STEPS[name](g, x, g.weight(f"w{step}", np.eye(4) * 0.1, bits=4))
        g.output("y", x)
        ranges = largest_values(evaluate(g, {"x": np.ones((1, 4, 4))}))
        return compile_graph(g, ranges, **options).spad_peak

    assert peak(30) == peak(5) < peak(5, reuse=False) < peak(30, reuse=False)


def test_a_buffer_is_given_back_at_its_last_use() -> None:
    g = Graph()
    g.output("y", g.relu(g.relu(g.relu(g.input("x", 4, 4)))))
    assert compile_graph(g, [1.0] * 5).spad_peak == 2 * 16  # what is read and what is written


@pytest.mark.parametrize(
    ("cols", "bits", "words"), [(3, 8, 3), (8, 8, 8), (3, 4, 8 + 1), (8, 4, 8 + 1), (9, 4, 16 + 2)]
)
def test_a_packed_weight_takes_whole_groups_of_eight_and_any_other_its_words(
    cols: int, bits: int, words: int
) -> None:
    g = Graph()
    g.output("y", g.weight("w", np.ones((1, cols)), bits=bits))
    assert compile_graph(g, [1.0] * 2).spad_peak == words


def test_a_weight_that_is_not_packed_is_loaded_into_its_place() -> None:
    g = Graph()
    g.output("y", g.concat_rows(g.weight("w", np.ones((1, 3))), g.input("x", 1, 3)))
    instructions = compile_graph(g, [1.0] * 4).instructions
    assert [Op(i.op).name for i in instructions] == ["LD", "LD", "ST", "HALT"]


def test_a_tensor_in_another_one_has_its_home_there() -> None:
    g = Graph()
    x = g.input("x", 2, 3)
    g.slice_rows(g.concat_rows(g.input("y", 1, 3), x), 1, 2)
    home = Placement(g).home
    assert home == [Home(2, 3, 3), Home(2, 0, 3), Home(2, 0, 3), Home(2, 3, 3)]
    with pytest.raises(dataclasses.FrozenInstanceError):
        home[0].offset = 0  # type: ignore[misc]


def copied(rows: int, cols: int) -> Graph:
    g = Graph()
    g.output("y", g.input("x", rows, cols))
    return g


def test_the_longest_tensor_of_an_instruction() -> None:
    assert compile_graph(copied(63, 65), [1.0, 1.0]).spad_peak == 63 * 65 == 4095
    with pytest.raises(CompileError, match="x: 4096 words, an instruction takes 4095"):
        compile_graph(copied(64, 64), [1.0, 1.0])


def test_a_scratchpad_larger_than_the_chip_has_is_found_out() -> None:
    g = Graph()
    g.output("y", g.relu(g.input("x", 50, 50)))
    with pytest.raises(CompileError, match="which faults with"):
        compile_graph(g, [1.0] * 3, spad_words=5000)
