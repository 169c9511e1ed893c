"""Options that both mutation tools have."""

from __future__ import annotations

import argparse
import os

from model.errors import check_int
from sim.shared.cli import integer


def processors() -> int:
    """Return how many processes this machine runs at once."""
    return max(1, len(os.sched_getaffinity(0)))


def add_campaign_options(parser: argparse.ArgumentParser, sample: int, sampled: str) -> None:
    """Add ``--sample`` (of which ``sampled`` says what is sampled), ``--fresh`` and ``--jobs``."""
    parser.add_argument("--sample", type=integer, default=sample, help=f"{sampled}; 0: all")
    parser.add_argument("--fresh", action="store_true", help="forget what earlier runs found")
    parser.add_argument("--jobs", type=integer, default=processors(), help="processes")


def check_campaign_options(options: argparse.Namespace) -> None:
    """Refuse numbers that are too small.

    Raises:
        ParameterError: with the option's name.
    """
    check_int("sample", options.sample, 0)
    check_int("jobs", options.jobs, 1)
