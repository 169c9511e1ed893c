"""Progress of a campaign: a live bar on a terminal, a few plain lines elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

PLAIN_LINES = 5


class Stage:
    """One stage under way."""

    def __init__(self, console: Console, title: str, total: int, bar: Progress | None) -> None:
        self.console = console
        self.title = title
        self.total = total
        self.counts: Counter[str] = Counter()
        self.bar = bar
        self.task = bar.add_task(title, total=total, note="") if bar else None

    def advance(self, status: str) -> None:
        """Count one more mutant, with what became of it."""
        self.counts[status] += 1
        done = sum(self.counts.values())
        note = ", ".join(f"{n} {name}" for name, n in sorted(self.counts.items()) if name)
        if self.bar is not None and self.task is not None:
            self.bar.update(self.task, completed=done, note=note)
        elif done == self.total or done % max(1, -(-self.total // PLAIN_LINES)) == 0:
            self.console.print(f"  {self.title}: {done}/{self.total}  {note}", highlight=False)


class StageProgress:
    """Shows stages on a console; ``quiet`` shows nothing."""

    def __init__(self, console: Console, quiet: bool = False) -> None:
        self.console = Console(quiet=True) if quiet else console

    @contextmanager
    def stage(self, title: str, total: int) -> Iterator[Stage]:
        """Show one stage of ``total`` mutants while the block runs."""
        if not self.console.is_terminal:
            yield Stage(self.console, title, total, None)
            return
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[note]}"),
        )
        with Progress(*columns, console=self.console) as bar:
            yield Stage(self.console, title, total, bar)
