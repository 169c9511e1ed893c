"""What a working testbench says of sound and of broken designs, and who says it otherwise.

One build holds the sound design and all broken ones (``sabotage.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sabotage import WRONG_ADDRESS, number

from model.chip.image import Words
from model.chip.isa import amax, encode, halt, ld, mm, rq, st, vadd
from verif.items.program_item import ProgramItem
from verif.items.result import ProgramResult

SETS = ("sound", "broken")

# Broken design, and what has to be said about it.
BROKEN = {
    "wrong word": (f"ext[{WRONG_ADDRESS}]: expected", "external write 5: expected"),
    "dropped write": ("ext_writes=60, got ext_writes=59",),
    "cyc_vec one too high": ("counter vec: expected",),
    "hang": ("hang: not halted",),
    "spurious fault": ("fault outputs: expected",),
    "extra read": ("expected read of 100 words at 0, got read of 101 words at 0",),
    "late instruction": ("expected busy=8, got busy=9",),
    "wrong product": ("expected signature=",),
    "counter not held": ("counters changed after the end",),
    "start not ignored": ("a start while running was not ignored",),
    "unknown word": (f"ext[{WRONG_ADDRESS}] has unknown bits",),
}


def words(seed: int, size: int = 128) -> Words:
    return np.random.default_rng(seed).integers(0, 2**32, size, dtype=np.uint32)


def typical(name: str, chosen: int = 0, seed: int = 1, **fields: Any) -> ProgramItem:
    """One of each; ``chosen`` is the planted fault, ``fields`` are more of the item's."""
    program = [
        ld(0, 0, 100),
        mm(400, 0, 50, 3, 4, 2, ldb=2),
        rq(420, 400, 6, 1 << 20, 25),
        vadd(440, 420, 0, 6),
        amax(450, 400, 6),
        st(400, 200, 60),
        halt(),
    ]
    encoded = [encode(instr) for instr in program]
    encoded[0] |= chosen  # x, the lowest field, is not used by LD
    return ProgramItem(name, encoded, words(seed), depth=512, **fields)


def inheriting(name: str) -> ProgramItem:
    """Copies what ``typical`` left in the external memory, and some of its image."""
    program = [encode(i) for i in (ld(0, 200, 60), ld(60, 20, 8), st(0, 300, 68), halt())]
    return ProgramItem(name, program, depth=512, inherits=True)


def sound_items() -> list[ProgramItem]:
    """Programs that depend on everything the testbench hands over, and on what ran before."""
    keeps = [encode(st(400, 100, 60)), encode(halt())]
    returns = [encode(i) for i in (ld(0, 0, 20), st(5, 30, 10), ld(50, 28, 14), st(50, 60, 14))]
    spad = words(9, 4096)
    return [
        typical("first"),
        ProgramItem("keeps the scratchpad", keeps, depth=256),
        replace(typical("other latency", seed=2), latency=21, depth=300),
        replace(typical("reactive", seed=3), latencies=(3, 9, 1, 20)),
        ProgramItem("reads what it wrote", returns, words(4), latencies=(2, 5), depth=200),
        ProgramItem("brings a scratchpad", keeps, words(5), spad=spad, depth=256),
        replace(typical("aborted", seed=6), spad=spad, abort_at=50),
        ProgramItem("faults", [encode(ld(0, 0, 9)), encode(ld(0, 0, 0))], words(7), depth=200),
        replace(typical("after the fault", seed=8), idle_after=5),
        inheriting("inherits the memory"),
    ]


def broken_items() -> list[ProgramItem]:
    """Every broken design, a sound one at times between them and at the end."""
    items = []
    for name in BROKEN:
        pulses = (20,) if name == "start not ignored" else ()
        item = typical(name, number(name))
        items.append(replace(item, idle_after=5, start_pulses=pulses))
        if name == "wrong word":
            items.append(inheriting("inherits what should be there"))
        if name in ("hang", "counter not held", "unknown word"):
            items.append(replace(typical(f"after {name}", seed=3), reset_before=True))
    return items


def items_of(which: str) -> list[ProgramItem]:
    return sound_items() if which == "sound" else broken_items()


@dataclass
class Said:
    """What a testbench said about one of the two sets: results, final counts, its own verdict."""

    results: list[ProgramResult] = field(default_factory=list)
    summary: dict[str, int] = field(default_factory=dict)
    passed: bool = False


def complaints(which: str, said: Said) -> list[str]:
    """What is wrong with a testbench that says this; empty for one that works."""
    found = []
    wanted = [item.name for item in items_of(which)]
    if [result.name for result in said.results] != wanted:
        found.append(f"reports {len(said.results)} of {len(wanted)} programs")
    if said.summary.get("programs") != len(wanted):
        found.append(f"counts {said.summary.get('programs')} of {len(wanted)} programs")
    if said.passed != (which == "sound"):
        found.append("the test passes" if said.passed else "the test fails")
    for result in said.results:
        spoken = "\n".join(f"{m.kind}: {m.message}" for m in result.mismatches)
        expected = BROKEN.get(result.name)
        if expected is None:
            if not result.passed:
                found.append(f"{result.name} fails ({result.comparisons} compared): {spoken}")
        elif result.passed:
            found.append(f"{result.name} passes")
        else:
            missing = [text for text in expected if text not in spoken]
            found += [f"{result.name} is not said to be {text!r}" for text in missing]
    return found
