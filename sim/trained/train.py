"""Train the model's weights and compare their loss with the published one (``make train``)."""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from model.trained.corpus import PACKAGE, STREAM, Corpus, n_gram_bits
from model.trained.files import DATA
from model.trained.network import Floats
from model.trained.shape import VOCABULARY, encode
from model.trained.training import Settings, Training, mean_bits
from sim.shared.cli import Parser, integer, run
from sim.shared.errors import UsageError
from sim.shared.files import read_json, write_json, write_text
from sim.shared.junit import Case, Suite
from sim.shared.outcome import Outcome
from sim.shared.paths import BUILD, RESULTS
from sim.shared.results import ResultFiles
from sim.trained.text import corpus

WINDOWS: dict[str, int | None] = {"full": None, "window16": 16}
RECORD = "training.json"
ORDERS = range(1, 6)
TOLERANCE = 0.01  # of the published loss


def main(arguments: list[str] | None = None) -> int:
    """Train; return 0 if every loss is within 1% of the published one."""
    parser = Parser(prog="train", description=__doc__)
    parser.add_argument("--weights", default=" ".join(WINDOWS), help="which to train")
    parser.add_argument("--steps", type=integer, default=Settings.steps)
    parser.add_argument("--out", type=Path, default=BUILD / "train", help="where the files go")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the result files")
    options = parser.parse_args(arguments)
    names = options.weights.split()
    wrong = [name for name in names if name not in WINDOWS]
    if wrong or not names:
        raise UsageError(f"WEIGHTS={options.weights}: give some of {' '.join(WINDOWS)}")
    if options.steps < 1:
        raise UsageError(f"STEPS={options.steps}: must be at least 1")
    with ResultFiles("train", options.results) as files:
        return train(options, names, files)


def train(options: argparse.Namespace, names: list[str], files: ResultFiles) -> int:
    """Do it all; return the exit code."""
    console = Console(highlight=False)
    begin = time.monotonic()
    published = read_json(DATA / RECORD) or {}
    text = corpus(BUILD / "train")
    console.print(f"{PACKAGE}: {text.training.size:,} characters to train on")
    settings = replace(Settings(), steps=options.steps)
    held_out = np.array(encode(text.held_out)).reshape(-1, STREAM)
    record: dict[str, Any] = {
        "package": PACKAGE,
        "characters": text.training.size,
        "settings": asdict(settings),
        "uniform": float(np.log2(VOCABULARY)),
        "n_grams": [n_grams(text, held_out, order) for order in ORDERS],
        "weights": {},
    }
    options.out.mkdir(parents=True, exist_ok=True)
    cases = []
    for name in names:
        record["weights"][name] = found = train_one(console, text, name, settings, options.out)
        cases.append(case(console, name, found, published.get("weights", {}).get(name)))
    write_json(options.out / RECORD, record)
    write_text(options.out / "held_out.txt", text.held_out)
    write_text(options.out / "calibration.txt", text.calibration)
    return files.finish(
        console,
        bool(cases),
        f"{len(names)} trained in {time.monotonic() - begin:.0f} s, weights in {options.out}",
        record,
        [Suite("train", cases)],
    )


def n_grams(text: Corpus, held_out: NDArray[np.int64], order: int) -> dict[str, Any]:
    """Return the baseline of one order: bits per character, and how many counts it keeps."""
    bits, counts = n_gram_bits(text.training, held_out, order)
    return {"order": order, "bits": bits, "counts": counts}


def train_one(
    console: Console, text: Corpus, name: str, settings: Settings, out: Path
) -> dict[str, Any]:
    """Train one set of weights, write it, and return how it went."""
    training = Training(text, WINDOWS[name], settings)
    begin = time.monotonic()
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
        task = bar.add_task(name, total=settings.steps)
        for step, look in training.run():
            bar.update(task, completed=step)
            if look is not None:
                console.print(
                    f"  {name}: step {step:,}/{settings.steps:,}  training {look.training:.4f}, "
                    f"validation {look.validation:.4f} bits per character",
                    soft_wrap=True,
                )
    # As they are shipped: 11 significant bits are more than the chip's 8 will show.
    stored = {key: weight.astype(np.float16) for key, weight in training.best.items()}
    save(out / f"{name}.npz", stored)
    rounded = {key: weight.astype(np.float32) for key, weight in stored.items()}
    held_out = np.array(encode(text.held_out), dtype=np.uint8).reshape(-1, STREAM)
    return {
        "window": WINDOWS[name],
        "parameters": sum(weight.size for weight in stored.values()),
        "validation": training.validate(rounded),
        "held_out": mean_bits(rounded, held_out, training.bias),
        "stopped_early": training.stopped_early,
        "seconds": round(time.monotonic() - begin, 1),
        "looks": [[look.step, look.training, look.validation] for look in training.looks],
    }


def save(path: Path, arrays: dict[str, Floats]) -> None:
    """Replace a file of arrays in one step."""
    temporary = path.with_name(f".{path.name}")
    with temporary.open("wb") as stream:
        np.savez(stream, allow_pickle=False, **arrays)
    temporary.replace(path)


def case(
    console: Console, name: str, found: dict[str, Any], published: dict[str, Any] | None
) -> Case:
    """Compare a loss with the published one and say so."""
    loss = found["validation"]
    if published is None:
        console.print(f"{name}: validation {loss:.4f} bits per character; none is published")
        return Case(name, Outcome.PASSED, "", found["seconds"])
    away = loss / published["validation"] - 1
    line = f"validation {loss:.4f}, published {published['validation']:.4f}, {away:+.2%}"
    console.print(f"{name}: {line}")
    return Case(name, Outcome.of(abs(away) <= TOLERANCE), line, found["seconds"])


if __name__ == "__main__":
    run("train", main)
