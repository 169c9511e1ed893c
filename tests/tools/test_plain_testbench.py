"""The plain testbench of ``make bench``: a yardstick that checks nothing would measure nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from planting import kept
from sabotage import SABOTAGES, number, plant

from model.chip.assembler import assemble
from sim.shared.paths import RTL
from sim.speed import bare_flow
from sim.speed.plain_flow import BINARY, PlainFlowError, PlainRun, Replay, build, export, run

# ``start`` is never raised while a program runs here.
UNSEEN = "start not ignored"
HANG = "hang"

PROGRAM = """
LD dst=0 src=0 len=100
MM dst=400 A=0 B=50 M=3 K=4 N=2 ldb=2
RQ dst=420 src=400 len=6 m=0x100000 s=25
VADD dst=440 src1=420 src2=0 len=6
AMAX dst=450 src=400 len=6
ST src=400 dst=200 len=60
"""

# The scratchpad starts unknown: everything that is stored must have been written.
FILL = "LD dst=0 src=0 len=2000\nLD dst=2000 src=0 len=2000"

Play = Callable[..., PlainRun]


@pytest.fixture(scope="module")
def play(tmp_path_factory: pytest.TempPathFactory) -> Play:
    """A function that plays the program on a design with planted faults, one of them chosen."""
    folder = tmp_path_factory.mktemp("plain")
    command = build("icarus", kept(plant(RTL, folder / "rtl")))
    image = np.random.default_rng(1).integers(0, 2**32, 128, dtype=np.uint32)
    words, fill = assemble(PROGRAM), assemble(FILL)

    def play_one(chosen: int, latency: int = 8, binary: bool = False) -> PlainRun:
        faulty = [words[0] | chosen, *words[1:]]  # LD ignores the lowest field
        replays = [Replay(program, image, latency) for program in (fill, faulty, words)]
        export(folder / "job", replays)
        return run(command, folder / "job", len(replays), binary)

    return play_one


@pytest.mark.parametrize("latency", [1, 2, 3, 64])
@pytest.mark.parametrize("binary", [False, True])
def test_sound_design_passes(play: Play, latency: int, binary: bool) -> None:
    result = play(0, latency, binary)
    assert result.mismatches == 0
    assert result.programs == 3
    assert result.comparisons > 3 * 8200


@pytest.mark.parametrize(
    "name", [fault.name for fault in SABOTAGES if fault.name not in (UNSEEN, HANG)]
)
def test_planted_fault_is_seen(play: Play, name: str) -> None:
    assert play(number(name)).mismatches > 0


def test_damaged_prediction_is_seen(play: Play, tmp_path: Path) -> None:
    """Each kind of file takes part in the comparison."""
    command = build("icarus")
    image = np.arange(1, 9, dtype=np.uint32)
    program = assemble("LD dst=0 src=0 len=8\nST src=0 dst=100 len=8")
    for name, line in (("info", 5), ("reads", 0), ("final", 100), ("records", 1), ("writes", 7)):
        export(tmp_path, [Replay(program, image, 8)])
        file = tmp_path / f"0.{name}.hex"
        lines = file.read_text().splitlines()
        lines[line] = f"{int(lines[line], 16) ^ 1:0{len(lines[line])}x}"
        file.write_text("\n".join(lines) + "\n")
        assert run(command, tmp_path, 1).mismatches > 0, name


def test_missing_job_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PlainFlowError):
        run(build("icarus"), tmp_path / "nowhere", 1, binary=True)


def test_design_alone_does_the_same_work(tmp_path: Path) -> None:
    """What the flow is a share of plays all programs, and nobody believes it unlooked."""
    image = np.random.default_rng(1).integers(0, 2**32, 128, dtype=np.uint32)
    replays = [Replay(assemble(text), image, 8) for text in (FILL, PROGRAM, PROGRAM)]
    export(tmp_path, replays)
    bare, file = bare_flow.build(), tmp_path / BINARY
    cycles = run(build("icarus", bare=True), tmp_path, 3, binary=True).cycles
    assert bare_flow.run(bare, file, 3).cycles == cycles > 0
    data = bytearray(file.read_bytes())
    final = 4 * (13 + 4 * len(replays[0].program) + 8192 + 200)
    data[final] ^= 1
    file.write_bytes(data)
    with pytest.raises(bare_flow.BareFlowError):
        bare_flow.run(bare, file, 3)
    assert run(build("icarus", bare=True), tmp_path, 3, binary=True).mismatches == 1
