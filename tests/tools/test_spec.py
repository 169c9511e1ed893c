"""What the proofs compare the design with, compared with the reference model: in the simulator."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest

from model.chip import isa
from model.chip.fixed_point import saturating_add
from model.chip.operations import COMPUTE, matrix_addresses, plan_word
from sim.engine.compilers import tool_environment
from sim.shared.paths import ROOT

SPEC = ROOT / "hw" / "formal" / "ga2_spec.sv"
BYTES = np.arange(-128, 128)
DRAWS = 4000
BENCH = """module bench;
  logic [95:0] draws[0:{draws}-1];
  logic [95:0] d;
  initial begin
    $readmemh("draws.hex", draws);
    for (int x = -128; x < 128; x++)
      for (int y = -128; y < 128; y++)
        $display("%0d %0d", ga2_spec::saturating_add(8'(x), 8'(y)),
                 ga2_spec::product(8'(x), 8'(y)));
    for (int i = 0; i < {draws}; i++) begin
      d = draws[i];
      for (int j = 0; j < 8; j++) $display("%0d", ga2_spec::int4(d[95:64], 3'(j)));
      $display("%0d", ga2_spec::last_cell(d[11:0], d[23:12], d[35:24], d[38:36], d[41:39]));
    end
    $finish(0);
  end
endmodule
"""


def shapes(words: np.ndarray) -> list[tuple[int, isa.Instruction, int]]:
    """Of each draw: its word, an MM of a legal shape, and a target near its product."""
    drawn = []
    for word in map(int, words):
        dst, ldc = word >> 12 & 4095, word >> 24 & 7
        m, n = 1 + (word >> 36 & 3), 1 + (word >> 38 & 3)
        target = dst + (word >> 40 & 31) & 4095
        drawn.append((word, isa.mm(dst, 0, 0, m, 1, n, ldc=ldc), target))
    return drawn


@pytest.fixture(scope="module")
def draws():
    words = np.random.default_rng(1).integers(0, 2**63, DRAWS, dtype=np.uint64)
    return shapes(words)


def packed(word: int, instr: isa.Instruction, target: int) -> int:
    """The bench's 96 bits: target, dst, ldc, m, n; on top a word of nibbles."""
    return (
        target
        | instr.a << 12
        | instr.x << 24
        | instr.f << 36
        | instr.h << 39
        | (word & 0xFFFFFFFF) << 64
    )


@pytest.fixture(scope="module")
def printed(draws, tmp_path_factory):
    """The simulator's lines."""
    folder = tmp_path_factory.mktemp("spec")
    (folder / "bench.sv").write_text(BENCH.format(draws=DRAWS))
    text = "\n".join(f"{packed(*draw):024x}" for draw in draws)
    (folder / "draws.hex").write_text(text + "\n")
    options = {"cwd": folder, "env": tool_environment(), "check": True}
    command = ["iverilog", "-g2012", "-o", "bench.vvp", str(SPEC), "bench.sv"]
    subprocess.run(command, **options)
    done = subprocess.run(["vvp", "-n", "bench.vvp"], capture_output=True, text=True, **options)
    return done.stdout.splitlines()


def test_sums_and_products_of_all_pairs_of_bytes(printed):
    values = np.array([line.split() for line in printed[:65536]], dtype=int)
    x, y = np.repeat(BYTES, 256), np.tile(BYTES, 256)
    assert np.array_equal(values[:, 0].astype(np.int8), saturating_add(x, y))
    assert np.array_equal(values[:, 1], x * y % 2**32)


def test_nibbles_and_last_cells_of_draws(printed, draws):
    lines = np.array(printed[65536:], dtype=int).reshape(DRAWS, 9)
    unpack = plan_word(isa.encode(isa.unpack(8, 0, 1)))
    seen = set()
    for line, draw in zip(lines, draws, strict=True):
        word = np.array([packed(*draw) >> 64], dtype=np.uint32)
        nibbles = COMPUTE[isa.Op.UNPACK](word, unpack).astype(np.int32)
        assert np.array_equal(line[:8].astype(np.int8), nibbles)
        seen |= {(j, int(nibble)) for j, nibble in enumerate(nibbles)}
        _, instr, target = draw
        cells = np.flatnonzero(np.asarray(matrix_addresses(instr).c) == target)
        if cells.size == 0:
            assert line[8] == 0
        else:
            r, c = divmod(int(cells[-1]), instr.h)
            assert line[8] == 16 + 4 * r + c
    assert len(seen) == 8 * 16
    assert {0, 16, 31} <= set(lines[:, 8].tolist())
