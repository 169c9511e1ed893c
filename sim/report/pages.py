"""Section: the block table of a decode, step by step."""

from __future__ import annotations

from typing import Any

from model.decode.page_table import PageTable, PagingError
from sim.report.decode import decodes, window_title
from sim.report.page import Block, Figure, Section, State, Text, count, design_text, missing
from sim.report.sources import Sources

ID, TITLE = "pages", "Block table"
LEAD = (
    "The key-value cache lives in pages of a shared pool. A column is a step, a tile "
    "is a physical page that the request holds, numbered by its place in the block table."
)
REQUEST = "decode"
Grid = list[list[int]]  # by step: physical pages in logical order


def section(sources: Sources) -> Section:
    """Return the section of block tables."""
    results = decodes(sources)
    studies = sources.result("studies")
    windows = results[0]["windows"] if results else {}
    replayed, wrong = decode_grids(results[0]) if results else ([], [])
    blocks: list[Block] = [*replayed, *([log_grid(studies["event_log"])] if studies else [])]
    if not blocks:
        return missing(
            ID, TITLE, LEAD, "Neither decode nor studies have run yet.", "make && make studies"
        )
    if replayed and not wrong:
        text = "The tables of the decode are replayed from page size, pool and window; their page "
        blocks.append(Text(text + "counts equal those recorded at every step."))
    problem = f"recorded page counts differ in {', '.join(wrong)}" if wrong else ""
    if wrong:
        blocks.insert(0, Text(f"{problem}.", "bad"))
    peaks = ", ".join(f"{window_title(n)} {w['peak_pages']}" for n, w in windows.items())
    figure_text = count(max((w["peak_pages"] for w in windows.values()), default=3), "page")
    note = f"at most; {peaks}" if peaks else "at most, in the event log"
    state: State = "bad" if wrong else "info"
    design = design_text(results[0]) if results else ""
    return Section(ID, TITLE, state, figure_text, note, LEAD, blocks, problem, design)


def decode_grids(result: dict[str, Any]) -> tuple[list[Figure], list[str]]:
    """Return a decode's block tables by window, and the windows with other page counts."""
    figures, wrong = [], []
    for name, window in result["windows"].items():
        size = None if name == "none" else int(name)
        try:
            tables, dropped = replay(len(window["steps"]), result["page"], result["pool"], size)
        except PagingError:  # the run ended for the same reason: there is nothing to show
            continue
        if [len(table) for table in tables] != [step["pages"] for step in window["steps"]]:
            wrong.append(window_title(name))
        figures.append(
            grid(
                f"pages-{name}",
                f"Decode with {window_title(name)}",
                "Stronger tiles hold later rows of the sequence. A full triangle is a cache that "
                "only grows; a short staircase is a window that gives pages back as it moves on.",
                tables,
                dropped,
                "at the start of step",
            )
        )
    return figures, wrong


def log_grid(log: list[dict[str, Any]]) -> Figure:
    """Return the block table after each step of the paging study's event log."""
    return grid(
        "pages-log",
        "Event log of the paging study: window of 6 rows, pages of 4, pool of 8",
        "A page leaves the table at the step whose window no longer needs any of its rows, "
        "and goes back to the free list, whence it returns for later rows: the same "
        "physical page then carries a higher number.",
        [entry["table"] for entry in log],
        [entry["dropped"] for entry in log],
        "after step",
    )


def replay(steps: int, page: int, pool: int, window: int | None) -> tuple[Grid, list[int]]:
    """Return the block table at the start of every step, and how many pages were dropped before.

    Raises:
        PagingError: the pool is too small.
    """
    table: PageTable[int] = PageTable(pool, page)
    table.new(REQUEST)
    tables, dropped = [], []
    for step in range(1, steps + 1):
        tables.append(list(table.table(REQUEST)))
        dropped.append(table.dropped(REQUEST))
        table.append(REQUEST, step)
        if window is not None:
            table.trim(REQUEST, max(0, step + 1 - window))
    return tables, dropped


def grid(
    id_: str, title: str, caption: str, tables: Grid, dropped: list[int], step_name: str
) -> Figure:
    """Return a map of physical pages by step."""
    used = max((page for table in tables for page in table), default=0) + 1
    places: list[list[int | None]] = [[None] * len(tables) for _ in range(used)]
    texts = [[""] * len(tables) for _ in range(used)]
    for step, (table, gone) in enumerate(zip(tables, dropped, strict=True)):
        for index, page in enumerate(table):
            places[page][step] = gone + index
            texts[page][step] = str(gone + index)
    heat: dict[str, Any] = {
        "type": "heatmap",
        "x": list(range(1, len(tables) + 1)),
        "y": [f"page {page}" for page in range(used)],
        "z": places,
        "text": texts,
        "texttemplate": "%{text}",
        "hovertemplate": step_name + " %{x}, physical %{y}<br>logical page %{z}<extra></extra>",
        "hoverongaps": False,
        "colorscale": [[0, "var(--scale-low)"], [1, "var(--scale-high)"]],
        "xgap": 2,
        "ygap": 2,
        "showscale": False,
    }
    layout = {
        "xaxis": {"title": {"text": step_name}, "showgrid": False, "zeroline": False},
        "yaxis": {"autorange": "reversed", "showgrid": False},
        "hovermode": "closest",
    }
    return Figure(id_, title, caption, [heat], layout, height=110 + 30 * used)
