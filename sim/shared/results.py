"""What a front end leaves behind: JSON with all figures, JUnit XML, a verdict, an exit code.

All four say the same, whatever happens: the files of an earlier run go when the next one starts,
and a run that ends without a verdict writes what ended it.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.markup import escape

from sim.shared import junit
from sim.shared.files import write_json
from sim.shared.junit import Case, Suite
from sim.shared.outcome import Outcome
from sim.shared.paths import RESULTS, shown

SUFFIXES = (".json", ".xml", ".csv", ".trace.json")


def verdict(passed: bool) -> str:
    """Return PASS or FAIL with its colour: the words that every front end ends with."""
    return "[bold green]PASS[/]" if passed else "[bold red]FAIL[/]"


def print_verdict(console: Console, passed: bool, text: str) -> None:
    """Print one line, or a few, that begin with PASS or FAIL; ``text`` is taken as it is."""
    console.print(f"{verdict(passed)}  {escape(text)}", soft_wrap=True)


class ResultFiles:
    """The result files of one run of a front end, from its start to its end.

    Use it as a context: it removes what an earlier run left, and sees that the present one leaves
    its files also when it ends early.

    Args:
        name: of the files, without suffix.
        folder: where they go.
        head: begins the JSON, e.g. the simulator; also of a run that ended early. ``design`` in
            it becomes properties of the JUnit XML, too.
    """

    def __init__(self, name: str, folder: Path = RESULTS, **head: Any) -> None:
        self.name = name
        self.folder = folder
        self.head = dict(head)
        self._errors: list[str] = []
        self._finished = False

    def path(self, suffix: str) -> Path:
        """Return the file with this suffix, e.g. ``.csv``."""
        return self.folder / f"{self.name}{suffix}"

    def __enter__(self) -> ResultFiles:
        self.folder.mkdir(parents=True, exist_ok=True)
        for suffix in SUFFIXES:
            self.path(suffix).unlink(missing_ok=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._finished:
            return
        if isinstance(error, KeyboardInterrupt):
            outcome, text = Outcome.INTERRUPTED, "interrupted"
        else:
            outcome = Outcome.ERROR
            text = str(error) or type(error).__name__ if error else "ended without a verdict"
        self._write(outcome, {"error": text}, [Suite(self.name, [Case("run", outcome, text)])])

    def attempt(self, path: Path, write: Callable[[Path], object]) -> None:
        """Write one more file; that it cannot be written is told, and spares the others."""
        try:
            write(path)
        except OSError as error:
            line = f"{shown(path)}: {error.strerror or error}"
            print(f"error: {line}", file=sys.stderr)
            self._errors.append(line)

    def finish(
        self,
        console: Console,
        passed: bool,
        text: str,
        figures: Mapping[str, Any],
        suites: Sequence[Suite],
    ) -> int:
        """Write the files, print the verdict, and return the exit code.

        A test case that did not pass makes the verdict FAIL; a verdict of FAIL is a case of its
        own when no other case says so.

        Args:
            console: where to print.
            passed: whether all is well, as far as the caller knows.
            text: follows the verdict.
            figures: for the JSON.
            suites: for the JUnit XML.

        Returns:
            0 when it passed, 1 when not, 2 when a file could not be written.
        """
        bad = any(case.outcome.bad for suite in suites for case in suite.cases)
        outcome = Outcome.of(passed and not bad)
        if outcome.bad and not bad:
            suites = [*suites, Suite(self.name, [Case("verdict", outcome, text)])]
        self._finished = True
        self._write(outcome, figures, suites)
        if self._errors:
            text += f"; {'; '.join(self._errors)}"
        passed = outcome is Outcome.PASSED and not self._errors
        print_verdict(console, passed, f"{text}; {shown(self.path(''))}.json and .xml")
        return 2 if self._errors else 0 if passed else 1

    def _write(self, outcome: Outcome, figures: Mapping[str, Any], suites: Sequence[Suite]) -> None:
        """Write both files; none is greener than the exit code when another cannot be written."""
        self._write_both(outcome, figures, suites, self.attempt)
        if self._errors:
            case = Case("result files", Outcome.ERROR, "\n".join(self._errors))
            suites = [*suites, Suite(self.name, [case])]
            figures = {**figures, "error": "; ".join(self._errors)}
            self._write_both(Outcome.ERROR, figures, suites, _try_again)

    def _write_both(
        self,
        outcome: Outcome,
        figures: Mapping[str, Any],
        suites: Sequence[Suite],
        attempt: Callable[[Path, Callable[[Path], object]], None],
    ) -> None:
        passed = outcome is Outcome.PASSED
        data = {**self.head, **figures, "passed": passed, "outcome": outcome.value}
        stamp = {f"design.{name}": str(value) for name, value in data.get("design", {}).items()}
        stamped = [replace(suite, properties={**suite.properties, **stamp}) for suite in suites]
        attempt(self.path(".xml"), lambda path: junit.write(path, stamped))
        attempt(self.path(".json"), lambda path: write_json(path, data))


def _try_again(path: Path, write: Callable[[Path], object]) -> None:
    with contextlib.suppress(OSError):
        write(path)
