"""The part of a proof that runs inside Yosys: ``python -m sim.mutate.rtl.engines FOLDER``.

The folder holds ``gold/`` and ``gate/`` with the sources, and ``task.json`` (files, and seconds
for each engine). The designs are read once; each engine then works in a fork of the process, which
can be ended when its time is over. What each said goes to ``said.json``.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pyosys import libyosys

from sim.mutate.rtl.netlist import Module, cut_products, start_in_reset

DEPTH = 10
"""Cycles that equiv_induct looks back."""

GLANCE = 3
"""Cycles in which a difference is looked for first: most of what differs does so at once."""

BOUND = 6
"""Cycles in which a difference is looked for before the engines that take long."""

SAID = "said.json"

BOXES = "boxes"
"""In what the boxes of the versions differ, when they do: nothing is proven then."""

CUT = "cut"
"""The miter in which products are anything."""

PROVEN_BY_SAT = "proved base case"
REFUTED_BY_SAT = "model found for base case: FAIL"
POLL_SECONDS = 0.01


class Session:
    """One Yosys design and the commands run on it."""

    def __init__(self) -> None:
        self.design = libyosys.Design()

    def run(self, *commands: str) -> None:
        """Run commands; an error ends the process."""
        for command in commands:
            libyosys.run_pass(command, self.design)

    def says(self, command: str, words: str) -> bool:
        """Run a command; tell whether its output contains ``words``."""
        log = Path(f"said-{os.getpid()}.txt")
        self.run(f"tee -q -o {log} {command}")
        return words in log.read_text()


Boxes = dict[str, Any]


def read(session: Session, side: str, files: list[str]) -> Boxes:
    """Read one version, flat, and keep it under its name; return what its boxes are."""
    names = " ".join(f"{side}/{name}" for name in files)
    session.run(
        f"read_verilog -sv {names} {side}/observed.sv",
        "hierarchy -top observed",
        "proc",
        "flatten",
        "opt -full",
        "memory_collect",
        "memory_map",
        "opt -full",
        f"write_json {side}.json",
        # The boxes' outputs become inputs, and their inputs outputs, under the boxes' names.
        "expose -evert c:*",
        f"rename observed {side}",
        f"design -stash {side}",
        "design -reset",
    )

    netlist = json.loads(Path(f"{side}.json").read_text())
    return boxes_of(netlist["modules"]["observed"])


def boxes_of(module: Module) -> Boxes:
    """Return module, parameters and connected ports of every box, by its place."""
    return {
        name: [cell["type"], cell["parameters"], sorted(cell["connections"])]
        for name, cell in module["cells"].items()
        if not cell["type"].startswith("$")
    }


def boxes_differ(gold: Boxes, gate: Boxes) -> str:
    """Say in what the boxes of two versions differ; empty when they are the same."""
    places = [name for name in sorted({*gold, *gate}) if gold.get(name) != gate.get(name)]
    return ", ".join(f"{name}: {gold.get(name)} and {gate.get(name)}" for name in places)


def make_miter(session: Session) -> bool:
    """Make the miter that starts in reset; keep both versions as design ``pair``.

    Returns whether there is a miter with cut products as well.
    """
    session.run(
        "design -copy-from gold -as gold gold",
        "design -copy-from gate -as gate gate",
        "design -save pair",
        "miter -equiv -flatten gold gate miter",
        "hierarchy -top miter",
        "dffunmap",
        "opt_clean",
        "write_json miter.json",
    )
    netlist = json.loads(Path("miter.json").read_text())
    start_in_reset(netlist["modules"]["miter"])
    keep(session, "start", netlist)
    if cut_products(netlist["modules"]["miter"]):
        keep(session, CUT, netlist)
        return True
    return False


def keep(session: Session, name: str, netlist: dict[str, Any]) -> None:
    """Keep a netlist as a design under a name."""
    Path(f"{name}.json").write_text(json.dumps(netlist))
    session.run("design -reset", f"read_json {name}.json", f"design -save {name}")


def first_cycles(cycles: int, claim: str) -> str:
    """Return the command that proves an output 0 in the first cycles.

    Cycle by cycle: each is proven with what was proven of those before it. All at once takes many
    times as long.
    """
    return f"sat -tempinduct-baseonly -maxsteps {cycles} -prove {claim} 0 miter"


def differs_soon(session: Session, cycles: int) -> bool:
    """Find a difference within some cycles."""
    session.run("design -load start")
    return session.says(first_cycles(cycles, "bad"), REFUTED_BY_SAT)


def induct(session: Session) -> bool:
    """Prove by induction that versions which were equal stay equal, signal by signal."""
    session.run(
        "design -load pair",
        "equiv_make gold gate equiv",
        "hierarchy -top equiv",
        "opt_clean",
        "equiv_simple",
        f"equiv_induct -seq {DEPTH}",
    )
    return session.says("equiv_status", "Equivalence successfully proven")


def starts_equal(session: Session) -> bool:
    """Prove that every signal is equal in the first cycles after reset."""
    session.run("design -load start")
    return session.says(first_cycles(DEPTH + 2, "diverged"), PROVEN_BY_SAT)


def temporal(session: Session) -> bool:
    """Prove by temporal induction on the outputs."""
    session.run("design -load start")
    command = "sat -tempinduct -prove bad 0 -maxsteps 8 miter"
    return session.says(command, "Induction step proven: SUCCESS")


def write_aig(session: Session, name: str) -> bool:
    """Write a miter for abc: ``<name>.aig`` and the table of its symbols, ``<name>.map``."""
    session.run(
        f"design -load {name}",
        "delete -port miter/diverged",
        "opt -full",
        "techmap",
        "opt -full",
        "dffunmap",
        "simplemap",
        "setundef -undriven -zero",
        "aigmap",
        "opt_clean",
        f"write_aiger -zinit -map {name}.map {name}.aig",
    )
    return True


def limited(work: Callable[[], bool], seconds: float) -> bool | None:
    """Run work in a fork of this process; None when it failed or its time was over."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if work() else 1)
        except BaseException:
            os._exit(2)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            code = os.waitstatus_to_exitcode(status)
            return {0: True, 1: False}.get(code)
        time.sleep(POLL_SECONDS)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return None


def run_engines(session: Session, miters: Sequence[str], limit: float) -> dict[str, bool | None]:
    """Run the engines, fastest first, until one decides; return what each said."""

    def look(cycles: int) -> bool | None:
        return limited(partial(differs_soon, session, cycles), limit)

    result: dict[str, bool | None] = {"different": look(GLANCE)}
    if result["different"]:
        return result
    result["induct"] = limited(lambda: induct(session), limit)
    if result["induct"]:
        result["base"] = limited(lambda: starts_equal(session), limit)
        if result["base"]:
            return result
    result["different"] = look(BOUND)
    if not result["different"]:
        for name in miters:
            result[name] = limited(partial(write_aig, session, name), 4 * limit)
        result["temporal"] = limited(lambda: temporal(session), limit)
    return result


def main(folder: str) -> None:
    """Run the engines of a folder; write what each said."""
    os.chdir(folder)
    task = json.loads(Path("task.json").read_text())
    limit: float = task["limit"]
    session = Session()
    gold, gate = (read(session, side, task["files"]) for side in ("gold", "gate"))
    if different := boxes_differ(gold, gate):
        Path(SAID).write_text(json.dumps({BOXES: different}))
        return
    miters = ["start", CUT][: 1 + make_miter(session)]
    Path(SAID).write_text(json.dumps(run_engines(session, miters, limit)))


if __name__ == "__main__":
    main(sys.argv[1])
