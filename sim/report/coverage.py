"""Section: functional coverage by point, code coverage by file, and every hole."""

from __future__ import annotations

from typing import Any

from sim.report.coverage_details import details
from sim.report.page import (
    Block,
    Cell,
    Figure,
    Section,
    State,
    Table,
    Text,
    design_text,
    missing,
    percent,
)
from sim.report.sources import Sources

ID, TITLE = "coverage", "Coverage"
LEAD = (
    "Functional coverage counts the situations of the test plan that some passing program was in; "
    "code coverage is Verilator's, over the design only. Every hole is named."
)


def section(sources: Sources) -> Section:
    """Return the section of both coverages."""
    data = sources.result("coverage")
    if data is None:
        return missing(ID, TITLE, LEAD, "Coverage was not measured yet.", "make cov")
    failed = sum(run["failed"] for run in data["runs"])
    state: State = "good" if data["passed"] else "bad" if failed else "warn"
    functional, code = data["functional"], data.get("code")
    blocks: list[Block] = [Text(f"{problem}.", state) for problem in data["problems"]]
    blocks += [kinds_table(functional, code), points_figure(functional["points"])]
    holes = [
        (Cell(name, "mono"), Cell(str(hole), "mono"))
        for name, point in functional["points"].items()
        for hole in point["holes"]
    ]
    if holes:
        blocks.append(Table(("point", "bin never hit"), holes, "<<", "Functional holes"))
    if code:
        blocks.append(files_figure(code))
    note = f"{functional['hit']:,} of {functional['bins']:,} functional bins"
    if code:
        note += f"; {percent(code['kinds']['line']['percent'])} of lines"
    problem = "" if data["passed"] else f"coverage: {'; '.join(data['problems'])}"
    figure, design = percent(functional["percent"]), design_text(data)
    parts = details(data)
    return Section(ID, TITLE, state, figure, note, LEAD, blocks, problem, design, parts)


def kinds_table(functional: dict[str, Any], code: dict[str, Any] | None) -> Table:
    """Return one row a kind of coverage, against its goal."""
    kinds = {"functional": {"total": functional["bins"], **functional}}
    kinds |= code["kinds"] if code else {}
    rows = []
    for name, kind in kinds.items():
        goal = kind.get("goal")
        met = goal is None or kind["percent"] >= goal
        rows.append(
            (
                name,
                f"{kind['hit']:,}",
                f"{kind['total']:,}",
                Cell(percent(kind["percent"], 2), "good" if met else "warn", kind["percent"]),
                Cell("none" if goal is None else f"{goal:g}%", "soft" if goal is None else ""),
            )
        )
    return Table(("coverage", "covered", "of", "share", "goal"), rows, "<>>>>")


def points_figure(points: dict[str, Any]) -> Figure:
    """Return how often the bins of each point were hit: one mark a bin, on a logarithmic axis."""
    names, hits, labels, zero_x, zero_y, zero_labels = [], [], [], [], [], []
    for name, point in points.items():
        for bin_, hit in point["hits"].items():
            if hit:
                names.append(name)
                hits.append(hit)
                labels.append(bin_)
        for hole in point["holes"]:
            zero_x.append(0.5)
            zero_y.append(name)
            zero_labels.append(str(hole))
    marks: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": "bin that was hit",
            "x": hits,
            "y": names,
            "text": labels,
            "hovertemplate": "%{y}<br>%{text}: %{x:,} times<extra></extra>",
            "marker": {"color": "var(--mm)", "size": 7, "opacity": 0.55},
        }
    ]
    if zero_x:
        marks.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": "hole",
                "x": zero_x,
                "y": zero_y,
                "text": zero_labels,
                "hovertemplate": "%{y}<br>%{text}: never<extra></extra>",
                "marker": {"color": "var(--bad)", "symbol": "x", "size": 10},
            }
        )
    return Figure(
        "coverage-points",
        "How often each bin was hit",
        "One mark a bin, one row a coverage point. Marks far left rest on few programs: they are "
        "the next holes when the stimulus changes.",
        marks,
        {
            "xaxis": {"type": "log", "title": {"text": "times hit"}, "dtick": 1},
            "yaxis": {
                "range": [len(points) - 0.3, -0.7],
                "tickfont": {"size": 11},
                "dtick": 1,
                "type": "category",
                "categoryarray": list(points),
            },
            "showlegend": bool(zero_x),
            "hovermode": "closest",
        },
        height=max(300, 90 + 17 * len(points)),
    )


def files_figure(code: dict[str, Any]) -> Figure:
    """Return code coverage as a map of files and kinds."""
    kinds = list(code["kinds"])
    files = [
        name for name, file in code["files"].items() if any(file[kind]["total"] for kind in kinds)
    ]
    values = [
        [code["files"][f][k]["percent"] if code["files"][f][k]["total"] else None for k in kinds]
        for f in files
    ]
    texts = [
        [
            f"{code['files'][f][k]['percent']:.1f}" if code["files"][f][k]["total"] else ""
            for k in kinds
        ]
        for f in files
    ]
    counts = [
        [f"{code['files'][f][k]['hit']:,} of {code['files'][f][k]['total']:,}" for k in kinds]
        for f in files
    ]
    heat = {
        "type": "heatmap",
        "x": kinds,
        "y": files,
        "z": values,
        "text": texts,
        "customdata": counts,
        "texttemplate": "%{text}",
        "hovertemplate": "%{y}<br>%{x}: %{z:.2f}%, %{customdata}<extra></extra>",
        "colorscale": [
            [0, "var(--bad)"],
            [0.7, "var(--dma)"],
            [0.995, "var(--heat)"],
            [1, "var(--scale-low)"],
        ],
        "zmin": 50,
        "zmax": 100,
        "xgap": 3,
        "ygap": 3,
        "showscale": False,
    }
    return Figure(
        "coverage-files",
        "Code coverage by file, percent",
        "Warm colours are uncovered code; a blue tile is covered in full, no tile means that the "
        "file has nothing of the kind.",
        [heat],
        {
            "yaxis": {"autorange": "reversed", "showgrid": False},
            "xaxis": {"side": "top", "showgrid": False},
            "hovermode": "closest",
        },
        height=90 + 26 * len(files),
    )
