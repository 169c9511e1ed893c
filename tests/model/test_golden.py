"""Every figure of the decode workload, step by step, against recorded data."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model.chip.machine import Machine
from model.decode.workload import DecodeRun, compile_decode

GOLDEN = Path(__file__).parents[1] / "golden"
CASES = [
    (name, window)
    for name in ("windowed_decode", "random_decode")
    for window in json.loads((GOLDEN / f"{name}.json").read_text())["windows"]
]


def golden(name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((GOLDEN / f"{name}.json").read_text())
    return data


def run_of(data: dict[str, Any], window: str) -> DecodeRun:
    return compile_decode(
        model=data["model"],
        seed=data.get("seed", 1),
        start=data["start"],
        window=None if window == "None" else int(window),
        steps=len(data["windows"][window]["steps"]),
        page=data["page"],
        pool=data["n_pages"],
    )


def memory_sha(words: np.ndarray[Any, Any]) -> str:
    """SHA-256 of 8,192 little-endian 32-bit words."""
    memory = np.zeros(8192, dtype="<u4")
    memory[: words.size] = words
    return hashlib.sha256(memory.tobytes()).hexdigest()


@pytest.mark.parametrize(("name", "window"), CASES)
def test_every_step_of_a_decode_run(name: str, window: str) -> None:
    data = golden(name)
    recorded = data["windows"][window]
    run = run_of(data, window)
    assert run.tokens == recorded.get("tokens", recorded.get("tokens_fed"))
    assert run.peak_pages == recorded["peak_pages"]
    assert run.total_cycles == recorded["total"]
    assert len(run.steps) == len(recorded["steps"])
    for step, want in zip(run.steps, recorded["steps"], strict=True):
        got: dict[str, Any] = asdict(step.counters) | {
            "step": step.step,
            "ctx": step.ctx,
            "pages": step.pages_in_use,
            "tok": step.token,
            "logits_int": step.logits,
            "k_new_int": step.k_new,
            "v_new_int": step.v_new,
        }
        if "init_sha" in want:
            got["init_sha"] = memory_sha(step.image)
            got["final_sha"] = memory_sha(Machine().run(step.program, step.image).ext)
        assert got == want, f"window {window} step {step.step}"


# window, programs, total, cycles of steps 1 4 8 9 12 16 24 32, pages after 1 8 16 and at 32, peak
FIGURES: list[tuple[int | None, int, int, list[int], list[int], int]] = [
    (None, 32, 268_346, [7000, 7259, 7615, 7734, 7971, 8327, 9039, 9751], [1, 2, 4, 8], 8),
    (8, 8, 241_286, [7000, 7259, *[7615] * 6], [1, 2, 2, 2], 3),
    (4, 4, 231_792, [7000, *[7259] * 7], [1, 1, 1, 1], 2),
]


@pytest.mark.parametrize(("window", "programs", "total", "cycles", "pages", "peak"), FIGURES)
def test_figures_of_the_manual(
    window: int | None, programs: int, total: int, cycles: list[int], pages: list[int], peak: int
) -> None:
    run = compile_decode(window=window)
    assert run.programs == programs == len({tuple(step.program) for step in run.steps})
    assert run.total_cycles == total
    at = {step.step: step for step in run.steps}
    assert [at[number].counters.total for number in (1, 4, 8, 9, 12, 16, 24, 32)] == cycles
    assert [at[number].pages_in_use for number in (2, 9, 17, 32)] == pages
    assert run.peak_pages == peak == run.params.peak_pages
    assert at[1].counters.mm == 4040


def test_programs_and_images_are_the_same_bits_everywhere() -> None:
    """Floating point must not depend on the Python version, a BLAS or the processor."""
    digest = hashlib.sha256()
    for model, seed, start in (("structured", 1, 0), ("random", 2, 3), ("random", 7, 15)):
        for window in (None, 8, 4):
            for step in compile_decode(model, seed, start, window).steps:
                digest.update(b"".join(word.to_bytes(16, "little") for word in step.program))
                digest.update(step.image.astype("<u4").tobytes())
    recorded = json.loads((GOLDEN / "decode_digest.json").read_text())
    assert digest.hexdigest() == recorded["sha256"]
