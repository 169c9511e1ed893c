"""What a query sees: a sliding window that counts the query itself, and sinks that always stay."""

from __future__ import annotations

from dataclasses import dataclass

from model.errors import ParameterError, check_int


@dataclass(frozen=True)
class Visible:
    """The rows a query attends: the last W - S ones and the first S, positions counted from 0.

    window: W, None for no limit; sinks: S, which needs a window above it. Raises ParameterError.
    """

    window: int | None = None
    sinks: int = 0

    def __post_init__(self) -> None:
        if self.window is None:
            if self.sinks != 0:
                raise ParameterError("sinks", self.sinks, "0 without a window")
            return
        check_int("window", self.window, 1)
        check_int("sinks", self.sinks, 0, self.window - 1)

    def context(self, query: int) -> int:
        """Rows that a query sees, itself included: min(query + 1, W)."""
        check_int("query", query, 0)
        return query + 1 if self.window is None else min(query + 1, self.window)

    def rows(self, query: int) -> list[int]:
        """Positions that a query sees, ascending, itself last."""
        recent = range(min(query, self.keep_from(query)), query + 1)
        return [*range(min(self.sinks, recent.start)), *recent]

    def keep_from(self, length: int) -> int:
        """First row beyond the sinks that query ``length`` or a later one sees."""
        check_int("length", length, 0)
        return 0 if self.window is None else max(0, length + 1 - (self.window - self.sinks))

    def pages(self, length: int, page_rows: int) -> list[int]:
        """Logical pages to keep once ``length`` rows are written, ascending."""
        first = self.keep_from(length) // page_rows
        written = -(-length // page_rows)
        return [page for page in range(written) if page * page_rows < self.sinks or page >= first]


EVERYTHING = Visible()
