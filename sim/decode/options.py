"""The command line of the decode workload, shared by ``make`` and ``make compare``."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from model.decode.float_decode import MAX_CONTEXT
from model.decode.models import default_depth
from model.decode.workload import DEFAULT_WINDOWS, DecodeParams
from model.trained.lm import KINDS as TRAINED
from sim.engine.design import add_design_option
from sim.shared.cli import integer
from sim.shared.errors import UsageError


@dataclass(frozen=True)
class DecodeOptions:
    """One decode run a window, all with the same model and host.

    Attributes:
        runs: parameters by window, in the order asked for.
    """

    runs: dict[int | None, DecodeParams]

    @property
    def first(self) -> DecodeParams:
        """Parameters that all windows have in common, taken from the first."""
        return next(iter(self.runs.values()))


def add_decode_options(parser: argparse.ArgumentParser) -> None:
    """Add design and parameters of the workload; ``decode_options`` checks the latter."""
    add_design_option(parser)
    default = DecodeParams()
    parser.add_argument("--windows", default=" ".join(map(window_name, DEFAULT_WINDOWS)))
    parser.add_argument("--steps", type=integer, default=default.steps)
    parser.add_argument("--model", default=default.model)
    parser.add_argument("--seed", type=integer, help=f"of drawn weights ({default.seed})")
    parser.add_argument("--start", type=integer, default=default.start)
    parser.add_argument("--page", type=integer, default=default.page)
    parser.add_argument("--pool", type=integer, default=default.pool)
    parser.add_argument("--latency", type=integer, default=default.latency)
    parser.add_argument("--results", type=Path, help="folder of the result files")


def decode_options(args: argparse.Namespace) -> DecodeOptions:
    """Check the parameters and turn them into one run a window.

    Raises:
        UsageError, ParameterError: naming the value and what would be right.
    """
    if args.model in TRAINED and args.seed is not None:
        raise UsageError(
            f"SEED={args.seed}: MODEL={args.model} has trained weights, which take none"
        )
    runs: dict[int | None, DecodeParams] = {}
    for window in parse_windows(args.windows):
        if args.steps > MAX_CONTEXT and (window is None or window > MAX_CONTEXT):
            raise UsageError(
                f"STEPS={args.steps} with window {window_name(window)}: a token would attend "
                f"{min(args.steps, window or args.steps)} others, the compiler takes at most "
                f"{MAX_CONTEXT}; use fewer steps or a smaller window"
            )
        runs[window] = DecodeParams(
            model=args.model,
            seed=DecodeParams.seed if args.seed is None else args.seed,
            start=args.start,
            window=window,
            steps=args.steps,
            page=args.page,
            pool=args.pool,
            latency=args.latency,
            depth=default_depth(args.model),
        )
    return DecodeOptions(runs)


def parse_windows(text: str) -> list[int | None]:
    """Read windows such as ``none 8 4``, separated by blanks or commas.

    Raises:
        UsageError: none at all, one twice, or one that is neither ``none`` nor a number above 0.
    """
    windows: list[int | None] = []
    for word in text.replace(",", " ").split():
        if word.lower() != "none" and not (word.isascii() and word.isdigit() and int(word) > 0):
            raise UsageError(f"WINDOWS={text}: {word!r} is neither 'none' nor a number above 0")
        window = None if word.lower() == "none" else int(word)
        if window in windows:
            raise UsageError(f"WINDOWS={text}: {word} is given twice")
        windows.append(window)
    if not windows:
        raise UsageError("WINDOWS is empty: give windows such as 'none 8 4'")
    return windows


def window_name(window: int | None) -> str:
    """Name a window as on the command line and in result files."""
    return "none" if window is None else str(window)
