"""Which operand values a trained network brings to the units, beside those of random programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from model.chip.isa import Instruction, Op
from model.chip.machine import Machine
from model.chip.timing import Latency
from model.decode.workload import compile_decode
from verif.bins.reads import Read, read_by
from verif.bins.sheet import Hit, Sheet
from verif.bins.values import value_hits
from verif.stimulus.profiles import PROFILES
from verif.stimulus.random_program import random_item

SEED = 1


@dataclass
class Operands:
    """What programs brought: int8 operands by value (index value + 128), and bins of values."""

    programs: int = 0
    matrix: NDArray[np.int64] = field(default_factory=lambda: np.zeros(256, dtype=np.int64))
    bins: set[Hit] = field(default_factory=set)

    def add(
        self, program: list[int], image: NDArray[np.uint32], depth: int, latency: Latency
    ) -> None:
        """Run one program on the reference machine and look at what it reads."""
        machine = Machine(depth)
        reads: list[Read] = []

        def look(_: int, instruction: Instruction) -> None:
            operands = machine.operands(instruction)
            if not operands:  # it faults
                return
            if read := read_by(instruction, machine.spad):
                reads.append(read)
            if instruction.op == Op.MM:
                for values in operands.values():
                    places = values.astype(np.int64).ravel() + 128
                    self.matrix += np.bincount(places, minlength=256)

        machine.run(program, image, latency, trace=look)
        sheet = Sheet(1)
        value_hits(sheet, [reads])
        self.bins |= sheet.hits()[0]
        self.programs += 1

    @property
    def by_point(self) -> dict[str, int]:
        """Bins hit of each coverage point."""
        return dict(sorted(Counter(point for point, _ in self.bins).items()))


def trained_operands(kinds: Iterable[str], steps: int) -> Operands:
    """Operands of trained models that write ``steps`` characters with full attention."""
    found = Operands()
    for kind in kinds:
        run = compile_decode(kind, steps=steps)
        for step in run.steps:
            found.add(step.program, step.image, run.params.depth, run.params.latency)
    return found


def random_operands(programs: int) -> Operands:
    """Operands of random programs, of every profile in turn."""
    found = Operands()
    for profile, index in _turns(programs):
        item = random_item(SEED, profile, index)
        latency = item.latencies or item.latency
        found.add(list(item.program), np.asarray(item.image), item.depth, latency)
    return found


def _turns(programs: int) -> Iterator[tuple[str, int]]:
    names = list(PROFILES)
    for number in range(programs):
        yield names[number % len(names)], number // len(names)
