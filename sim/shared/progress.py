"""Progress of a simulation: a live bar on a terminal, a few plain lines elsewhere."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from sim.shared.results import verdict


class ProgramProgress:
    """Counts finished programs; failures are shown at once in either form.

    Args:
        console: where to show it.
        title: what runs, e.g. the simulator's name.
        total: programs to come.
        quiet: show nothing.
    """

    def __init__(self, console: Console, title: str, total: int, quiet: bool = False) -> None:
        self.console = console
        self.title = title
        self.total = total
        self.quiet = quiet
        self.done = 0
        self.cycles = 0
        self._bar: Progress | None = None
        if console.is_terminal and not quiet:
            self._bar = Progress(
                TextColumn("[progress.description]{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.fields[note]}"),
                console=console,
                transient=True,
            )
            self._task = self._bar.add_task(title, total=total, note="")

    def __enter__(self) -> ProgramProgress:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar:
            self._bar.stop()

    def finished(self, name: str, passed: bool, cycles: int) -> None:
        """Record the end of one program, which took ``cycles`` clock cycles."""
        self.done += 1
        self.cycles += cycles
        if self.quiet:
            return
        if not passed:
            self.console.print(f"  {escape(name)}: {verdict(False)}", highlight=False)
        if self._bar:
            self._bar.update(self._task, completed=self.done, note=f"{self.cycles:,} cycles")
        elif self.done % self._stride() == 0 or self.done == self.total:
            self.console.print(
                f"  {self.title}: {self.done}/{self.total} programs, {self.cycles:,} cycles",
                highlight=False,
            )

    def _stride(self) -> int:
        """Programs between two plain lines: about six lines a run."""
        return max(1, -(-self.total // 6))
