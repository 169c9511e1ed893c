"""What the proofs compare the design with, compared with the reference model: in the simulator."""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path

import numpy as np
import pytest

from model.chip import isa
from model.chip.fixed_point import EXP_TABLE, requantize, saturating_add
from model.chip.isa import FaultCode, Instruction, Op, check_fault
from model.chip.operations import COMPUTE, matrix_addresses, plan_word
from model.chip.timing import busy_cycles
from sim.engine.compilers import tool_environment
from sim.shared.paths import ROOT

SPEC = ROOT / "hw" / "formal" / "ga2_spec.sv"
BYTES = np.arange(-128, 128)
DRAWS = 4000
ACCUMULATORS = 2**20
SHIFTS = 2**7  # runs of accumulators with an m, an s and a relu of their own
PAIRS = """
    for (int x = -128; x < 128; x++)
      for (int y = -128; y < 128; y++)
        $display("%0d %0d", ga2_spec::saturating_add(8'(x), 8'(y)),
                 ga2_spec::product(8'(x), 8'(y)));
"""
CELLS = """
      for (int j = 0; j < 8; j++) $display("%0d", ga2_spec::int4(d[95:64], 3'(j)));
      $display("%0d", ga2_spec::last_cell(d[11:0], d[23:12], d[35:24], d[38:36], d[41:39]));
"""
# The fields as the instruction word has them, a latency on top.
RULES = """
      $display("%0d %0d", ga2_spec::fault(d[127:124], d[123:108], d[107:92], d[91:76], d[67:52],
                                          d[45:38], d[37:30], d[29:22]),
               ga2_spec::busy(d[127:124], d[91:76], d[67:52], d[45:38], d[37:30], d[29:22],
                              d[134:128]));
"""
# Regions x and y and a base outside, all of d's length but y.
REGIONS = """
      $display("%0d%0d%0d%0d", ga2_spec::fits(d[11:0], d[35:24]),
               ga2_spec::fits_outside(d[63:48], d[35:24]),
               ga2_spec::in_place_or_apart(d[11:0], d[23:12], d[35:24]),
               ga2_spec::apart(d[11:0], d[35:24], d[23:12], d[47:36]));
"""
ROUNDING = """
      $write("%02h", ga2_spec::requantize(d[31:0], d[55:32], d[61:56], d[62]));
"""


