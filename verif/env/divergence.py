"""Step-and-compare: the first instruction that went wrong, with the values it worked on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from model.chip.isa import Instruction
from model.chip.machine import Machine
from verif.bins.dependencies import SPAD, Regions
from verif.bins.rows import Rows
from verif.env.predictor import Prediction
from verif.items.result import Mismatch

# Retire records and the write log say which instruction; other mismatches are its consequences.
DECISIVE = ("retire", "traffic", "fault", "scratchpad", "memory")


def first_divergence(prediction: Prediction, mismatches: Sequence[Mismatch]) -> str:
    """Describe the earliest instruction that a mismatch blames; empty when none does."""
    named = [m for m in mismatches if m.kind in DECISIVE and m.pc is not None and m.instruction]
    named = [m for m in named if not overwritten(prediction, m, named)]
    if not named:
        return ""
    first = min(named, key=lambda m: (m.pc, DECISIVE.index(m.kind)))
    assert first.pc is not None
    text = f"pc {first.pc} `{first.instruction}`: expected {first.expected}, got {first.got}"
    if prediction.item.restart_after is not None:
        return text  # in which of the two runs is not known
    values = operand_values(prediction, first.pc)
    return text + (f"; operands {values}" if values else "")


def overwritten(prediction: Prediction, word: Mismatch, named: Sequence[Mismatch]) -> bool:
    """Say whether a wrong word of the scratchpad is another's work than its last writer's.

    An instruction with a right retire record wrote what it should. If a later one has a wrong
    record and does not read the word, it wrote where it should not; if it reads it, the word was
    lost before, which the later record follows from.
    """
    if word.kind != "scratchpad" or word.address is None or word.pc is None:
        return False
    wrong = [m.pc for m in named if m.kind == "retire" and m.pc is not None]
    if not wrong or wrong[0] <= word.pc:
        return False
    retires = prediction.expected.retires
    completes = any(retire.pc == wrong[0] and not retire.fault for retire in retires)
    return not (completes and reads_word(prediction.item.program[wrong[0]], word.address))


def reads_word(word: int, address: int) -> bool:
    """Say whether a legal instruction may read a word of the scratchpad."""
    regions = Regions.of(Rows.of([0], [0], [word]))
    inside = (regions.low <= address) & (address < regions.high)
    return bool((inside & (regions.memory == SPAD))[1:].any())


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
