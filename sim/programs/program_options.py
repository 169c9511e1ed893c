"""A single program on the command line: its file, its memories, and what happens around it."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import numpy as np

from model.chip.isa import EXT_WORDS, SPAD_WORDS
from model.chip.machine import DEFAULT_DEPTH, Machine
from model.chip.timing import DEFAULT_LATENCY
from model.errors import check_int
from sim.engine.design import add_design_option
from sim.programs.program_file import read_image, read_program
from sim.shared.cli import add_simulator_options, integer
from sim.shared.errors import UsageError
from verif.items.program_item import MAX_LATENCY, ProgramItem


def add_program_options(parser: argparse.ArgumentParser) -> None:
    """Add what a front end understands that plays one program."""
    add_simulator_options(parser)
    add_design_option(parser)
    parser.add_argument("--results", type=Path, help="folder of the result files")
    parser.add_argument("--program", default="", metavar="FILE", help=".asm or .hex")
    parser.add_argument("--ext", default="", metavar="FILE", help="initial external memory, .hex")
    parser.add_argument("--spad", default="", metavar="FILE", help="initial scratchpad, .hex")
    parser.add_argument("--depth", type=integer, default=DEFAULT_DEPTH)
    parser.add_argument("--latency", type=integer, help=f"of the memory ({DEFAULT_LATENCY})")
    parser.add_argument(
        "--latencies", type=integers, default=(), help="latency of each read request in turn"
    )
    parser.add_argument(
        "--pulses", type=integers, default=(), help="cycles in which start is raised again"
    )
    parser.add_argument("--reset-at", type=integer, help="reset in this cycle, then run once more")
    parser.add_argument(
        "--late", action="store_true", help="requests before that reset are answered after it"
    )


def integers(text: str) -> tuple[int, ...]:
    """Whole numbers, separated by commas or blanks.

    Raises:
        argparse.ArgumentTypeError: something is none, or nothing stands between two commas.
    """
    try:
        return tuple(int(word, 0) for word in re.split(r"\s*,\s*|\s+", text.strip()))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a list of whole numbers, as in 3,9,1"
        ) from None


def program_item(args: argparse.Namespace) -> ProgramItem:
    """Read what the parsed arguments name.

    Raises:
        ParameterError, UsageError, AssemblyError, ImageError, OSError: naming the value and what
            would be right.
    """
    check_int("depth", args.depth, 1, EXT_WORDS)
    if args.latencies and args.latency is not None:
        raise UsageError("LAT goes without LATS, which gives each read request its latency")
    latency = DEFAULT_LATENCY if args.latency is None else args.latency
    check_int("lat", latency, 1, MAX_LATENCY)
    for one in args.latencies:
        check_int("lats", one, 1, MAX_LATENCY)
    for cycle in args.pulses:
        check_int("pulses", cycle, 1)
    if args.reset_at is not None:
        check_int("reset_at", args.reset_at, 1)
    if args.late and (args.reset_at is None or not args.latencies):
        raise UsageError("LATE=1 needs RESET_AT and LATS")
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
        latency=latency,
        depth=args.depth,
        late_answers=args.late,
        latencies=args.latencies,
        start_pulses=args.pulses,
        abort_at=args.reset_at,
    )
    if late := late_cycles(item):
        raise UsageError(late)
    return item


def late_cycles(item: ProgramItem) -> str:
    """Say which start pulse or reset would come when the program has ended; empty: none."""
    machine = Machine(item.depth)
    if item.spad is not None:
        machine.spad[:] = item.spad
    last = machine.run(item.program, item.image, item.read_latency).counters.total
    reset = () if item.abort_at is None else (item.abort_at,)
    for name, cycles in (("PULSES", item.start_pulses), ("RESET_AT", reset)):
        for cycle in cycles:
            if cycle > last:
                return f"{name}={cycle}: the program ends in cycle {last}, give one of 1..{last}"
    return ""
