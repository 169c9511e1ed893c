"""Cycle model: how long an instruction keeps its unit busy, and the five counters.

An instruction costs FETCH + ISSUE + busy cycles; HALT and a faulting instruction cost FETCH +
ISSUE only.  Instructions never overlap, so a program's cycles are the sum (docs/isa.md, "Time").
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from model.chip.isa import Instruction, Op
from model.chip.operation_table import OPERATIONS, Unit

OVERHEAD = 2  # FETCH + ISSUE
DEFAULT_LATENCY = 8

# One latency for all reads, or one per read request of the run (request index -> cycles).  A
# sequence that is shorter than the run's requests starts again from its first entry.
Latency = int | Sequence[int] | Callable[[int], int]


class LatencyError(ValueError):
    """A read latency below one cycle, or an empty latency sequence."""


@dataclass
class Counters:
    """The five cycle counters of a run, as on the top's ports.

    Attributes:
        total: all FETCH, ISSUE and WAIT cycles.
        mm: busy cycles of the matrix unit.
        dma: busy cycles of LD and ST.
        vec: busy cycles of all others.
        n_inst: completed instructions, without HALT.
    """

    total: int = 0
    mm: int = 0
    dma: int = 0
    vec: int = 0
    n_inst: int = 0


def unit_of(op: int) -> Unit:
    """Return the counter that takes the busy cycles of ``op``.

    Raises:
        ValueError: HALT and undefined operations have no unit.
    """
    row = OPERATIONS.get(op)
    if row is None or row.unit is None:
        raise ValueError(f"operation {op} has no execution unit")
    return row.unit


def worst_latency(latency: Latency, first: int, count: int) -> int:
    """Return the longest latency among read requests ``first .. first + count - 1``.

    Raises:
        LatencyError: a latency below 1, or an empty sequence.
    """
    if isinstance(latency, int):
        worst = lowest = latency
    elif callable(latency):
        values = [int(latency(i)) for i in range(first, first + count)]
        worst, lowest = max(values), min(values)
    else:
        size = len(latency)
        if size == 0:
            raise LatencyError("the latency sequence is empty")
        values = [int(latency[i % size]) for i in range(first, first + count)]
        worst, lowest = max(values), min(values)
    if lowest < 1:
        raise LatencyError(f"read latency {lowest} is below one cycle")
    return worst


def load_cycles(length: int, latency: Latency = DEFAULT_LATENCY, first_request: int = 0) -> int:
    """Busy cycles of an LD of ``length`` words.

    Request i leaves in cycle i and is answered in ``r_i = max(r_(i-1) + 1, i + lat_i)``, because
    answers keep the order of the requests.  ``r_i - i`` is then the running maximum of the
    latencies, and the last word is stored two cycles after its answer's cycle number, which gives
    ``length + max(lat) + 1``; with one fixed latency that is ``length + LAT + 1``.
    """
    worst = worst_latency(latency, first_request, length)
    return OPERATIONS[Op.LD].busy_cycles(len=length, LAT=worst)


def busy_cycles(
    instr: Instruction, latency: Latency = DEFAULT_LATENCY, first_request: int = 0
) -> int:
    """Busy (WAIT) cycles of an instruction that does not fault.

    Args:
        instr: the instruction; HALT takes no busy cycle.
        latency: of the external read port, used by LD only.
        first_request: number of read requests the run has made before this instruction.

    Raises:
        ValueError: an undefined operation.
        LatencyError: see ``worst_latency``.
    """
    row = OPERATIONS.get(instr.op)
    if row is None:
        raise ValueError(f"operation {instr.op} has no busy time: it faults")
    if row.op == Op.LD:
        return load_cycles(instr.length, latency, first_request)
    return row.busy_cycles(**{operand.name: operand.of(instr) for operand in row.timed})
