"""A program's instructions as a trace for Perfetto or Chrome (``make trace PROGRAM=...``).

Chrome's trace-event format, one track for FETCH and ISSUE and one for each execution unit; one
microsecond stands for one cycle. Open the file at https://ui.perfetto.dev or chrome://tracing.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from model.chip.assembler import disassemble
from model.chip.isa import FaultCode, Op
from model.chip.timing import OVERHEAD, unit_of
from sim.engine.design import print_design
from sim.engine.play import Simulation, play
from sim.programs.program_options import add_program_options, program_item
from sim.programs.report import finish_programs, program_files
from sim.shared.cli import Parser, run
from sim.shared.errors import UsageError
from sim.shared.failures import print_failures
from sim.shared.files import write_json
from sim.shared.paths import shown
from sim.shared.results import ResultFiles
from verif.items.job import Job
from verif.items.program_item import ProgramItem

FRONT = "FETCH/ISSUE"
COUNTED = {"mm": "cyc_mm", "dma": "cyc_dma", "vec": "cyc_vec"}
UNITS = tuple(op for op in Op if op is not Op.HALT)
SUFFIX = ".trace.json"

# Of one executed instruction: pc, operation, fault code, busy cycles.
Executed = tuple[int, int, int, int]


def trace_events(program: Sequence[int], executed: Iterable[Executed]) -> list[dict[str, Any]]:
    """Return the events of one run, in the order of the instructions; times in cycles.

    Every instruction has an event of two cycles on the front's track and, when it did not fault,
    one of its busy cycles on its unit's track. The HALT that ends a run without a fault is added.

    Args:
        program: 128-bit words; past its end everything is HALT.
        executed: retire records, without the HALT, which has none.
    """
    events = [_named("process_name", 0, "GA-2"), _named("thread_name", 0, FRONT)]
    for op in UNITS:
        events.append(_named("thread_name", op, f"{op.name} ({unit_of(op)})"))
    cycle, last, fault = 0, -1, 0
    for pc, op_code, fault, busy in executed:
        events += _instruction(program, cycle, pc, op_code, fault, busy)
        cycle, last = cycle + OVERHEAD + busy, pc
    if not fault:
        events += _instruction(program, cycle, last + 1, Op.HALT, 0, 0)
    return events


def _named(kind: str, track: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "pid": 0, "tid": track, "name": kind, "args": {"name": name}}


def _instruction(
    program: Sequence[int], cycle: int, pc: int, op: int, fault: int, busy: int
) -> Iterable[dict[str, Any]]:
    name = Op(op).name if op <= max(Op) else f"op {op}"
    text = disassemble(program[pc] if pc < len(program) else 0)
    args: dict[str, Any] = {"pc": pc, "instruction": text, "cycles": OVERHEAD + busy}
    if fault:
        args["fault"] = FaultCode(fault).name
        name = f"{name}: fault {args['fault']}"
    common = {"ph": "X", "pid": 0, "args": args}
    yield {**common, "name": name, "cat": "front", "tid": 0, "ts": cycle, "dur": OVERHEAD}
    if busy:
        category = COUNTED[unit_of(op)]
        start = cycle + OVERHEAD
        yield {**common, "name": name, "cat": category, "tid": op, "ts": start, "dur": busy}


def write_trace(path: Path, events: list[dict[str, Any]], **about: Any) -> None:
    """Write a trace file; ``about`` says in it what ran, and where."""
    data = {"traceEvents": events, "displayTimeUnit": "ns", "otherData": about}
    write_json(path, data, None)


def trace_name(program: str) -> str:
    """Name the trace of a program file."""
    return f"{Path(program).stem}{SUFFIX}"


def main() -> int:
    """Run a program on the RTL, write its trace; 0 when model and RTL agree, also on a fault."""
    parser = Parser(prog="trace", description=__doc__)
    add_program_options(parser)
    parser.add_argument("--out", type=Path, metavar="FILE", help="where to write the trace")
    args = parser.parse_args()
    if args.reset_at is not None:
        raise UsageError("RESET_AT: a trace shows one run, from start to halt")
    item = program_item(args)
    with program_files("trace", args.sim, args.design, args.results, program=args.program) as files:
        return trace(args, item, files)


def trace(args: argparse.Namespace, item: ProgramItem, files: ResultFiles) -> int:
    """Play the program, write its trace and the result files; return the exit code."""
    console = Console(highlight=False)
    print_design(console, args.design)
    job = Job("items", {"keep_retires": True}, [item])
    simulation = Simulation(job, args.sim, build={"rtl": args.design})
    played = play(console, [simulation], waves=args.waves, waves_of_failure=True, quiet=True)
    print_failures(console, played.results)
    if not played.results or played.results[0].retires is None:
        text = f"{args.program} on {args.sim}: nothing to trace"
        return finish_programs(console, files, played, text)
    result = played.results[0]
    records = [(r[0], r[1], r[2] and (result.fault_code or 0), r[3]) for r in result.retires or []]
    events = trace_events(item.program, records)
    path = args.out or files.folder / trace_name(args.program)
    about = {
        "design": args.design.to_json(),
        "program": item.name,
        "simulator": args.sim,
        "latency": item.latency,
    }
    files.attempt(path, lambda to: write_trace(to, events, **about, counters=result.counters))
    count, total = len(records), result.counters.get("total", 0)
    text = (
        f"{args.program} on {args.sim}: {count} instructions, {total:,} cycles; "
        f"{shown(path.resolve())} opens in Perfetto (1 us is 1 cycle)"
    )
    return finish_programs(console, files, played, text)


if __name__ == "__main__":
    run("trace", main)
