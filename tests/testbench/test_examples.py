"""The programs in examples/ do what their comments say."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from model.chip.assembler import assemble
from model.chip.fixed_point import requantize, softmax_q16
from model.chip.image import parse_hex
from model.chip.isa import FaultCode
from model.chip.machine import Machine, RunResult

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.asm"))


def run(name: str) -> tuple[np.ndarray, RunResult, np.ndarray]:
    """Run an example; return its image and the final external memory, both as int32."""
    image = parse_hex((EXAMPLES / f"{name}.hex").read_text())
    result = Machine().run(assemble((EXAMPLES / f"{name}.asm").read_text()), image)
    return image.view(np.int32).astype(np.int64), result, result.ext.view(np.int32)


@pytest.mark.parametrize("name", NAMES)
def test_the_header_states_the_cycles(name: str) -> None:
    stated = re.search(r"; total (\d+) cycles at latency 8", (EXAMPLES / f"{name}.asm").read_text())
    assert stated is not None
    assert run(name)[1].counters.total == int(stated[1])


def test_only_one_example_faults() -> None:
    faults = {name: run(name)[1].fault for name in NAMES}
    assert [n for n in NAMES if faults[n] != FaultCode.NONE] == ["overlap_fault"]


def test_copy() -> None:
    image, _, ext = run("copy")
    assert ext[32:40].tolist() == image[16:24].tolist()


def test_relu_layer() -> None:
    image, _, ext = run("relu_layer")
    x, w = image[:16].reshape(2, 8), image[16:80].reshape(8, 8)
    real = np.clip((x @ w) / 128, 0, 127)
    assert np.abs(ext[128:144].reshape(2, 8) - real).max() <= 0.5
    assert 0 < np.count_nonzero(ext[128:144]) < 16


def test_softmax_argmax() -> None:
    image, _, ext = run("softmax_argmax")
    assert ext[8:16].tolist() == softmax_q16(image).tolist()
    assert ext[16] == image.argmax() == 2


def test_int4_matmul() -> None:
    image, _, ext = run("int4_matmul")
    nibbles = [(int(word) >> 4 * j) % 16 for word in image[16:24] for j in range(8)]
    weights = np.array([n - 16 if n > 7 else n for n in nibbles]).reshape(4, 16)
    assert ext[32:36].tolist() == (weights @ image[:16]).tolist()


def test_attention() -> None:
    image, _, ext = run("attention")
    q, k, v = image[:16], image[16:64].reshape(3, 16), image[64:112].reshape(3, 16)
    scores = k @ q / 32 / 32 / 4
    weights = np.exp(scores - scores.max())
    real = weights @ v / weights.sum()
    # Scores are rounded to 1/16 and probabilities to 1/127: a few steps of 1/32 in the output.
    assert np.abs(ext[128:144] - real).max() < 6
    p = requantize(softmax_q16(requantize(k @ q, 1 << 23, 31)), 127 << 17, 33)
    assert np.abs(ext[128:144] - p @ v / 127).max() <= 0.5001


def test_overlap_fault() -> None:
    image, result, ext = run("overlap_fault")
    assert (result.fault, result.fault_pc) == (FaultCode.OVERLAP, 2)
    assert result.counters.n_inst == 2
    assert ext[:16].tolist() == image.tolist()
    assert not ext[16:].any()
