"""Step-and-compare: the first instruction that went wrong, with the values it worked on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from model.chip.isa import Instruction
from model.chip.machine import Machine
from verif.agents.control.observation import Observation
from verif.bins.dependencies import SPAD, Regions
from verif.bins.rows import Rows
from verif.env.compare import retire_rows
from verif.env.predictor import Prediction
from verif.items.result import Mismatch

# Retire records and the write log say which instruction; other mismatches are its consequences.
DECISIVE = ("retire", "traffic", "fault", "scratchpad", "memory")


def first_divergence(
    prediction: Prediction, seen: Observation, mismatches: Sequence[Mismatch]
) -> str:
    """Describe the earliest instruction that a mismatch blames; empty when none does."""
    named = [m for m in mismatches if m.kind in DECISIVE and m.pc is not None and m.instruction]
    wrong = [m.pc for m in named if m.kind == "retire" and m.pc is not None]
    if wrong and any(
        m.kind == "scratchpad" and m.pc is not None and m.pc < wrong[0] for m in named
    ):
        lost = lost_before(prediction, seen, wrong[0])
        named = [m for m in named if not overwritten(m, wrong[0], lost)]
    if not named:
        return ""
    first = min(named, key=lambda m: (m.pc, DECISIVE.index(m.kind)))
    assert first.pc is not None
    text = f"pc {first.pc} `{first.instruction}`: expected {first.expected}, got {first.got}"
    if prediction.item.restart_after is not None:
        return text  # in which of the two runs is not known
    values = operand_values(prediction, first.pc)
    return text + (f"; operands {values}" if values else "")


def overwritten(word: Mismatch, wrong: int, lost: frozenset[int]) -> bool:
    """Say whether a wrong word of the scratchpad is another's work than its last writer's.

    An instruction with a right retire record wrote what it should. A later one with a wrong record,
    the one at ``wrong``, wrote where it should not, unless its record follows from the word, which
    is among the ``lost`` then.
    """
    return (
        word.kind == "scratchpad"
        and word.pc is not None
        and word.pc < wrong
        and word.address not in lost
    )


def lost_before(prediction: Prediction, seen: Observation, pc: int) -> frozenset[int]:
    """Addresses of wrong words of the scratchpad from which the wrong record of ``pc`` follows.

    Empty when the instruction reads none of them, or when it would have left another record had
    they been wrong before it.
    """
    item = prediction.item
    completes = any(r.pc == pc and not r.fault for r in prediction.expected.retires)
    known = completes and item.restart_after is None
    if seen.spad is None or seen.retires is None or not known:
        return frozenset()
    regions = Regions.of(Rows.of([0], [0], [item.program[pc]]))
    at = np.arange(seen.spad.size)[:, None]
    reads = (
        (regions.memory[1:, 0] == SPAD) & (regions.low[1:, 0] <= at) & (at < regions.high[1:, 0])
    )
    words = np.flatnonzero(reads.any(axis=1) & (seen.spad != prediction.spad_after))
    machine = Machine(item.depth)
    machine.spad[:] = prediction.spad_before

    def spoil(now: int, instruction: Instruction) -> None:
        if now == pc and seen.spad is not None:
            machine.spad[words] = seen.spad[words]

    result = machine.run(item.program[: pc + 1], prediction.image, item.read_latency, spoil)
    want = retire_rows(result.retires)[-1]
    follows = bool((seen.retires == want).all(axis=1).any())
    return frozenset(words.tolist()) if follows else frozenset()


def operand_values(prediction: Prediction, pc: int) -> str:
    """Values that the instruction at ``pc`` reads, by the model, as text."""
    machine = Machine(prediction.item.depth)
    machine.spad[:] = prediction.spad_before
    texts: list[str] = []

    def stop_at(at: int, instr: Instruction) -> None:
        if at == pc:
            for name, values in machine.operands(instr).items():
                shown = np.array2string(values, threshold=32, separator=",", max_line_width=1000)
                texts.append(f"{name}={' '.join(shown.split())}")

    # No jumps: the program up to and with this instruction is all that comes before it.
    item = prediction.item
    machine.run(item.program[: pc + 1], prediction.image, item.read_latency, stop_at)
    return " ".join(texts)
