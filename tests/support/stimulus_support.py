"""What the tests of the program generators share: hits, corrupted runs, fingerprints."""

from __future__ import annotations

import hashlib
from functools import cache

import numpy as np

from model.chip.isa import FaultCode, Instruction, Op, decode
from model.chip.machine import Machine
from model.chip.operations import matrix_addresses
from verif.bins.program import BinRunner
from verif.bins.sheet import Hit
from verif.items.program_item import ProgramItem
from verif.stimulus.directed import REGISTRY
from verif.stimulus.random_program import random_items

PROGRAMS = 500


@cache
def directed_items() -> dict[str, list[ProgramItem]]:
    """Items of every directed program, in registry order."""
    return {name: entry.items() for name, entry in REGISTRY.items()}


@cache
def directed_runs() -> dict[str, list[tuple[int, frozenset[Hit]]]]:
    """Cycles and bins of every item that is not slow, run in registry order."""
    runner = BinRunner()
    found: dict[str, list[tuple[int, frozenset[Hit]]]] = {}
    for name, items in directed_items().items():
        for item in items if not REGISTRY[name].slow else ():
            result, hits = runner.run(item)
            found.setdefault(name, []).append((result.counters.total, frozenset(hits)))
    return found


@cache
def directed_hits() -> dict[str, frozenset[Hit]]:
    """Bins of every directed program that is not slow."""
    return {
        name: frozenset().union(*(hits for _, hits in runs))
        for name, runs in directed_runs().items()
    }


@cache
def random_hits(profile: str) -> frozenset[Hit]:
    """Bins of the first programs of a profile."""
    runner = BinRunner()
    return frozenset(
        hit for item in random_items(1, profile, PROGRAMS) for hit in runner.run(item)[1]
    )


def bins(hits: frozenset[Hit], point: str) -> set[str]:
    return {bin_ for name, bin_ in hits if name == point}


def outcome(item: ProgramItem) -> FaultCode:
    return Machine(item.depth).run(item.program, item.image, item.read_latency).fault


def written(instruction: Instruction) -> np.ndarray:
    """Scratchpad addresses that a legal instruction writes."""
    if instruction.op in (Op.HALT, Op.ST):
        return np.zeros(0, dtype=np.int64)
    if instruction.op == Op.MM:
        return matrix_addresses(instruction).c
    count = {Op.UNPACK: 8 * instruction.length, Op.AMAX: 1}.get(
        Op(instruction.op), instruction.length
    )
    return np.arange(instruction.a, instruction.a + count)


def final_memory(item: ProgramItem, corrupt: int | None = None) -> np.ndarray:
    """Final memory; with ``corrupt`` every word that instruction wrote has flipped low bits."""
    machine = Machine(item.depth)
    if item.spad is not None:
        machine.spad[:] = item.spad

    def trace(pc: int, _instruction: Instruction) -> None:
        if corrupt is not None and pc == corrupt + 1:
            machine.spad[written(decode(item.program[corrupt]))] ^= np.uint32(0x5B)

    return machine.run(item.program, item.image, item.read_latency, trace).ext


def fingerprint(item: ProgramItem) -> str:
    """Everything about an item, as text that does not depend on the platform."""
    spad = "-" if item.spad is None else item.spad.astype("<u4").tobytes().hex()
    parts = (item.program, item.image.astype("<u4").tobytes().hex(), spad, item.latency)
    around = (item.latencies, item.depth, item.reset_before, item.start_pulses, item.abort_at)
    return hashlib.sha256(repr((parts, around)).encode()).hexdigest()
