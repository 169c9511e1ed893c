"""Run one program on the model and on the RTL and compare (``make run PROGRAM=...``)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.console import Console

from model.chip.assembler import disassemble
from model.chip.isa import EXT_WORDS, SPAD_WORDS, FaultCode
from model.chip.machine import DEFAULT_DEPTH, Machine, RunResult
from model.chip.timing import DEFAULT_LATENCY, OVERHEAD, unit_of
from model.errors import check_int
from sim.decode.report import verdict
from sim.engine.launch import play
from sim.programs.program_file import read_image, read_program, write_image
from sim.programs.surroundings import add_surroundings, surroundings
from sim.shared.cli import Parser, add_simulator_options, integer, run
from sim.shared.failures import print_failures
from sim.shared.table import format_table
from verif.items.job import MEMORY_FILE, Job
from verif.items.program_item import MAX_LATENCY, ProgramItem
from verif.items.result import ProgramResult


def main() -> int:
    """Assemble, run, compare, print; return 0 when model and RTL agree, also on a fault."""
    parser = Parser(prog="run", description=__doc__)
    add_simulator_options(parser)
    parser.add_argument("--program", required=True, metavar="FILE", help=".asm or .hex")
    parser.add_argument("--ext", default="", metavar="FILE", help="initial external memory, .hex")
    parser.add_argument("--out", default="", metavar="FILE", help="final external memory, .hex")
    parser.add_argument("--depth", type=integer, default=DEFAULT_DEPTH)
    parser.add_argument("--latency", type=integer, default=DEFAULT_LATENCY)
    parser.add_argument("--spad", default="", metavar="FILE", help="initial scratchpad, .hex")
    add_surroundings(parser)
    args = parser.parse_args()
    check_int("depth", args.depth, 1, EXT_WORDS)
    check_int("lat", args.latency, 1, MAX_LATENCY)
    program = read_program(args.program)
    image = read_image(args.ext, args.depth) if args.ext else np.zeros(0, dtype=np.uint32)
    spad = np.zeros(SPAD_WORDS, dtype=np.uint32)
    if args.spad:
        words = read_image(args.spad, SPAD_WORDS, "a scratchpad")
        spad[: words.size] = words

    console = Console(highlight=False)
    item = ProgramItem(
        name=Path(args.program).name,
        program=program,
        image=image,
        spad=spad,
        latency=args.latency,
        depth=args.depth,
        **surroundings(args),
    )
    machine = Machine(args.depth)
    machine.spad[:] = spad
    expected = machine.run(program, image, item.read_latency)
    job = Job("items", {"keep_retires": True, "keep_memory": bool(args.out)}, [item])
    played = play(console, args.sim, job, waves=args.waves, rtl=args.rtl, quiet=True)
    result = played.results[0] if played.results else ProgramResult(args.program)
    print_instructions(console, program, expected, result)
    print_counters(console, expected, result)
    print_fault(console, program, expected)
    print_failures(console, [result])
    if args.out and played.folder:
        write_image(args.out, np.load(played.folder / MEMORY_FILE))
    passed = played.ok and result.passed
    console.print(
        f"{verdict(passed)}  {args.program} on {args.sim}: model and RTL "
        f"{'agree' if passed else 'differ'} ({result.comparisons:,} comparisons)",
        soft_wrap=True,
    )
    return 0 if passed else 1


def print_instructions(
    console: Console, program: list[int], expected: RunResult, result: ProgramResult
) -> None:
    """Print what was executed: pc, cycles on the RTL (FETCH and ISSUE included), unit, text.

    Where the model expected another number of cycles, it follows in brackets.
    """
    rows = [("pc", "cycles", "unit", "instruction")]
    observed = result.retires or []
    for index, record in enumerate(expected.retires):
        model = OVERHEAD + record.busy
        rtl = OVERHEAD + observed[index][3] if index < len(observed) else None
        cycles = str(model) if rtl == model else f"{'-' if rtl is None else rtl} ({model})"
        unit = "fault" if record.fault else unit_of(record.op)
        rows.append((str(record.pc), cycles, unit, disassemble(program[record.pc])))
    if not expected.fault:
        rows.append((str(len(expected.retires)), str(OVERHEAD), "-", "HALT"))
    console.print(format_table(rows, ">><<"), soft_wrap=True)


def print_counters(console: Console, expected: RunResult, result: ProgramResult) -> None:
    """Print the five counters, and the model's where it disagrees."""
    parts = []
    for name, model in vars(expected.counters).items():
        rtl = result.counters.get(name)
        parts.append(f"{name} {rtl if rtl is not None else '-'}")
        if rtl != model:
            parts[-1] += f" (model {model})"
    console.print("counters: " + ", ".join(parts), soft_wrap=True)


def print_fault(console: Console, program: list[int], expected: RunResult) -> None:
    """Print the fault that ended the program, if one did."""
    if expected.fault != FaultCode.NONE:
        console.print(
            f"fault: code {int(expected.fault)} ({expected.fault.name}) at pc {expected.fault_pc}: "
            f"{disassemble(program[expected.fault_pc])}",
            soft_wrap=True,
        )


if __name__ == "__main__":
    run("run", main)
