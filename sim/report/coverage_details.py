"""Page of coverage: every bin, the annotated source, what is left out, what was played."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from sim.report.page import Bins, Block, Cell, Fold, Line, Listing, Section, Table, count, percent


def details(data: dict[str, Any]) -> list[Section]:
    """Return the parts of the page."""
    code = data["code"]
    parts = [bins(data["functional"])]
    if code:
        parts += [source(code), left_out(code["exclusions"])]
    return [*parts, simulations(data["runs"])]


def bins(functional: dict[str, Any]) -> Section:
    """Return every bin with the number of programs that hit it."""
    alone = "".join(f"; {sim} alone {share}%" for sim, share in functional["simulators"].items())
    lead = f"Bins of the test plan, with the number of passing programs that hit each{alone}."
    blocks = []
    for name, point in functional["points"].items():
        cells = [
            Cell(f"{bin_} {hits:,}", "good" if hits else "bad")
            for bin_, hits in point["hits"].items()
        ]
        cells += [
            Cell(f"{bin_}: left out, {reason}", "missing")
            for bin_, reason in point["excluded"].items()
        ]
        share = f"{percent(point['percent'])} of {count(point['bins'], 'bin')}"
        text = f"{name}: {share}; {point['about']}"
        blocks.append(Fold(text, [Bins(cells)], open=bool(point["holes"])))
    state, figure = met(functional), percent(functional["percent"], 2)
    note = f"{functional['hit']:,} of {count(functional['bins'], 'bin')}"
    return Section("bins", "Every bin", state, figure, note, lead, blocks)


def met(figure: dict[str, Any]) -> Any:
    """Return the state of a figure against its goal."""
    goal = figure.get("goal")
    return "info" if goal is None else "good" if figure["percent"] >= goal else "warn"


def source(code: dict[str, Any]) -> Section:
    """Return code coverage by file, and each file with what was counted in it."""
    kinds = list(code["kinds"])
    rows, folds = [], []
    for name, file in code["files"].items():
        figures = [file[kind] for kind in kinds]
        holes = sum(figure["total"] - figure["hit"] for figure in figures)
        excluded = sum(figure["excluded"] for figure in figures)
        shares = [percent(f["percent"]) if f["total"] else "" for f in figures]
        rows.append(
            (
                Cell(name, "mono", href=f"#{name}"),
                *shares,
                Cell(f"{holes:,}", "bad") if holes else "",
                f"{excluded:,}" if excluded else "",
            )
        )
        text = f"{name}: {count(holes, 'hole') if holes else 'no holes'}"
        folds.append(Fold(text, [listing(file)], open=bool(holes), id=name))
    table = Table(("file", *kinds, "holes", "left out"), rows, "<" + ">" * (len(kinds) + 2))
    lead = "Line and toggle counts add up all instances of a module."
    worst = min((met(kind) for kind in code["kinds"].values()), key=("warn", "good", "info").index)
    figure = percent(code["kinds"]["line"]["percent"], 2)
    blocks: list[Block] = [table, *folds]
    return Section("source", "Annotated source", worst, figure, "of lines ran", lead, blocks)


def listing(file: dict[str, Any]) -> Listing:
    """Return a file line by line: how often it ran, what was not covered, what is left out."""
    holes = defaultdict(list)
    for hole in file["holes"]:
        holes[hole["line"]].append(f"not covered: {hole['kind']} {hole['what']}".rstrip())
    lines = []
    for number, line in enumerate(file["lines"], start=1):
        out = [f"left out: {text}" for text in line.get("left_out", ())]
        style = "bad" if holes[number] else "missing" if out and not line.get("count") else ""
        notes = [*holes[number], *out]
        lines.append(Line(number, line["text"], line.get("count"), notes, style))
    return Listing(lines)


def left_out(exclusions: list[dict[str, Any]]) -> Section:
    """Return what code coverage does not count, with the reasons."""
    rows = [(Cell(e["what"], "mono"), e["reason"], str(e["items"])) for e in exclusions]
    items = sum(e["items"] for e in exclusions)
    lead = "An entry that selects nothing, or something that was covered, is an error."
    table = Table(("what", "why", "items"), rows, "<<>")
    note = f"left out of code coverage, {count(len(rows), 'entry', 'entries')}"
    title = "Left out"
    return Section("left-out", title, "info", count(items, "item"), note, lead, [table])


def simulations(runs: list[dict[str, Any]]) -> Section:
    """Return what was played."""
    rows = [
        (
            run["name"],
            run["simulator"],
            f"{run['programs']:,}",
            Cell(f"{run['failed']:,}", "bad" if run["failed"] else "soft"),
            f"{run['seconds']:,.1f}",
        )
        for run in runs
    ]
    table = Table(("workload", "simulator", "programs", "failed", "seconds"), rows, "<<>>>")
    failed = sum(run["failed"] for run in runs)
    programs = sum(run["programs"] for run in runs)
    return Section(
        "simulations",
        "Simulations",
        "bad" if failed else "good",
        f"{programs:,}",
        f"programs, {failed:,} failed",
        "Only programs that passed cover anything.",
        [table],
    )
