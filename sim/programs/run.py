"""Run one program on the model and on the RTL and compare (``make run PROGRAM=...``)."""

from __future__ import annotations

import argparse

import numpy as np
from rich.console import Console

from model.chip.assembler import disassemble
from model.chip.isa import FaultCode
from model.chip.machine import Machine, RunResult
from model.chip.timing import OVERHEAD, unit_of
from sim.engine.design import print_design
from sim.engine.play import Simulation, play
from sim.programs.program_file import write_image
from sim.programs.program_options import add_program_options, program_item
from sim.programs.report import finish_programs, program_files
from sim.shared.cli import Parser, run
from sim.shared.failures import print_failures
from sim.shared.results import ResultFiles
from sim.shared.table import format_table
from verif.items.job import MEMORY_FILE, Job
from verif.items.program_item import ProgramItem
from verif.items.result import ProgramResult


def main() -> int:
    """Assemble, run, compare, print; return 0 when model and RTL agree, also on a fault."""
    parser = Parser(prog="run", description=__doc__)
    add_program_options(parser)
    parser.add_argument("--out", default="", metavar="FILE", help="final external memory, .hex")
    args = parser.parse_args()
    item = program_item(args)
    with program_files("run", args.sim, args.design, args.results, program=args.program) as files:
        return play_program(args, item, files)


def play_program(args: argparse.Namespace, item: ProgramItem, files: ResultFiles) -> int:
    """Play the program, print all about it, write the files; return the exit code."""
    console = Console(highlight=False)
    print_design(console, args.design)
    machine = Machine(args.depth)
    machine.spad[:] = 0 if item.spad is None else item.spad
    expected = machine.run(item.program, item.image, item.read_latency)
    job = Job("items", {"keep_retires": True, "keep_memory": bool(args.out)}, [item])
    simulation = Simulation(job, args.sim, build={"rtl": args.design})
    played = play(console, [simulation], waves=args.waves, waves_of_failure=True, quiet=True)
    result = played.results[0] if played.results else ProgramResult(args.program)
    print_instructions(console, item.program, expected, result)
    print_counters(console, expected, result)
    print_fault(console, item.program, expected)
    print_failures(console, played.results)
    memory = played.runs[0].folder / MEMORY_FILE
    if args.out and memory.exists():
        write_image(args.out, np.load(memory))
    if played.results:
        outcome = f"model and RTL {'agree' if result.passed else 'differ'}"
        outcome += f" ({result.comparisons:,} comparisons)"
        outcome += ", but the simulation is no good" if result.passed and not played.passed else ""
    else:
        outcome = "no result"
    return finish_programs(console, files, played, f"{args.program} on {args.sim}: {outcome}")


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
