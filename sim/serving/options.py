"""The command line of ``make serve``: the requests, and the options of the engine."""

from __future__ import annotations

import argparse
from pathlib import Path

from model.serving.request import ADMISSION_RULES, MAX_ROWS, Options, Request
from model.serving.trace import draw_requests, read_requests
from model.trained.lm import KINDS as TRAINED
from sim.engine.design import add_design_option
from sim.shared.cli import integer
from sim.shared.errors import UsageError

REQUESTS, RATE = 24, 0.5
SINKS = 2
TINY_ROWS, TRAINED_ROWS = 16, 8  # of a step: what fits beside the weights of a layer


def number(text: str) -> float:
    """Read a decimal number for argparse."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


def window(text: str) -> int | None:
    """Read a window for argparse, ``none`` or a number."""
    return None if text.lower() == "none" else integer(text)


def add_serving_options(parser: argparse.ArgumentParser) -> None:
    """Add design, requests and options of the engine; the two functions below check them."""
    add_design_option(parser)
    parser.add_argument("--model", default="random")
    parser.add_argument("--seed", type=integer, default=2, help="of the weights and the requests")
    parser.add_argument("--requests", type=integer, help=f"how many to draw ({REQUESTS})")
    parser.add_argument("--rate", type=number, help=f"arrivals a step of the engine ({RATE})")
    parser.add_argument("--trace", type=Path, help="file of requests, instead of drawing them")
    parser.add_argument("--batch", type=integer, default=8)
    parser.add_argument(
        "--rows", type=integer, help=f"a step ({TINY_ROWS}, trained {TRAINED_ROWS})"
    )
    parser.add_argument("--window", type=window, default=8)
    parser.add_argument("--sinks", type=integer)
    parser.add_argument("--page", type=integer, default=4)
    parser.add_argument("--pool", type=integer, default=48)
    parser.add_argument("--draft", type=integer, default=3)
    parser.add_argument("--admission", default=ADMISSION_RULES[0])
    parser.add_argument("--resident", choices=("0", "1"), default="1")
    parser.add_argument("--latency", type=integer, default=8)
    parser.add_argument("--results", type=Path, help="folder of the result files")


def serving_options(args: argparse.Namespace) -> Options:
    """Check the options of the engine. Raises ParameterError."""
    sinks, rows = args.sinks, args.rows
    if sinks is None:
        sinks = SINKS if args.window is not None and args.window > SINKS else 0
    if rows is None:
        rows = TRAINED_ROWS if args.model in TRAINED else TINY_ROWS
    return Options(
        model=args.model,
        seed=args.seed,
        window=args.window,
        sinks=sinks,
        page=args.page,
        pool=args.pool,
        batch=args.batch,
        rows=rows,
        draft=args.draft,
        admission=args.admission,
        resident=args.resident == "1",
        latency=args.latency,
    )


def serving_requests(args: argparse.Namespace, options: Options) -> list[Request]:
    """Read or draw the requests.

    Raises:
        UsageError, ParameterError, TraceError: naming the value or the place in the file.
    """
    if args.trace is None:
        count = REQUESTS if args.requests is None else args.requests
        rate = RATE if args.rate is None else args.rate
        limit = {"longest": MAX_ROWS} if options.window is None else {}
        return draw_requests(options.seed, count, rate, **limit, model=options.model)
    for name in ("requests", "rate"):
        if getattr(args, name) is not None:
            raise UsageError(f"{name.upper()}= has no effect beside TRACE=, which brings requests")
    return read_requests(args.trace, options.model)
