"""Programs for a netlist, whose scratchpad the testbench cannot load: a program of LDs does it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from model.chip.image import Words
from model.chip.isa import SPAD_WORDS, encode, halt, ld
from model.decode.workload import DecodeParams, run_decode
from sim.decode.job import decode_job
from verif.items.program_item import ProgramItem
from verif.stimulus.random_program import random_items

WINDOW = 4
PROFILES = ("typical", "corner", "matrix", "faults")
HALF = SPAD_WORDS // 2


def decode_items(steps: int) -> list[ProgramItem]:
    """Make the first decode steps under a window of 4: the first four have programs of their own.

    They come first in a job, on a scratchpad that nobody has written: whatever it powers up with
    must not reach a result.
    """
    if not steps:
        return []
    return decode_job({WINDOW: run_decode(DecodeParams(window=WINDOW, steps=steps))}).items


def load_program(spad: Words) -> ProgramItem:
    """Make the program that loads the whole scratchpad."""
    return ProgramItem(
        name="load the scratchpad",
        program=[encode(ld(0, 0, HALF)), encode(ld(HALF, HALF, HALF)), encode(halt())],
        image=spad,
        latency=1,
        depth=SPAD_WORDS,
        provenance="scratchpad image through LD",
    )


def through_loads(items: Iterable[ProgramItem], load_once: bool = False) -> list[ProgramItem]:
    """Replace scratchpad images by programs that load them.

    An abort is left out: it leaves the scratchpad half written, and needs it loaded again without
    a program in between. The reset that belongs to it stays.

    Args:
        items: any programs.
        load_once: only the first image is loaded, the others run on what there is.
    """
    made: list[ProgramItem] = []
    loaded = False
    for item in items:
        if item.spad is not None and not (load_once and loaded):
            made.append(load_program(item.spad))
            loaded = True
        reset = item.reset_before or item.abort_at is not None
        made.append(replace(item, spad=None, abort_at=None, reset_before=reset))
    return made


def random_programs(seed: int, count: int, load_once: bool = False) -> list[ProgramItem]:
    """Make ``count`` random programs, the profiles in equal parts, and the loads they need."""
    items: list[ProgramItem] = []
    for number, profile in enumerate(PROFILES):
        share = count // len(PROFILES) + (number < count % len(PROFILES))
        items += random_items(seed, profile, share)
    return through_loads(items, load_once)
