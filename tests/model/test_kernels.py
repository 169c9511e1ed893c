"""Kernels: what is compiled once and bound to addresses each time, on the reference machine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from model.chip import isa
from model.chip.isa import FaultCode, Op
from model.chip.machine import Machine
from model.compiler.allocator import OutOfMemory
from model.compiler.graph import Graph
from model.compiler.kernel import (
    BindingError,
    Kernel,
    Place,
    boot_kernel,
    compile_kernel,
    copy_kernel,
)
from model.compiler.scales import Scales
from model.errors import CompileError

HALT = isa.encode(isa.halt())


def compiled(g: Graph, **options: Any) -> Kernel:
    scales = Scales((1.0,) * len(g.nodes), ())
    defaults: dict[str, Any] = {"places": {}, "external": {}, "reserved": ()}
    return compile_kernel(g, scales, **(defaults | options))


def sum_kernel(count: int = 2) -> Kernel:
    """Rows in pieces of one, plus as many in the scratchpad: out in a piece and in place."""
    g = Graph()
    near = g.input("near", count, 4)
    far = g.input("far", count, 4, pieces=(1,) * count)
    total = g.add(near, far, name="total")
    g.output("out", total, pieces=(count,))
    places = {"near": Place(100, 4), "total": Place(200, 4)}
    return compiled(g, places=places, reserved=[(100, 40), (200, 40)])


def run(machine: Machine, words: list[int]) -> None:
    assert machine.run([*words, HALT], machine.ext).fault is FaultCode.NONE


@pytest.mark.parametrize("row", [0, 3])
def test_pieces_go_where_they_are_bound_to_and_rows_move_with_the_batch(row: int) -> None:
    kernel = sum_kernel()
    machine = Machine(512)
    machine.spad[:] = machine.ext[:] = 99
    machine.spad[100 + 4 * row : 108 + 4 * row] = range(8)
    machine.ext[300:304], machine.ext[20:24] = 10, 20
    before = machine.spad.copy()
    run(machine, kernel.bind([300, 20, 400], row))
    want = [10, 11, 12, 13, 24, 25, 26, 27]
    assert machine.ext[400:408].tolist() == want
    assert machine.spad[200 + 4 * row : 208 + 4 * row].tolist() == want
    changed = np.flatnonzero(machine.spad != before).tolist()
    # Temporaries keep out of what is reserved.
    assert {a for a in changed if 100 <= a < 240} == set(range(200 + 4 * row, 208 + 4 * row))


def test_binding_compiles_nothing_and_leaves_the_kernel_as_it_is() -> None:
    kernel = sum_kernel()
    first = kernel.bind([1, 2, 3])
    kernel.bind([4, 5, 6], row=2)
    assert kernel.bind([1, 2, 3]) == first
    assert [isa.decode(w).b for w in first if isa.decode(w).op in (Op.LD, Op.ST)] == [1, 2, 3]


@pytest.mark.parametrize("addresses", [[1, 2], [1, 2, 3, 4], [1, 2, 65536], [-1, 2, 3]])
def test_wrong_addresses_have_a_name(addresses: list[int]) -> None:
    with pytest.raises(BindingError, match=r"for 3 pieces|address (-1|65536) outside 0\.\.65535"):
        sum_kernel().bind(addresses)


def test_a_weight_is_loaded_unless_it_is_resident() -> None:
    g = Graph()
    g.output("y", g.matmul(g.input("x", 1, 2), g.weight("w", np.eye(2)), name="product"))
    places = {"x": Place(0)}
    options: dict[str, Any] = {"reserved": [(0, 2)], "external": {"y": 8}}
    loaded = compiled(g, places=places, **(options | {"external": {"y": 8, "w": 4}}))
    resident = compiled(g, places=places | {"w": Place(90)}, spad_words=90, **options)

    def ops(kernel: Kernel) -> list[Op]:
        return [Op(isa.decode(word).op) for word in kernel.words]

    assert ops(loaded) == [Op.LD, Op.MM, Op.RQ, Op.ST]
    assert ops(resident) == [Op.MM, Op.RQ, Op.ST]
    for kernel in (loaded, resident):
        machine = Machine(16)
        machine.ext[4:8] = machine.spad[90:94] = [1, 2, 3, 4]
        machine.spad[:2] = [5, 6]
        run(machine, kernel.bind(()))
        assert machine.ext[8:10].tolist() == [5 + 18, 10 + 24]
    with pytest.raises(CompileError, match="w: neither in external memory nor in the scratchpad"):
        compiled(g, places=places, **options)


def test_a_product_is_accumulated_where_its_result_will_be() -> None:
    g = Graph()
    g.output("y", g.matmul(g.input("x", 1, 2), g.input("w", 2, 8), name="product"))
    kernel = compiled(
        g, places={"x": Place(0), "w": Place(2)}, external={"y": 0}, reserved=[(0, 18)]
    )
    assert kernel.spad_peak == 18 + 8


def test_a_place_inside_another_tensor_is_refused() -> None:
    g = Graph()
    x = g.input("x", 2, 2, pieces=(2,))
    g.output("y", g.slice_rows(x, 1, 2, name="half"))
    with pytest.raises(CompileError, match="half: placed, but it lies inside another tensor"):
        compiled(g, places={"half": Place(0)}, external={"y": 0})


def test_pieces_beside_others_are_refused() -> None:
    g = Graph()
    both = g.concat_cols(g.input("x", 2, 2, pieces=(2,)), g.input("z", 2, 2, pieces=(1, 1)))
    g.output("y", both, pieces=(2,))
    with pytest.raises(CompileError, match="x: a piece cannot lie beside others"):
        compiled(g)


def test_temporaries_find_no_room_in_what_is_reserved() -> None:
    g = Graph()
    g.output("y", g.input("x", 1, 10, pieces=(1,)), pieces=(1,))
    with pytest.raises(OutOfMemory, match="asked for 10 words, 16 words are free"):
        compiled(g, reserved=[(8, 8)], spad_words=24)
    with pytest.raises(OutOfMemory, match="asked for 2 words, 0 words are free"):
        compiled(g, reserved=[(0, 2), (1, 2)], spad_words=2)


def test_what_a_kernel_consumes_makes_room_for_what_comes_after() -> None:
    g = Graph()
    positive = g.relu(g.input("x", 1, 8))
    g.output("y", g.add(positive, g.input("z", 1, 8, pieces=(1,))), pieces=(1,))
    places = {"x": Place(8)}
    assert compiled(g, places=places, consumed=["x"], spad_words=24).spad_peak == 24
    with pytest.raises(OutOfMemory):
        compiled(g, places=places, reserved=[(8, 8)], spad_words=24)


def test_boot_loads_neighbours_together() -> None:
    kernel = boot_kernel([(100, 0, 10), (110, 10, 5), (115, 20, 5), (130, 25, 1)])
    loads = [(i.a, i.b, i.c) for i in map(isa.decode, kernel.words)]
    assert loads == [(100, 0, 15), (115, 20, 5), (130, 25, 1)]


def test_boot_joins_no_more_than_one_instruction_loads() -> None:
    kernel = boot_kernel([(0, 0, 4000), (4000, 4000, 95), (4095, 4095, 1)])
    assert [isa.decode(word).c for word in kernel.words] == [4095, 1]


def test_a_copy_moves_words_on_the_chip() -> None:
    machine = Machine(64)
    machine.ext[:] = range(64)
    run(machine, copy_kernel(3).bind([10, 40]))
    assert machine.ext.tolist() == [*range(40), 10, 11, 12, *range(43, 64)]
    with pytest.raises(CompileError, match=r"copy of 4096 words, must be 1\.\.4095"):
        copy_kernel(4096)
