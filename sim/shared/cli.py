"""What all front ends share: one-line errors, exit codes, a clean end on Ctrl-C.

Exit codes: 0 everything matched, 1 something did not, 2 the command line was wrong, 130 Ctrl-C.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from model.chip.assembler import AssemblyError
from model.chip.image import ImageError
from model.errors import ModelError, ParameterError
from sim.shared import interrupts
from sim.shared.errors import ToolError, UsageError
from sim.shared.paths import SIMULATORS
from verif.items.program_item import ProgramItemError
from verif.typed import RecordError

EXPECTED = (
    *(UsageError, ToolError, RecordError, ModelError),
    *(AssemblyError, ImageError, ProgramItemError),
)


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line, without the usage text.

    Where it is made everything is loaded: from then on Ctrl-C raises an exception.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        interrupts.arm()

    def error(self, message: str) -> NoReturn:
        """Print ``message`` and exit with 2."""
        self.exit(2, f"{self.prog}: error: {message}\n")


def add_simulator_options(parser: argparse.ArgumentParser) -> None:
    """Add what every front end that simulates understands."""
    parser.add_argument("--sim", choices=SIMULATORS, default="icarus", help="which simulator")
    parser.add_argument("--waves", action="store_true", help="record waves")


def integer(text: str) -> int:
    """Read a whole number for argparse, decimal or 0x."""
    try:
        return int(text, 0)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None


def run(program: str, main: Callable[[], int]) -> NoReturn:
    """Run ``main`` and leave with its exit code; expected errors become one line and a 2."""
    interrupts.arm()
    try:
        check_temporary_folder()
        code = main()
    except ParameterError as error:
        name = {"latency": "LAT"}.get(error.name, error.name.upper())
        fail(program, f"{name}={error.value}: must be {error.legal}")
    except EXPECTED as error:
        fail(program, str(error))
    except OSError as error:
        fail(program, f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except interrupts.TerminatedError:
        print(f"\n{program}: terminated", file=sys.stderr)
        code = interrupts.TERMINATED
    except KeyboardInterrupt:
        print(f"\n{program}: interrupted", file=sys.stderr)
        code = interrupts.INTERRUPTED
    interrupts.disarm()
    sys.exit(code)


def check_temporary_folder() -> None:
    """Refuse a temporary folder that cannot be used: compilers stop at it with words of their own.

    Raises:
        UsageError: naming the variable and the folder.
    """
    for name in ("TMPDIR", "TMP", "TEMP"):
        folder = os.environ.get(name)
        if folder and not (os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK)):
            raise UsageError(f"{name}={folder}: no folder to write to; make it, or unset {name}")


def fail(program: str, message: str) -> NoReturn:
    """Print one line of error and exit with 2."""
    print(f"{program}: error: {message}", file=sys.stderr)
    sys.exit(2)
