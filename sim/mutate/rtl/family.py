"""The part of a family's proof that runs inside Yosys: ``python -m sim.mutate.rtl.family FOLDER``.

A family is many mutants of one place. The design is read once, and each mutant with those files
that it changes; they end in one circuit, ``all.aig``, in which the design's copy is shared.

The folder holds ``gold/`` with the sources, ``gate<n>/`` with the files that mutant n changes, and
``task.json`` (files, numbers). What is left out, and why, goes to ``said.json``.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from sim.mutate.rtl.engines import SAID, Boxes, Session, boxes_differ, boxes_of
from sim.mutate.rtl.family_netlist import merge, ports_differ
from sim.mutate.rtl.netlist import Module

ALL = "all"
"""Name of the circuit's files."""


def read(session: Session, side: str, paths: list[str]) -> tuple[Module, Boxes]:
    """Read one version; return its netlist, in which boxes are ports, and what its boxes are."""
    session.run(
        "design -reset",
        f"read_verilog -sv {' '.join(paths)} gold/observed.sv",
        "hierarchy -top observed",
        "proc",
        "flatten",
        "opt -full",
        "memory_collect",
        "memory_map",
        "opt -full",
        "write_json boxes.json",
        "expose -evert c:*",
        "dffunmap",
        "opt_clean",
        f"write_json {side}.json",
    )
    boxed = json.loads(Path("boxes.json").read_text())["modules"]["observed"]
    module = json.loads(Path(f"{side}.json").read_text())["modules"]["observed"]
    return module, boxes_of(boxed)


def write_circuit(session: Session, module: Module) -> None:
    """Write a netlist for abc: ``all.aig`` and the table of its symbols, ``all.map``."""
    netlist = {"creator": "", "modules": {"miter": module}}
    Path(f"{ALL}.json").write_text(json.dumps(netlist))
    session.run(
        "design -reset",
        f"read_json {ALL}.json",
        "hierarchy -top miter",
        "opt_clean",
        "techmap",
        "opt",
        "dffunmap",
        "simplemap",
        "setundef -undriven -zero",
        "aigmap",
        "opt_clean",
        f"write_aiger -zinit -map {ALL}.map {ALL}.aig",
    )


def main(folder: str) -> None:
    """Write the circuit of a folder's family, and what is not in it."""
    os.chdir(folder)
    task = json.loads(Path("task.json").read_text())
    names: list[str] = task["files"]
    session = Session()
    gold, boxes = read(session, "gold", [f"gold/{name}" for name in names])
    gates: dict[int, Module] = {}
    left_out: dict[str, str] = {}
    for number in task["numbers"]:
        changed = {path.name for path in Path(f"gate{number}").iterdir()}
        paths = [f"{f'gate{number}' if name in changed else 'gold'}/{name}" for name in names]
        gate, gate_boxes = read(session, "gate", paths)
        different = boxes_differ(boxes, gate_boxes) or ports_differ(gold, gate)
        if different:
            left_out[str(number)] = different
        else:
            gates[number] = gate
    Path(SAID).write_text(json.dumps(left_out))
    if gates:
        write_circuit(session, merge(gold, gates))


if __name__ == "__main__":
    main(sys.argv[1])
