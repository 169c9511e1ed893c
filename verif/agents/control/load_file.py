"""The file that hands a program to the HDL testbench (read by ``ga2_tb`` on ``load_req``)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from model.chip.image import Words
from verif.agents.control.cycle_budget import cycle_budget
from verif.items.program_item import ProgramItem

LOAD_SPAD = 1
REACTIVE = 2
LOAD_IMAGE = 4
HEADER_WORDS = 8


@dataclass(frozen=True)
class Memories:
    """Contents to load; None keeps what is there.

    Attributes:
        spad: scratchpad, uint32 (4096,).
        image: external memory, uint32, continued with zeros.
    """

    spad: Words | None = None
    image: Words | None = None


def load_file_bytes(item: ProgramItem, before: Memories) -> bytes:
    """Contents of the load file, all words big-endian.

    Header of eight words (program length, depth, latency, cycle limit, flags, image length,
    restarts, a zero), the 128-bit program words, the image and the scratchpad as far as they are
    given.
    """
    spad = before.spad
    image = np.zeros(0, dtype=np.uint32) if before.image is None else before.image
    limit = item.cycle_limit
    if limit is None:
        limit = cycle_budget(item.program, max((item.latency, *item.latencies)))
        if item.restart_after is not None:
            limit = 2 * limit + item.restart_after
    flags = LOAD_SPAD * (spad is not None) | LOAD_IMAGE * (before.image is not None)
    flags |= REACTIVE * item.reactive
    header = np.zeros(HEADER_WORDS, dtype=">u4")
    header[:3] = (len(item.program), item.depth, item.latency)
    header[3:7] = (limit, flags, image.size, item.restart_after is not None)
    parts = [header.tobytes(), *(word.to_bytes(16, "big") for word in item.program)]
    parts.append(image.astype(">u4").tobytes())
    if spad is not None:
        parts.append(spad.astype(">u4").tobytes())
    return b"".join(parts)


def write_load_file(folder: Path, item: ProgramItem, before: Memories) -> None:
    """Write ``load.bin`` for ``item`` into the simulator's working directory."""
    # os-level: this runs once a program, and pathlib costs more than the write.
    with open(os.path.join(folder, "load.bin"), "wb") as file:
        file.write(load_file_bytes(item, before))
