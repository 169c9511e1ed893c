"""Plain aligned tables, as wide as they need to be: a table must survive a pipe and a grep."""

from __future__ import annotations

from collections.abc import Sequence


def format_table(rows: Sequence[Sequence[str]], align: str) -> str:
    """Align columns, two blanks apart.

    Args:
        rows: the first is the heading; all as long as ``align``.
        align: one letter a column, ``<`` or ``>``.
    """
    widths = [max(len(row[column]) for row in rows) for column in range(len(align))]
    return "\n".join(
        "  ".join(
            f"{cell:{side}{width}}" for cell, side, width in zip(row, align, widths, strict=True)
        ).rstrip()
        for row in rows
    )
