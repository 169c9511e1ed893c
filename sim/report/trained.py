"""Section: the trained model, what a window costs it, how it was trained, and its operands."""

from __future__ import annotations

from typing import Any

from model.trained.files import DATA
from sim.report.page import Block, Figure, Section, Table, Text, count, missing, percent
from sim.report.sources import Sources
from sim.shared.files import read_json

ID, TITLE = "trained", "Trained model"
LEAD = (
    "A character model of two layers, trained on the King James Bible, decodes text that it has "
    "never seen: in float, and in the integers that its programs compute on the chip."
)
MODELS = {
    "trained": ("trained on full attention", "var(--line-1)", "solid"),
    "trained-window16": ("trained on a window of 16", "var(--line-2)", "dash"),
}
INT4 = "trained-int4"
FULL = 64  # context without a window


def section(sources: Sources) -> Section:
    """Return the section of the trained model."""
    data = sources.result("trained")
    training = sources.result("train") or read_json(DATA / "training.json") or {}
    curves: list[Block] = [loss_figure(training)] if training.get("weights") else []
    if data is None:
        return missing(ID, TITLE, LEAD, "It was not measured yet.", "make evaluate", curves)
    rows = data["rows"]
    apart = max(abs(chip_apart(r)) for r in rows if r["model"] != INT4)
    blocks: list[Block] = [window_figure(data)]
    blocks += [measured_table(rows), baseline_table(data["baselines"]), cost_table(data["costs"])]
    blocks += [*curves, operand_figure(data["operands"]), operand_text(data["operands"])]
    full = next(r for r in rows if r["model"] == "trained" and r["window"] is None)
    return Section(
        ID,
        TITLE,
        "good" if data["passed"] else "bad",
        f"{full['integer']['bits']:.3f}",
        f"bits per character on the chip; int8 at most {apart:.3f} from float",
        LEAD,
        blocks,
        "" if data["passed"] else "the chip's integers are too far from float, or not its own",
    )


def chip_apart(row: dict[str, Any]) -> float:
    """Return how many bits per character the chip's integers lose against float."""
    return float(row["integer"]["bits"] - row["float"]["bits"])


def loss_figure(training: dict[str, Any]) -> Figure:
    """Return the loss over the steps of training, on the training and the validation text."""
    lines = []
    for index, (name, weights) in enumerate(training["weights"].items()):
        steps, trained, validated = zip(*weights["looks"], strict=True)
        colour = f"var(--line-{index + 1})"
        for what, values, dash in (
            ("training", trained, "dot"),
            ("validation", validated, "solid"),
        ):
            lines.append(
                {
                    "type": "scatter",
                    "mode": "lines+markers",
                    "marker": {"size": 5},
                    "name": f"{name}, {what}",
                    "x": list(steps),
                    "y": list(values),
                    "line": {"color": colour, "dash": dash, "width": 2.5},
                    "hovertemplate": "%{y:.3f}",
                }
            )
    return Figure(
        "trained-loss",
        "Loss while it was trained",
        "Bits per character by step. The validation text is not trained on; training ends early "
        "when it gets no better, and the best weights are kept.",
        lines,
        {
            "xaxis": {"title": {"text": "step"}},
            "yaxis": {"title": {"text": "bits per character"}},
            "hovermode": "x unified",
        },
    )


def window_figure(data: dict[str, Any]) -> Figure:
    """Return bits per character over the window, float and chip, for both sets of weights."""
    lines = []
    for model, (title, colour, dash) in MODELS.items():
        rows = [r for r in data["rows"] if r["model"] == model and not r["sinks"]]
        rows.sort(key=lambda r: r["window"] or FULL)
        for numbers, symbol in (("float", "circle"), ("integer", "square")):
            lines.append(
                {
                    "type": "scatter",
                    "mode": "lines+markers",
                    "name": f"{title}, {'chip' if numbers == 'integer' else 'float'}",
                    "x": [r["window"] or FULL for r in rows],
                    "y": [r[numbers]["bits"] for r in rows],
                    "line": {"color": colour, "dash": dash, "width": 2.5},
                    "marker": {"size": 8, "symbol": symbol},
                    "hovertemplate": "%{y:.3f}",
                }
            )
    ticks = [4, 8, 16, 32, FULL]
    return Figure(
        "trained-windows",
        "What a window costs",
        "Bits per character of the held-out text; fewer are better. Full attention reaches back "
        "64 characters. Circles are float, squares the chip's integers.",
        lines,
        {
            "xaxis": {
                "title": {"text": "window"},
                "type": "log",
                "tickvals": ticks,
                "ticktext": [*map(str, ticks[:-1]), "none"],
            },
            "yaxis": {"title": {"text": "bits per character"}},
            "hovermode": "x unified",
        },
    )


