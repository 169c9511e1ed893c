"""Executable model of GA-2: runs a program and predicts everything the testbench can observe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from model.chip.image import Words
from model.chip.isa import EXT_WORDS, SPAD_WORDS, FaultCode, Instruction, Op, check_fault
from model.chip.operation_table import OPERATIONS
from model.chip.operations import Plan, low_bytes, matrix_addresses, plan_word
from model.chip.signature import keys_at, keys_of, signatures
from model.chip.timing import DEFAULT_LATENCY, OVERHEAD, Counters, Latency, load_cycles

DEFAULT_DEPTH = 8192
MAX_PROGRAM = 65535  # one address must be left that reads as HALT


class Retire(NamedTuple):
    """One completed or faulting instruction (HALT makes no record).

    Attributes:
        pc: instruction address.
        op: operation code 0..15.
        fault: NONE when it completed.
        busy: busy cycles, 0 for a fault.
        spad_writes: scratchpad words written.
        ext_writes: external words written, also those beyond the memory's depth.
        signature: see ``model.chip.signature``; 0 without scratchpad writes.
    """

    pc: int
    op: int
    fault: FaultCode
    busy: int
    spad_writes: int
    ext_writes: int
    signature: int


class Burst(NamedTuple):
    """External traffic of one LD or ST: consecutive words from ``addr``."""

    kind: Literal["read", "write"]
    addr: int
    length: int


@dataclass
class RunResult:
    """What a program leaves behind.

    Attributes:
        ext: external memory after the run, uint32 (depth,).
        counters: the five counters.
        fault: code of the fault that ended the program, or NONE.
        fault_pc: address of the faulting instruction, 0 without a fault.
        retires: one record per completed or faulting instruction, in order.
        bursts: external traffic, in order.
    """

    ext: Words
    counters: Counters
    fault: FaultCode
    fault_pc: int
    retires: list[Retire]
    bursts: list[Burst]


class Machine:
    """A GA-2 with its external memory.

    Args:
        depth: words of external memory, 1..65,536.  Reads at or beyond it give 0, writes there
            are dropped.

    Attributes:
        spad: scratchpad, uint32 (4096,), zero at first; kept from one run to the next.
        ext: external memory of the current or last run, uint32 (depth,).

    Raises:
        ValueError: a depth outside 1..65,536.
    """

    def __init__(self, depth: int = DEFAULT_DEPTH) -> None:
        if not 1 <= depth <= EXT_WORDS:
            raise ValueError(f"external memory depth {depth} outside 1..{EXT_WORDS}")
        self.depth = depth
        self.spad: Words = np.zeros(SPAD_WORDS, dtype=np.uint32)
        self.ext: Words = np.zeros(depth, dtype=np.uint32)

    def run(
        self,
        program: Sequence[int],
        image: npt.ArrayLike = (),
        latency: Latency = DEFAULT_LATENCY,
        trace: Callable[[int, Instruction], None] | None = None,
    ) -> RunResult:
        """Run ``program`` from address 0 until it halts or faults.

        Args:
            program: 128-bit words; an address past the end reads as HALT.
            image: initial external memory, at most ``depth`` words, continued with zeros.
            latency: read latency in cycles, fixed or per request (``model.chip.timing.Latency``).
            trace: called with pc and instruction before each one executes or faults, while
                ``operands`` still gives the values it will read.

        Raises:
            ValueError: program or image too long.
            EncodingError: a word that is not a 128-bit unsigned number.
            LatencyError: a latency below one cycle.
        """
        if len(program) > MAX_PROGRAM:
            raise ValueError(f"program of {len(program)} words, at most {MAX_PROGRAM} fit")
        self._load_image(image)
        counters = Counters(total=OVERHEAD)
        result = RunResult(self.ext, counters, FaultCode.NONE, 0, [], [])
        busy_by_unit = {"mm": 0, "dma": 0, "vec": 0}
        requests = 0
        done: list[tuple[int, int, int, int, int]] = []
        keys: list[Words] = []
        faulting: list[Retire] = []

        for pc, word in enumerate(program):
            plan = plan_word(word)
            instr = plan.instr
            if instr.op == Op.HALT:
                break
            if trace is not None:
                trace(pc, instr)
            if plan.unit is None:
                result.fault, result.fault_pc = plan.fault, pc
                faulting = [Retire(pc, instr.op, plan.fault, 0, 0, 0, 0)]
                break
            busy = plan.busy
            written = ext_written = 0
            if instr.op == Op.LD:
                busy = load_cycles(instr.c, latency, requests)
                requests += instr.c
                result.bursts.append(Burst("read", instr.b, instr.c))
                data = self._load(instr)
                keys.append(keys_at(instr.a, data))
                written = instr.c
            elif instr.op == Op.ST:
                ext_written = instr.c
                result.bursts.append(Burst("write", instr.b, instr.c))
                self._store(instr)
            else:
                keys.append(self._compute(plan))
                written = keys[-1].size
            busy_by_unit[plan.unit] += busy
            done.append((pc, instr.op, busy, written, ext_written))

        signature = iter(signatures(keys))
        result.retires += [
            Retire(pc, op, FaultCode.NONE, busy, written, ext, next(signature) if written else 0)
            for pc, op, busy, written, ext in done
        ]
        result.retires += faulting
        counters.mm, counters.dma, counters.vec = busy_by_unit.values()
        counters.n_inst = len(done)
        counters.total += sum(busy_by_unit.values()) + OVERHEAD * counters.n_inst
        return result

    def operands(self, instr: Instruction) -> dict[str, npt.NDArray[np.generic]]:
        """Values ``instr`` would read now, as its unit sees them: {operand name: array}.

        int8 operands come as int8, accumulators and AMAX words as int32, DMA and packed words as
        uint32; MM gives A (M, K) and B (K, N).  Empty for HALT and for a faulting instruction.
        """
        if check_fault(instr) or instr.op == Op.HALT:
            return {}
        if instr.op == Op.MM:
            where = matrix_addresses(instr)
            return {"A": low_bytes(self.spad[where.a]), "B": low_bytes(self.spad[where.b])}
        if instr.op == Op.LD:
            return {"src": self._read_ext(instr)}
        values: dict[str, npt.NDArray[np.generic]] = {}
        for operand in OPERATIONS[instr.op].sources:
            base = getattr(instr, operand.field)
            words = self.spad[base : base + operand.size(instr.length)].copy()
            if operand.reads == "int8":
                values[operand.name] = low_bytes(words)
            else:
                values[operand.name] = words.view(np.int32) if operand.reads == "int32" else words
        return values

    def _load_image(self, image: npt.ArrayLike) -> None:
        words = np.asarray(image, dtype=np.uint32)
        if words.ndim != 1 or words.size > self.depth:
            raise ValueError(
                f"image of shape {words.shape} does not fit an external memory of {self.depth}"
            )
        self.ext = np.zeros(self.depth, dtype=np.uint32)
        self.ext[: words.size] = words

    def _read_ext(self, instr: Instruction) -> Words:
        data = np.zeros(instr.c, dtype=np.uint32)
        present = self.ext[instr.b : instr.b + instr.c]  # slicing stops at the memory's depth
        data[: present.size] = present
        return data

    def _load(self, instr: Instruction) -> Words:
        data = self._read_ext(instr)
        self.spad[instr.a : instr.a + instr.c] = data
        return data

    def _store(self, instr: Instruction) -> None:
        target = self.ext[instr.b : instr.b + instr.c]
        target[:] = self.spad[instr.a : instr.a + target.size]

    def _compute(self, plan: Plan) -> Words:
        """Execute a matrix or vector instruction; return the keys of its writes' signature."""
        assert plan.compute is not None
        data = plan.compute(self.spad, plan)
        if plan.matrix is not None:
            # With repeated addresses numpy keeps the last value, like the write port.
            self.spad[plan.matrix.c] = data
            return keys_of(plan.matrix.c, data)
        base = plan.instr.a
        self.spad[base : base + data.size] = data
        return keys_at(base, data)
