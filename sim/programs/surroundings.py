"""Surroundings of a single program on the command line: latencies, start pulses, a reset."""

from __future__ import annotations

import argparse
from typing import Any

from model.errors import check_int
from sim.shared.errors import UsageError
from verif.items.program_item import MAX_LATENCY


def add_surroundings(parser: argparse.ArgumentParser) -> None:
    """Add what may happen around and during a program."""
    parser.add_argument(
        "--latencies", type=integers, default=(), help="latency of each read request in turn"
    )
    parser.add_argument(
        "--pulses", type=integers, default=(), help="cycles in which start is raised again"
    )
    parser.add_argument(
        "--reset-at", type=integers, default=(), help="reset in this cycle, then run once more"
    )
    parser.add_argument(
        "--late", action="store_true", help="requests before that reset are answered after it"
    )


def integers(text: str) -> tuple[int, ...]:
    """Whole numbers, separated by commas or blanks.

    Raises:
        argparse.ArgumentTypeError: something is none.
    """
    try:
        return tuple(int(word, 0) for word in text.replace(",", " ").split())
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of whole numbers") from None


def surroundings(args: argparse.Namespace) -> dict[str, Any]:
    """Fields of the program item, from the parsed arguments.

    Raises:
        ParameterError, UsageError: naming the value and what would be right.
    """
    for latency in args.latencies:
        check_int("lats", latency, 1, MAX_LATENCY)
    for cycle in args.pulses:
        check_int("pulses", cycle, 1)
    for cycle in args.reset_at:
        check_int("reset_at", cycle, 1)
    if args.late and not (args.reset_at and args.latencies):
        raise UsageError("LATE=1 needs RESET_AT and LATS")
    return {
        "late_answers": args.late,
        "latencies": args.latencies,
        "start_pulses": args.pulses,
        "abort_at": args.reset_at[0] if args.reset_at else None,
    }
