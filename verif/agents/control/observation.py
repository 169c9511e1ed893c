"""What a finished program left: pins, memory, logs of the HDL testbench."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from model.chip.image import Words
from model.chip.timing import Counters

Bits = npt.NDArray[np.bool_]

COMMENT = re.compile("//.*")
RETIRE_WORDS = 6  # pc, op | fault << 8, busy, scratchpad writes, external writes, signature
RETIRE_FIELDS = ("pc", "op", "fault", "busy", "spad_writes", "ext_writes", "signature")


@dataclass(frozen=True)
class ProtocolErrors:
    """Sum of the protocol checker: count, mask of codes, first code and its cycle."""

    count: int
    mask: int
    first: int
    first_cycle: int


@dataclass(frozen=True)
class Observation:
    """One finished or hung program.

    Attributes:
        hung: the cycle limit ended it.
        counters: the five counters; None when a bit was unknown.
        fault, fault_code, fault_pc: the fault outputs; None when unknown.
        memory: external memory as far as it is there, uint32 (depth,), unknown bits as 0.
        unknown: words of it with unknown bits, indices.
        spad, spad_unknown: the same of the scratchpad, uint32 (4096,); None when the design is a
            netlist.
        writes: external writes in order, uint32 (n, 2): address, data.
        retires: retire records, int64 (n, 7) in the order of ``RETIRE_FIELDS``; None when the
            design is a netlist without probe.
        protocol: the protocol checker's sum.
        complaints: what the design itself complained of, one line each.
    """

    hung: bool
    counters: Counters | None
    fault: int | None
    fault_code: int | None
    fault_pc: int | None
    memory: Words
    unknown: list[int]
    spad: Words | None
    spad_unknown: list[int]
    writes: Words
    retires: npt.NDArray[np.int64] | None
    protocol: ProtocolErrors
    complaints: Sequence[str] = ()


def read_memory(folder: Path, name: str) -> tuple[Words, list[int]]:
    """Read a dump: ``<name>.bin`` (Verilator) or ``<name>.hex`` (Icarus).

    Returns:
        The words, uint32 (depth,), and the indices of those with unknown bits.
    """
    binary = os.path.join(folder, f"{name}.bin")
    if os.path.exists(binary):
        return np.fromfile(binary, dtype="<u4"), []
    with open(os.path.join(folder, f"{name}.hex"), encoding="ascii") as file:
        text = file.read()
    text = COMMENT.sub("", text)  # Icarus puts the address in front of every 16 words
    unknown: list[int] = []
    try:
        raw = bytes.fromhex(text)
    except ValueError:
        words = text.split()
        unknown = [i for i, word in enumerate(words) if not set(word) <= set("0123456789abcdef")]
        for i in unknown:
            words[i] = "".join(c if c in "0123456789abcdef" else "0" for c in words[i])
        raw = bytes.fromhex("".join(words))
    return np.frombuffer(raw, dtype=">u4").astype(np.uint32), unknown


def read_writes(folder: Path) -> Words:
    """Read the log of external writes, uint32 (n, 2)."""
    return np.fromfile(os.path.join(folder, "writes.bin"), dtype="<u4").reshape(-1, 2)


def read_retires(folder: Path) -> npt.NDArray[np.int64]:
    """Read the retire records, int64 (n, 7) in the order of ``RETIRE_FIELDS``."""
    raw = np.fromfile(os.path.join(folder, "retires.bin"), dtype="<u4").reshape(-1, RETIRE_WORDS)
    records = np.empty((len(raw), len(RETIRE_FIELDS)), dtype=np.int64)
    records[:, 0] = raw[:, 0]
    records[:, 1] = raw[:, 1] & 0xFF
    records[:, 2] = raw[:, 1] >> 8
    records[:, 3:] = raw[:, 2:]
    return records
