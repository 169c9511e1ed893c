"""A program's instructions as a trace for Perfetto or Chrome (``make trace PROGRAM=...``).

Chrome's trace-event format, one track for FETCH and ISSUE and one for each execution unit; one
microsecond stands for one cycle. Open the file at https://ui.perfetto.dev or chrome://tracing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from model.chip.assembler import disassemble
from model.chip.isa import EXT_WORDS, SPAD_WORDS, FaultCode, Op
from model.chip.machine import DEFAULT_DEPTH
from model.chip.timing import DEFAULT_LATENCY, OVERHEAD, unit_of
from model.errors import check_int
from sim.decode.report import verdict
from sim.engine.launch import play
from sim.programs.program_file import read_image, read_program
from sim.programs.surroundings import add_surroundings, surroundings
from sim.shared.cli import Parser, add_simulator_options, integer, run
from sim.shared.errors import UsageError
from sim.shared.failures import print_failures
from sim.shared.paths import RESULTS, shown
from verif.items.job import Job
from verif.items.program_item import MAX_LATENCY, ProgramItem

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
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data) + "\n")


def trace_file(program: str) -> Path:
    """Return where the trace of a program file goes."""
    return RESULTS / f"{Path(program).stem}{SUFFIX}"


def main() -> int:
    """Run a program on the RTL, write its trace; 0 when model and RTL agree, also on a fault."""
    parser = Parser(prog="trace", description=__doc__)
    add_simulator_options(parser)
    parser.add_argument("--program", default="", metavar="FILE", help=".asm or .hex")
    parser.add_argument("--ext", default="", metavar="FILE", help="initial external memory, .hex")
    parser.add_argument("--spad", default="", metavar="FILE", help="initial scratchpad, .hex")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where to write the trace")
    parser.add_argument("--depth", type=integer, default=DEFAULT_DEPTH)
    parser.add_argument("--latency", type=integer, default=DEFAULT_LATENCY)
    add_surroundings(parser)
    args = parser.parse_args()
    check_int("depth", args.depth, 1, EXT_WORDS)
    check_int("lat", args.latency, 1, MAX_LATENCY)
    if args.reset_at:
        raise UsageError("RESET_AT: a trace shows one run, from start to halt")
    program = read_program(args.program)
    spad = np.zeros(SPAD_WORDS, dtype=np.uint32)
    if args.spad:
        words = read_image(args.spad, SPAD_WORDS, "a scratchpad")
        spad[: words.size] = words
    item = ProgramItem(
        name=Path(args.program).name,
        program=program,
        image=read_image(args.ext, args.depth) if args.ext else np.zeros(0, dtype=np.uint32),
        spad=spad,
        latency=args.latency,
        depth=args.depth,
        **surroundings(args),
    )
    console = Console(highlight=False)
    job = Job("items", {"keep_retires": True}, [item])
    played = play(console, args.sim, job, waves=args.waves, rtl=args.rtl, quiet=True)
    print_failures(console, played.results)
    if not played.results or played.results[0].retires is None:
        console.print(f"{verdict(False)}  {args.program} on {args.sim}: nothing to trace")
        return 1
    result = played.results[0]
    records = [(r[0], r[1], r[2] and (result.fault_code or 0), r[3]) for r in result.retires or []]
    events = trace_events(program, records)
    path = args.out or trace_file(args.program)
    about = {"program": item.name, "simulator": args.sim, "latency": args.latency}
    write_trace(path, events, **about, counters=result.counters)
    passed = played.ok and result.passed
    count, total = len(records), result.counters.get("total", 0)
    console.print(
        f"{verdict(passed)}  {args.program} on {args.sim}: {count} instructions, {total:,} cycles; "
        f"{shown(path.resolve())} opens in Perfetto (1 us is 1 cycle)",
        soft_wrap=True,
    )
    return 0 if passed else 1


if __name__ == "__main__":
    run("trace", main)