def printed(folder: Path, body: str, draws: list[int] | None = None, width: int = 0) -> str:
    """What the simulator prints for ``body``, once or, with ``draws``, for each in ``d``."""
    if draws is not None:
        digits = -(-width // 4)
        (folder / "draws.hex").write_text("".join(f"{draw:0{digits}x}\n" for draw in draws))
        body = f"""
    $readmemh("draws.hex", draws);
    for (int i = 0; i < {len(draws)}; i++) begin
      d = draws[i];{body}    end
"""
    bench = f"""module bench;
  logic [{max(width, 1) - 1}:0] draws[0:{len(draws or [0]) - 1}];
  logic [{max(width, 1) - 1}:0] d;
  initial begin{body}    $finish(0);
  end
endmodule
"""
    return simulated(folder, bench)


def simulated(folder: Path, bench: str) -> str:
    """What the simulator prints for a bench and the specification."""
    (folder / "bench.sv").write_text(bench)
    options = {"cwd": folder, "env": tool_environment(), "check": True}
    command = ["iverilog", "-g2012", "-o", "bench.vvp", str(SPEC), "bench.sv"]
    subprocess.run(command, **options)
    done = subprocess.run(["vvp", "-n", "bench.vvp"], capture_output=True, text=True, **options)
    return done.stdout


def test_sums_and_products_of_all_pairs_of_bytes(tmp_path):
    lines = printed(tmp_path, PAIRS).splitlines()
    values = np.array([line.split() for line in lines], dtype=int)
    x, y = np.repeat(BYTES, 256), np.tile(BYTES, 256)
    assert np.array_equal(values[:, 0].astype(np.int8), saturating_add(x, y))
    assert np.array_equal(values[:, 1], x * y % 2**32)


def test_every_exponential(tmp_path):
    body = '\n    for (int d = 0; d < 256; d++) $display("%0d", ga2_spec::exponential(8\'(d)));'
    assert list(map(int, printed(tmp_path, body).split())) == EXP_TABLE.tolist()


def shapes(words: np.ndarray) -> list[tuple[int, isa.Instruction, int]]:
    """Of each draw: its word, an MM of a legal shape, and a target near its product."""
    drawn = []
    for word in map(int, words):
        dst, ldc = word >> 12 & 4095, word >> 24 & 7
        m, n = 1 + (word >> 36 & 3), 1 + (word >> 38 & 3)
        target = dst + (word >> 40 & 31) & 4095
        drawn.append((word, isa.mm(dst, 0, 0, m, 1, n, ldc=ldc), target))
    return drawn


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


def test_nibbles_and_last_cells_of_draws(tmp_path):
    draws = shapes(np.random.default_rng(1).integers(0, 2**63, DRAWS, dtype=np.uint64))
    text = printed(tmp_path, CELLS, [packed(*draw) for draw in draws], 96)
    lines = np.array(text.split(), dtype=int).reshape(DRAWS, 9)
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


def boundary_words() -> list[Instruction]:
    """Every operation with operands at and beside the limits of each fault rule."""
    rng = np.random.default_rng(2)
    lengths = (0, 1, 2, 7, 8, 511, 512, 513, 4094, 4095, 4096, 8191, 65535)
    words = []
    for op, length in itertools.product(range(16), lengths):
        # Ends at the memories' and other regions' limits, a word less, a word more.
        size = 8 * length if op == Op.UNPACK else length
        places = {0, 1, 2, 100, 4094, 4095, 4096, 8191, 32768, 65534, 65535}
        for end in (4096, 65536):
            places |= {end - part + off for part in (length, size) for off in (-1, 0, 1)}
        places |= {100 + sign * part + off for part in (length, size) for sign in (-1, 1)
                   for off in (-1, 0, 1)}  # fmt: skip
        some = sorted(place for place in places if 0 <= place < 65536)
        for a, b, c in rng.choice(some, (160, 3)).tolist():
            d = length if op == Op.VADD else int(rng.integers(2**24))
            words.append(Instruction(op, a, b, c if op == Op.VADD else length, d))
    near = (0, 1, 2, 3, 4, 5, 8, 63, 64, 65, 128, 255)
    bases = (0, 1, 4095, 4096, 65535)
    for f, g, h in itertools.product(near, repeat=3):
        a, b, c = rng.choice(bases, 3).tolist() if f % 2 else (4095, 4095, 0)
        words.append(Instruction(Op.MM, a, b, c, 0, 0, f, g, h))
    return words


def test_faults_and_times_at_every_limit(tmp_path):
    words = boundary_words()
    latencies = np.random.default_rng(3).integers(1, 65, len(words)).tolist()
    draws = [isa.encode(w) | t << 128 for w, t in zip(words, latencies, strict=True)]
    lines = printed(tmp_path, RULES, draws, 135).splitlines()
    seen = set()
    for line, word, latency in zip(lines, words, latencies, strict=True):
        code, busy = map(int, line.split())
        assert code == check_fault(word), word
        seen.add((word.op, FaultCode(code)))
        if not code:
            assert busy == busy_cycles(word, latency), word
    most = {FaultCode.LENGTH, FaultCode.ADDRESS}
    rules = {op: most for op in Op if op not in (Op.HALT, Op.MM)}
    rules |= {op: most | {FaultCode.OVERLAP} for op in (Op.RQ, Op.SM, Op.VADD, Op.UNPACK)}
    rules |= {Op.HALT: set(), Op.MM: {FaultCode.SHAPE, FaultCode.ADDRESS}}
    legal = {(op, code) for op, codes in rules.items() for code in codes | {FaultCode.NONE}}
    assert seen == legal | {(op, FaultCode.OPCODE) for op in range(9, 16)}


def test_times_of_every_length_and_shape(tmp_path):
    words = [Instruction(op, c=n) for op in (Op.LD, Op.ST, Op.RQ, Op.SM, Op.AMAX)
             for n in range(1, 4096, 2)]  # fmt: skip
    words += [Instruction(Op.VADD, d=n) for n in range(1, 4096, 2)]
    words += [Instruction(Op.UNPACK, c=n) for n in range(1, 512)]
    words += [Instruction(Op.MM, f=m, g=k, h=n) for m in range(1, 5) for n in range(1, 5)
              for k in range(1, 65)]  # fmt: skip
    draws = [isa.encode(word) | (1 + i % 64) << 128 for i, word in enumerate(words)]
    busy = [int(line.split()[1]) for line in printed(tmp_path, RULES, draws, 135).splitlines()]
    assert busy == [busy_cycles(word, 1 + i % 64) for i, word in enumerate(words)]


def test_regions_against_the_model_s_rules(tmp_path):
    rng = np.random.default_rng(4)
    length = rng.integers(1, 512, DRAWS)
    x = np.where(rng.random(DRAWS) < 0.2, 4096 - length + rng.integers(-1, 2, DRAWS), 2000)
    x = np.minimum(x, 4095)
    beside = rng.choice([-1, 0, 1], (2, DRAWS)) * np.where(rng.random(DRAWS) < 0.5, length, 1)
    y = np.clip(2000 + beside[0] + rng.integers(-1, 2, DRAWS), 0, 4095)
    outside = np.minimum(65536 - length + rng.integers(-1, 2, DRAWS), 65535)
    columns = (x, y, length, 8 * length, outside)
    draws = [
        int(x) | int(y) << 12 | int(n) << 24 | int(m) << 36 | int(out) << 48
        for x, y, n, m, out in zip(*columns, strict=True)
    ]
    seen = set()
    for line, (x, y, n, m, out) in zip(
        printed(tmp_path, REGIONS, draws, 64).split(), zip(*columns, strict=True), strict=True
    ):
        x, y, n, m, out = map(int, (x, y, n, m, out))
        seen |= set(enumerate(line))
        assert line[0] == str(int(check_fault(isa.sm(x, x, n)) != FaultCode.ADDRESS))
        assert line[1] == str(int(check_fault(isa.ld(0, out, n)) != FaultCode.ADDRESS))
        code = check_fault(isa.rq(x, y, n, 1, 0))
        if code != FaultCode.ADDRESS:
            assert line[2] == str(int(code != FaultCode.OVERLAP))
        code = check_fault(isa.unpack(y, x, n))
        if code not in (FaultCode.ADDRESS, FaultCode.LENGTH):
            assert line[3] == str(int(code != FaultCode.OVERLAP))
    assert len(seen) == 8


@pytest.fixture(scope="module")
def accumulators():
    """For each run an m, an s and a relu; in it accumulators of every size, for all results."""
    rng = np.random.default_rng(5)
    m = rng.integers(0, 2**24, SHIFTS) >> rng.integers(0, 24, SHIFTS)
    m[:3] = 0, 1, 2**24 - 1
    s = np.tile(np.arange(64), SHIFTS // 64)
    relu = rng.integers(0, 2, SHIFTS)
    size = np.minimum(rng.integers(1, 33, (SHIFTS, ACCUMULATORS // SHIFTS)), 32)
    # Half of them around the rounding's steps: results of -130..130.
    acc = rng.integers(-(2**31), 2**31, size.shape) >> (32 - size)
    step = np.exp2(s - np.log2(np.maximum(m, 1)))[:, None]
    near = np.round(
        rng.integers(-260, 261, size.shape) / 2 * step + rng.integers(-1, 2, size.shape)
    )
    acc = np.where(
        rng.random(size.shape) < 0.5, acc, np.clip(near, -(2**31), 2**31 - 1).astype(int)
    )
    acc[:, :3] = -(2**31), 2**31 - 1, 0
    return acc, m, s, relu


def test_a_million_requantizations(accumulators, tmp_path):
    acc, m, s, relu = accumulators
    words = acc % 2**32 | (m << 32 | s << 56 | relu << 62)[:, None]
    words.astype(">u8").tofile(tmp_path / "draws.bin")
    got = simulated(
        tmp_path,
        f"""module bench;
  logic [63:0] draws[0:{words.size - 1}];
  logic [63:0] d;
  int file, unused;
  initial begin
    file = $fopen("draws.bin", "rb");
    unused = $fread(draws, file);
    for (int i = 0; i < {words.size}; i++) begin
      d = draws[i];{ROUNDING}    end
    $finish(0);
  end
endmodule
""",
    )
    values = np.frombuffer(bytes.fromhex(got), dtype=np.int8).reshape(acc.shape)
    for run, wanted in enumerate(values):
        assert np.array_equal(wanted, requantize(acc[run], int(m[run]), int(s[run]), relu[run]))
    assert set(np.unique(values).tolist()) == set(range(-127, 128))
    assert (np.abs(values) < 127).mean() > 0.25
