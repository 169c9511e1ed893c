"""Measure the trained model on text that it has never seen (``make evaluate``).

In float and in the chip's integers, under every window with and without sinks, with a cache of
int4; and which operand values it brings to the units.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

from model.studies import trained as study
from model.trained.files import DATA
from sim.shared.cli import Parser, run
from sim.shared.files import read_json
from sim.shared.junit import Case, Suite
from sim.shared.outcome import Outcome
from sim.shared.paths import RESULTS
from sim.shared.results import ResultFiles
from sim.shared.table import format_table
from sim.trained.operands import Operands, random_operands, trained_operands

KINDS = ("trained", "trained-window16")
INT4 = "trained-int4"
INT4_SETTINGS = [(window, 0) for window in study.WINDOWS]
CHIP_TOLERANCE = 0.05  # bits per character between float and int8
CONTEXTS = (4, 8, 16, 32, 64)
OPERAND_STEPS = 12
OPERAND_PROGRAMS = 600


def main(arguments: list[str] | None = None) -> int:
    """Measure all; return 0 if the chip is as near to float as it should be."""
    parser = Parser(prog="evaluate", description=__doc__)
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the result files")
    options = parser.parse_args(arguments)
    with ResultFiles("trained", options.results) as files:
        return evaluate(options, files)


def evaluate(_: argparse.Namespace, files: ResultFiles) -> int:
    """Do it all; return the exit code."""
    console = Console(highlight=False)
    begin = time.monotonic()
    training = read_json(DATA / "training.json") or {}
    wanted = [(kind, *setting) for kind in KINDS for setting in study.settings()]
    wanted += [(INT4, *setting) for setting in INT4_SETTINGS]
    rows = [row(*each) for each in track(wanted, "decoding", console=console, transient=True)]
    costs = {kind: study.costs(kind, CONTEXTS) for kind in ("trained", INT4)}
    operands = {
        "trained": trained_operands((KINDS[0], INT4), OPERAND_STEPS),
        "random": random_operands(OPERAND_PROGRAMS),
    }
    show(console, training, rows, costs, operands)
    figures = {
        "baselines": {"uniform": training.get("uniform"), "n_grams": training.get("n_grams")},
        "rows": rows,
        "costs": {kind: [asdict(cost) for cost in found] for kind, found in costs.items()},
        "operands": {name: operands_json(found) for name, found in operands.items()},
    }
    worst = max(r["integer"]["bits"] - r["float"]["bits"] for r in rows if r["model"] != INT4)
    return files.finish(
        console,
        True,
        f"{len(rows)} ways to decode {study.held_out()[:, 1:].size:,} characters, int8 at most "
        f"{worst:.3f} bits from float, {time.monotonic() - begin:.0f} s",
        figures,
        [Suite("trained", [*map(case, rows)])],
    )


def row(kind: str, window: int | None, sinks: int) -> dict[str, Any]:
    """Measure one way to decode, and compare its first stream with the machine."""
    return {
        "model": kind,
        "window": window,
        "sinks": sinks,
        "float": asdict(study.measure(kind, "float", window, sinks)),
        "integer": asdict(study.measure(kind, "integer", window, sinks)),
        "machine": study.equals_machine(kind, window, sinks),
    }


def case(found: dict[str, Any]) -> Case:
    """Judge one row: near to float where it is int8, and equal to the machine."""
    away = found["integer"]["bits"] - found["float"]["bits"]
    near = found["model"] == INT4 or abs(away) <= CHIP_TOLERANCE
    name = f"{found['model']} window {found['window'] or 'none'} sinks {found['sinks']}"
    why = f"{away:+.3f} bits from float"
    if not found["machine"]:
        why = "other integers than the programs on the machine"
    return Case(name, Outcome.of(near and found["machine"]), why)


def operands_json(found: Operands) -> dict[str, Any]:
    """Return figures of operands for the result file; bins as ``point/bin``."""
    bins = sorted(f"{point}:{name}" for point, name in found.bins)
    return {"programs": found.programs, "matrix": found.matrix.tolist(), "bins": bins}


def show(
    console: Console,
    training: dict[str, Any],
    rows: Sequence[dict[str, Any]],
    costs: dict[str, list[study.Cost]],
    operands: dict[str, Operands],
) -> None:
    """Print everything as tables."""
    console.print("bits per character; first choice as with full attention; error of the logits")
    table = [
        ("model", "window", "sinks", "float", "chip", "apart", "agree", "chip agrees", "error")
    ]
    for r in rows:
        real, chip = r["float"], r["integer"]
        table.append(
            (
                r["model"],
                str(r["window"] or "none"),
                str(r["sinks"]),
                f"{real['bits']:.4f}",
                f"{chip['bits']:.4f}",
                f"{chip['bits'] - real['bits']:+.4f}",
                f"{real['agreeing'] / real['predictions']:.1%}",
                f"{chip['agreeing'] / chip['predictions']:.1%}",
                f"{real['error']:.1%}",
            )
        )
    console.print(format_table(table, "<" + ">" * 8), soft_wrap=True)
    base = [("baseline", "bits", "counts")]
    if training:
        base.append(("uniform", f"{training['uniform']:.4f}", "0"))
        for gram in training["n_grams"]:
            base.append((f"{gram['order']}-gram", f"{gram['bits']:.4f}", f"{gram['counts']:,}"))
    console.print(format_table(base, "<>>"), soft_wrap=True)
    cost = [["model", "context", "cycles", "mm", "dma", "vec", "loaded", "unpacked", "cache words"]]
    for kind, found in costs.items():
        for c in found:
            counted = (c.counters.total, c.counters.mm, c.counters.dma, c.counters.vec)
            numbers = [f"{n:,}" for n in (*counted, c.loaded, c.unpacked, c.cache_words)]
            cost.append([kind, str(c.context), *numbers])
    console.print(format_table(cost, "<" + ">" * 8), soft_wrap=True)
    for name, met in operands.items():
        other = operands["random" if name == "trained" else "trained"]
        values = int((met.matrix > 0).sum())
        console.print(
            f"operands, {name}: {met.programs} programs, {values} of 256 values in MM, "
            f"{len(met.bins):,} value bins, {len(met.bins - other.bins):,} of them only here"
        )


if __name__ == "__main__":
    run("evaluate", main)