def measured_table(rows: list[dict[str, Any]]) -> Table:
    """Return one row for each way to decode."""
    found = []
    for r in rows:
        real, chip, total = r["float"], r["integer"], r["float"]["predictions"]
        found.append(
            [
                r["model"],
                str(r["window"] or "none"),
                str(r["sinks"]),
                f"{real['bits']:.3f}",
                f"{chip['bits']:.3f}",
                f"{chip_apart(r):+.3f}",
                percent(100 * real["agreeing"] / total),
                percent(100 * chip["agreeing"] / total),
                percent(100 * real["error"]),
            ]
        )
    head = ("model", "window", "sinks", "float", "chip", "apart", "agrees", "chip agrees", "error")
    return Table(
        head,
        found,
        "<" + ">" * 8,
        "Bits per character, first choices and logits",
        "A window counts its sinks. Agreement and error are against full attention in float with "
        "the same weights, as in the study of random models.",
    )


def baseline_table(baselines: dict[str, Any]) -> Table:
    """Return what models without a network reach on the same text."""
    rows = [["uniform", f"{baselines['uniform']:.3f}", "0"]]
    rows += [
        [f"{g['order']}-gram", f"{g['bits']:.3f}", f"{g['counts']:,}"] for g in baselines["n_grams"]
    ]
    head = ("baseline", "bits per character", "counts")
    return Table(head, rows, "<>>", "Baselines", "n-grams from the same training text.")


def cost_table(costs: dict[str, list[dict[str, Any]]]) -> Table:
    """Return cycles and memory of a step, with a cache of int8 and of int4."""
    rows = [
        [
            "int4" if model == INT4 else "int8",
            str(cost["context"]),
            *(f"{cost['counters'][name]:,}" for name in ("total", "mm", "dma", "vec")),
            f"{cost['loaded']:,}",
            f"{cost['unpacked']:,}",
            f"{cost['cache_words']:,}",
        ]
        for model, found in costs.items()
        for cost in found
    ]
    head = ("cache", "context", "cycles", "mm", "dma", "vec", "loaded", "unpacked", "cache words")
    return Table(head, rows, "<" + ">" * 8, "A step's cycles and memory")


def operand_figure(operands: dict[str, Any]) -> Figure:
    """Return how often each int8 value reaches the matrix unit, trained beside random."""
    lines = []
    for name, colour in (("trained", "var(--line-1)"), ("random", "var(--line-2)")):
        counts = operands[name]["matrix"]
        total = max(1, sum(counts))
        lines.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "line": {"color": colour, "width": 1.5},
                "marker": {"size": 4},
                "name": f"{name}, {count(operands[name]['programs'], 'program')}",
                "x": list(range(-128, 128)),
                "y": [100 * n / total for n in counts],
                "hovertemplate": "%{y:.3f}%",
            }
        )
    return Figure(
        "trained-operands",
        "Operand values of the matrix unit",
        "Share of all int8 operands by value, logarithmic. A network's values crowd around zero "
        "and are thin at the ends; random programs spread evenly and prefer the extremes.",
        lines,
        {
            "xaxis": {"title": {"text": "value"}},
            "yaxis": {"title": {"text": "% of operands"}, "type": "log"},
            "hovermode": "x unified",
        },
    )


def operand_text(operands: dict[str, Any]) -> Text:
    """Return which bins of values only one of the two hit."""
    bins = {name: set(found["bins"]) for name, found in operands.items()}
    only = bins["trained"] - bins["random"]
    points = sorted({name.split(":")[0] for name in only})
    return Text(
        f"Of the coverage bins of operand values, the trained network hits "
        f"{len(bins['trained']):,} and the random programs {len(bins['random']):,}; "
        f"{len(only):,} only the network ({', '.join(points) or 'none'}), "
        f"{len(bins['random'] - bins['trained']):,} only the random programs."
    )
