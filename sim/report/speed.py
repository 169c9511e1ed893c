"""Section: how fast the flow is, and what the regression engine costs."""

from __future__ import annotations

import math
from typing import Any

from sim.report.page import (
    DASH,
    Block,
    Cell,
    Figure,
    Missing,
    Section,
    State,
    Table,
    Text,
    design_text,
    missing,
    percent,
)
from sim.report.sources import Sources

ID, TITLE = "speed", "Speed"
LEAD = (
    "The same programs on the same design, in the pyuvm flow and in a plain SystemVerilog "
    "testbench, in turns. Ratios carry over to other machines, absolute figures do not."
)


def section(sources: Sources) -> Section:
    """Return the section of measured speeds."""
    bench, engine = sources.result("bench"), sources.result("bench-regress")
    if bench is None and engine is None:
        return missing(ID, TITLE, LEAD, "Speed was not measured yet.", "make bench bench-regress")
    blocks: list[Block] = []
    state: State = "info"
    figure, note, problem = DASH, "make bench measures it", ""
    if bench is None:
        blocks.append(Missing("The flow itself was not measured yet.", "make bench"))
    else:
        blocks += [rates_figure(bench), targets_table(bench["targets"])]
        ratio = bench["flows"]["verilator"]["pyuvm_to_plain_by_wall"]
        figure, note = f"{ratio:.2f}x", "of the plain testbench's speed, Verilator"
        missed = [name for name, t in bench["targets"].items() if not t["reached"]]
        state = "warn" if missed else "good"
        problem = f"speed below target: {'; '.join(missed)}" if missed else ""
    if engine is None:
        blocks.append(Missing("The regression engine was not measured yet.", "make bench-regress"))
    else:
        blocks.append(engine_table(engine))
    design = design_text(bench or {})
    return Section(ID, TITLE, state, figure, note, LEAD, blocks, problem, design)


def rates_figure(bench: dict[str, Any]) -> Figure:
    """Return cycles a second by flow and simulator, every round a mark, the best a bar."""
    names: list[str] = []
    rates: list[float] = []
    colours: list[str] = []
    for sim, flow in bench["flows"].items():
        for key, title, colour in (
            ("plain", "plain testbench", "var(--front)"),
            ("pyuvm", "pyuvm flow", "var(--mm)"),
        ):
            names.append(f"{sim}<br>{title}")
            rates.append(max(flow[key]["wall"]))
            colours.append(colour)
    names.append("model")
    rates.append(bench["model_cycles_per_second"])
    colours.append("var(--vec)")
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": rates,
        "y": names,
        "text": [f"{rate:,.0f}" for rate in rates],
        "textposition": "auto",
        "marker": {"color": colours},
        "hovertemplate": "%{x:,.0f} cycles/s<extra></extra>",
    }
    return Figure(
        "speed-rates",
        "Simulated cycles a second",
        "Logarithmic axis, best of the rounds. The pyuvm flow is as good as a bare testbench when "
        "both bars of a simulator end together.",
        [bars],
        {
            "xaxis": {
                "type": "log",
                "title": {"text": "cycles a second"},
                "dtick": 1,
                # Bars of a logarithmic axis start somewhere: a decade below the shortest.
                "range": [math.floor(math.log10(min(rates))) - 1, math.log10(max(rates)) + 0.1],
            },
            "yaxis": {"autorange": "reversed"},
            "showlegend": False,
            "hovermode": "closest",
        },
        height=110 + 48 * len(names),
    )


def targets_table(targets: dict[str, Any]) -> Table:
    """Return what was aimed at, and what came out."""
    rows = [
        (
            name,
            f"{target['target']:g}",
            f"{target['measured']:.2f}",
            Cell("reached", "good") if target["reached"] else Cell("missed", "warn"),
        )
        for name, target in targets.items()
    ]
    return Table(("target", "aim", "measured", "verdict"), rows, "<>><", title="Targets")


def engine_table(engine: dict[str, Any]) -> Table | Text:
    """Return the cost of the regression engine, as far as it was measured."""
    rows: list[tuple[str, str]] = []
    if noop := engine.get("noop"):
        rows.append((f"{noop['jobs']:,} empty jobs, ms each", f"{noop['ms_per_job']:.2f}"))
    if over := engine.get("overhead"):
        rows.append(("overhead against a bare shell loop", percent(over["overhead_percent"])))
    for key, value in engine.items():
        if key not in ("noop", "overhead") and isinstance(value, dict):
            for name, figure in value.items():
                if isinstance(figure, (int, float)) and not isinstance(figure, bool):
                    rows.append((f"{key}: {name.replace('_', ' ')}", f"{figure:,.2f}"))
    return Table(("regression engine", "figure"), rows, "<>") if rows else Text("No figures.")
