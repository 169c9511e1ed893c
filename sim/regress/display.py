"""The terminal: a live display where there is a terminal, plain lines where there is none."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TextIO

from rich.console import Console, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from sim.regress.buckets import Bucket, first_failure, likeness
from sim.regress.progress import Progress
from sim.regress.records import JobRecord
from sim.regress.reports import CHANGED, failure_lines

PLAIN_SECONDS = 10.0
ALIKE = 3  # failures of one look that are shown as they come; the end counts them all
RECENT_FAILURES = 5


def clock(seconds: float | None) -> str:
    """Return a duration in seconds as ``m:ss`` or ``h:mm:ss``, ``-:--`` for None."""
    if seconds is None:
        return "-:--"
    whole = round(seconds)
    hours, rest = divmod(whole, 3600)
    if hours:
        return f"{hours}:{rest // 60:02}:{rest % 60:02}"
    return f"{rest // 60}:{rest % 60:02}"


def short(value: float) -> str:
    """Return a number with three significant digits and k, M or G."""
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= limit:
            return f"{value / limit:.3g} {unit}"
    return f"{value:.3g} "


def status_line(progress: Progress) -> str:
    """Return the state of a regression in one line."""
    programs, cycles = progress.rates()
    return (
        f"{progress.done}/{progress.total} done, {progress.failed} failed, "
        f"{progress.running} running, ETA {clock(progress.eta())}, "
        f"{short(programs)}programs/s, {short(cycles)}cycles/s"
    )


def failure_line(record: JobRecord) -> str:
    """Return one line on a job that did not pass."""
    return f"{record.status.upper()} {record.id}: {first_failure(record).message}"


class View(Protocol):
    """What the regression tells while it runs."""

    def say(self, text: str) -> None:
        """Show a line that stays."""

    def start(self, progress: Progress) -> None:
        """Begin to show progress."""

    def failure(self, record: JobRecord) -> None:
        """Show a job that did not pass."""

    def tick(self, progress: Progress) -> None:
        """Show progress; called about ten times a second."""

    def end(self, progress: Progress) -> None:
        """Show progress for the last time."""


class PlainView:
    """Lines: failures as they come, progress every ten seconds. Made for logs of CI systems."""

    def __init__(self, stream: TextIO | None = None, interval: float = PLAIN_SECONDS) -> None:
        self._stream = stream or sys.stdout
        self._interval = interval
        self._last = 0.0
        self._alike: Counter[tuple[str, str, str]] = Counter()

    def say(self, text: str) -> None:
        """Print the line."""
        print(text, file=self._stream, flush=True)

    def start(self, progress: Progress) -> None:
        """Print how much there is to do."""
        left = progress.total - progress.done
        self.say(f"{left} jobs to run, {progress.slots} at a time")
        self._last = time.monotonic()

    def failure(self, record: JobRecord) -> None:
        """Print the failure, unless enough of its look were printed."""
        look = likeness(first_failure(record))
        self._alike[look] += 1
        if self._alike[look] <= ALIKE:
            self.say(failure_line(record))
        if self._alike[look] == ALIKE + 1:
            self.say("more of these are counted at the end")

    def tick(self, progress: Progress) -> None:
        """Print the state when the last time is long enough ago."""
        if time.monotonic() - self._last >= self._interval:
            self._last = time.monotonic()
            self.say(status_line(progress))

    def end(self, progress: Progress) -> None:
        """Print the final state."""
        self.say(status_line(progress))


class LiveView:
    """A bar and a table that rich redraws in place, with the latest failures below."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console()
        self._live: Live | None = None
        self._recent: list[str] = []
        self._drawn = 0.0

    def say(self, text: str) -> None:
        """Print the line above the display."""
        # Commands must stay one line, to be copied.
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def start(self, progress: Progress) -> None:
        """Show the display. It is drawn from ``tick``, so no thread of rich competes with us."""
        self._live = Live(
            self.render(progress), console=self._console, auto_refresh=False, transient=False
        )
        self._live.start(refresh=True)

    def failure(self, record: JobRecord) -> None:
        """Keep the latest failures for the display."""
        self._recent = [*self._recent, failure_line(record)][-RECENT_FAILURES:]

    def tick(self, progress: Progress) -> None:
        """Redraw, four times a second at most."""
        if self._live and time.monotonic() - self._drawn >= 0.25:
            self._drawn = time.monotonic()
            self._live.update(self.render(progress), refresh=True)

    def end(self, progress: Progress) -> None:
        """Draw the final state and leave it on the screen."""
        if self._live:
            self._live.update(self.render(progress), refresh=True)
            self._live.stop()
            self._live = None

    def render(self, progress: Progress) -> Table:
        """Return what is drawn."""
        programs, cycles = progress.rates()
        table = Table.grid(padding=(0, 3))
        cells = [
            Text(f"{progress.done}/{progress.total} done", "bold"),
            Text(f"{progress.failed} failed", "bold red" if progress.failed else "green"),
            Text(f"{progress.running} running"),
            Text(f"ETA {clock(progress.eta())}"),
            Text(f"{short(programs)}programs/s"),
            Text(f"{short(cycles)}cycles/s"),
        ]
        table.add_row(*cells)
        style = "red" if progress.failed else "green"
        bar = ProgressBar(progress.total, progress.done, complete_style=style)
        failures = [Text(line, "red", no_wrap=True, overflow="ellipsis") for line in self._recent]
        # In a group the bar would not end its line.
        frame = Table.grid(expand=True)
        rows: list[RenderableType] = [bar, table, *failures]
        for row in rows:
            frame.add_row(row)
        return frame


def choose() -> View:
    """Return the live view on a terminal, else the plain one."""
    console = Console()
    return LiveView(console) if console.is_terminal else PlainView()


def closing(summary: Mapping[str, Any], buckets: Sequence[Bucket], folder: str) -> list[str]:
    """Return the last lines of a regression: buckets, totals, where the rest is."""
    lines = failure_lines(buckets)
    if summary["changed"]:
        lines.append(CHANGED + ", ".join(summary["changed"]))
    missing = f", {summary['missing']} not run" if summary["missing"] else ""
    again = summary["rerun_after_loss"]
    lost = f", {again} run again after a lost worker" if again else ""
    lines.append(
        f"{str(summary['verdict']).upper()}: {summary['passed']} passed, {summary['failed']} failed"
        f"{missing}{lost}; {summary['programs']} programs, {summary['cycles']} cycles "
        f"in {summary['seconds']:.1f} s"
    )
    lines.append(f"results in {folder}")
    return lines
