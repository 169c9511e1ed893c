"""Ranges of a trained model: seen once, on a text, for all contexts and windows together.

So the programs of a context are the same under every window, and a row of the cache can be read by
any of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from model.compiler.scales import largest_values
from model.decode.float_decode import (
    MAX_CONTEXT,
    Calibration,
    check_window,
    context_size,
    float_decode,
)
from model.trained.files import DATA
from model.trained.lm import TrainedLm
from model.trained.shape import SCORE_LIMIT, encode

# Full attention, and the shortest window that is measured: its softmax has few to choose from.
CALIBRATED_WINDOWS: Sequence[int | None] = (None, 4)


def calibrate_on_text(lm: TrainedLm, window: int | None, steps: int) -> Calibration:
    """Give every context that occurs the ranges of the calibration text. Raises ParameterError."""
    check_window(window, steps)
    by_name, tag_ranges = text_ranges(lm)
    contexts = range(1, context_size(steps, window) + 1)
    ranges = {n: [by_name[node.name] for node in lm.decode_graph(n).nodes] for n in contexts}
    return Calibration(window, steps, ranges, tag_ranges, calibration_tokens())


@lru_cache(maxsize=8)
def text_ranges(lm: TrainedLm) -> tuple[dict[str, float], dict[str, float]]:
    """Return the range of every tensor by name, and by tag. Scores have what the softmax reads."""
    by_name: dict[str, float] = {}
    tags: dict[str, float] = {}
    tokens = calibration_tokens()
    for window in CALIBRATED_WINDOWS:
        for run in float_decode(lm, window, MAX_CONTEXT, tokens[0].tolist(), tokens):
            for node, seen in zip(run.graph.nodes, largest_values(run.values), strict=True):
                by_name[node.name] = max(by_name.get(node.name, 0.0), seen)
                if node.tag is not None:
                    tags[node.tag] = max(tags.get(node.tag, 0.0), seen)
    tags["score"] = SCORE_LIMIT
    return by_name, tags


@lru_cache(maxsize=1)
def calibration_tokens() -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """Return the calibration text, a part of the training text, cut into streams: (64, S)."""
    text = encode((DATA / "calibration.txt").read_text(encoding="ascii"))
    return np.array(text, dtype=np.int64).reshape(-1, MAX_CONTEXT).T
