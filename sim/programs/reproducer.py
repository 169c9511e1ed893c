"""A failing program as files that ``make run`` replays: assembly, images, and the command."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np

from model.chip.assembler import disassemble
from model.chip.machine import DEFAULT_DEPTH
from model.chip.timing import DEFAULT_LATENCY
from sim.engine.builds import make_request
from sim.engine.design import Design, design_of, make_settings, python_command
from sim.engine.job_record import JobRecord
from sim.programs.program_file import write_image
from sim.programs.program_options import late_cycles
from sim.shared.paths import RTL, shown
from verif.items.job import Job
from verif.items.program_item import RESET_CYCLES, ProgramItem

FAILURES = "failures"  # folder among the outputs of a design


@dataclass(frozen=True)
class Reproducer:
    """Where a failure was saved.

    Attributes:
        path: assembly of the failing program.
        command: plays it again.
        instructions: of the failing program.
        programs: how many run one after the other, the failing one included.
    """

    path: Path
    command: str
    instructions: int
    programs: int = 1


def save(
    sim: str,
    series: list[ProgramItem],
    about: str,
    *,
    rtl: Path | Design = RTL,
    plusargs: tuple[str, ...] = (),
    seed: int = 1,
    more: Mapping[str, Any] | None = None,
    folder: Path | None = None,
) -> Reproducer:
    """Write a failing program, or a series whose last one fails.

    Args:
        sim: simulator it failed in.
        series: programs in order.
        about: what went wrong, some lines; becomes a comment.
        rtl: the design it failed on, or its folder.
        plusargs: for the simulator.
        seed: of Python's ``random`` in the simulator.
        more: what was built beside the design, arguments of ``make_request``.
        folder: where to; None: among the failures of the design.
    """
    design = design_of(rtl)
    folder = folder or design.output(FAILURES)
    folder.mkdir(parents=True, exist_ok=True)
    item = series[-1]
    name = f"{stem(item.name)}-{sim}"
    # 'make run' knows none of these, nor idle cycles between a reset and the run behind it.
    special = item.restart_after is not None or item.start_in_reset
    special |= item.reset_cycles != RESET_CYCLES and (
        item.reset_before or item.abort_at is not None
    )
    special |= item.abort_at is not None and item.idle_after > 0
    request = make_request(design, **(more or {}))
    plain = request == make_request(design) and design.listed and not plusargs
    if len(series) == 1 and not late_cycles(item) and not special and plain:
        path = folder / f"{name}.asm"
        command = f"make run {_write(path, item)} {make_settings(sim, design)}"
    else:
        # The failure needs more than 'make run' gives: files for reading, the job for replaying.
        Job("items", {}, series).save(folder / name)
        JobRecord(sim, request, seed, plusargs).save(folder / name)
        for number, one in enumerate(series):
            path = folder / name / f"{number}.asm"
            _write(path, one)
        command = f"{python_command()} -m sim.programs.rerun {quote(shown(folder / name))}"
    lines = [f"; {line}\n" for line in [*about.splitlines(), f"replay: {command}"]]
    path.write_text("".join(lines) + path.read_text())
    return Reproducer(path, command, len(item.program), len(series))


def stem(name: str) -> str:
    """A program's name as a file's name."""
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")


def _write(path: Path, item: ProgramItem) -> str:
    """Write the program and its memories; return the arguments ``make run`` needs for them."""
    path.write_text("".join(f"{disassemble(word)}\n" for word in item.program))
    arguments = [f"PROGRAM={shown(path)}"]
    for name, words in (("EXT", item.image), ("SPAD", item.spad)):
        if words is not None and words.any():
            used = int(np.flatnonzero(words)[-1]) + 1
            file = path.with_suffix(f".{name.lower()}.hex")
            write_image(str(file), words[:used])
            arguments.append(f"{name}={shown(file)}")
    if item.latencies:
        arguments.append(f"LATS={','.join(map(str, item.latencies))}")
    elif item.latency != DEFAULT_LATENCY:
        arguments.append(f"LAT={item.latency}")
    if item.depth != DEFAULT_DEPTH:
        arguments.append(f"DEPTH={item.depth}")
    if item.start_pulses:
        arguments.append(f"PULSES={','.join(map(str, item.start_pulses))}")
    if item.abort_at is not None:
        arguments.append(f"RESET_AT={item.abort_at}")
    if item.late_answers:
        arguments.append("LATE=1")
    return " ".join(arguments)
