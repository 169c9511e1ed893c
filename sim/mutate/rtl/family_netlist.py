"""Puts a design and many mutants of it into one circuit, as Yosys writes netlists in JSON.

Inputs are shared. Bit 0 of output ``mutant_<n>`` says that mutant n differs from the design: not in
the first cycle, in which reset is high. All versions power up in the same, arbitrary state, and
products are anything that is equal where their factors are (``netlist`` does so to a single pair).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

from sim.mutate.rtl.netlist import FLIP_FLOP, STATE_BITS, Editor, Module, hold_reset

Bits = list[Any]
Nets = dict[str, Bits]

GOLD = "gold"
STATE = "state_q"
"""By convention of this design: the register of a module's machine."""

LEFT = "left_q"
"""The same: how much is still to be done."""

BUSY = "busy"
"""The flag of ``surroundings`` between a unit's start and its end."""

CLAIM = "mutant_"
"""A mutant's output: bit 0 is the claim that it differs, the others are hints."""


def ports_differ(gold: Module, gate: Module) -> str:
    """Say in which ports two versions differ; empty when they are the same."""
    ours, theirs = (
        {name: (port["direction"], len(port["bits"])) for name, port in module["ports"].items()}
        for module in (gold, gate)
    )
    names = [name for name in sorted({*ours, *theirs}) if ours.get(name) != theirs.get(name)]
    return f"ports: {', '.join(names)}" if names else ""


def merge(gold: Module, gates: Mapping[int, Module]) -> Module:
    """Return the circuit of a design and its mutants by number."""
    circuit: Module = {"attributes": {"top": "1"}, "ports": {}, "cells": {}, "netnames": {}}
    edit = Editor(circuit)
    design = _Version(edit, GOLD, gold, {})
    inputs = {
        name: design.bits(port["bits"])
        for name, port in gold["ports"].items()
        if port["direction"] == "input"
    }
    for name, bits in inputs.items():
        edit.input(f"in_{name}", bits)
    versions = {
        number: _Version(edit, f"gate{number}", gate, inputs) for number, gate in gates.items()
    }
    later = _first_cycle(edit, design, list(versions.values()), inputs)
    flags = _flags(edit, design)
    never = _exclusive(edit, design, flags, later)
    for number, version in versions.items():
        claim = _differs(edit, design, version, later)
        own = _own_flags(edit, design, version, flags, later)
        hints = [*_hints(edit, design, version, flags), *own, *never]
        edit.output(f"{CLAIM}{number}", [*claim, *hints])
    _cut_products(edit, design, list(versions.values()))
    return circuit


class _Version:
    """One version's cells in the circuit, under new bits; ``nets`` and ``flops`` by name."""

    def __init__(self, edit: Editor, name: str, module: Module, inputs: Mapping[str, Bits]) -> None:
        self.place: dict[int, Any] = {}
        for port, bits in inputs.items():
            self.place.update(zip(module["ports"][port]["bits"], bits, strict=True))
        self.edit = edit
        self.products: dict[Any, list[str]] = {}
        self.nets: Nets = {
            net: self.bits(entry["bits"])
            for net, entry in module["netnames"].items()
            if not entry["hide_name"]
        }
        self.outputs: Nets = {
            port: self.bits(entry["bits"])
            for port, entry in module["ports"].items()
            if entry["direction"] == "output"
        }
        self.drivers: dict[int, tuple[dict[str, Any], int]] = {}
        for cell_name, cell in module["cells"].items():
            self._cell(f"{name}.{cell_name}", cell_name, cell)

    def bits(self, old: Bits) -> Bits:
        """Return the circuit's bits for some of the version's."""
        return [bit if isinstance(bit, str) else self._bit(bit) for bit in old]

    def _bit(self, bit: int) -> Any:
        if bit not in self.place:
            (self.place[bit],) = self.edit.bits(1)
        return self.place[bit]

    def _cell(self, name: str, own_name: str, cell: dict[str, Any]) -> None:
        made = {**cell, "connections": {p: self.bits(b) for p, b in cell["connections"].items()}}
        self.edit.module["cells"][name] = made
        if cell["type"] == FLIP_FLOP:
            for at, bit in enumerate(made["connections"]["Q"]):
                self.drivers[bit] = (made, at)
        elif cell["type"] == "$mul":
            kind = (own_name.partition("$mul")[0], *sorted(cell["parameters"].items()))
            self.products.setdefault(kind, []).append(name)

    def register(self, net: str) -> Bits | None:
        """Return the bits of a net that is a register, None when it is none."""
        bits = self.nets.get(net, [])
        return bits if bits and all(bit in self.drivers for bit in bits) else None


def _first_cycle(
    edit: Editor, design: _Version, versions: list[_Version], inputs: Mapping[str, Bits]
) -> Bits | None:
    """Make a first cycle with reset high and one power-up state; return the flag of later ones."""
    clock = inputs.get("clk")
    if clock is None:
        return None
    first = edit.bits(1)
    edit.net("first_cycle", first, init="1")
    edit.cell(FLIP_FLOP, {"CLK_POLARITY": 1, "WIDTH": 1}, CLK=clock, D=["0"], Q=first)
    later = edit.invert(first)
    _power_up(edit, design, versions, first)
    hold_reset(edit, first)
    return later


def _power_up(edit: Editor, design: _Version, versions: list[_Version], first: list[int]) -> None:
    """Give flip-flops that carry one name in design and mutant one power-up value each."""
    values: dict[int, int] = {}
    free: list[int] = []

    def seen(version: _Version, bit: int, value: int) -> None:
        cell, at = version.drivers[bit]
        stored = edit.bits(1)
        cell["connections"]["Q"][at] = stored[0]
        edit.cell("$mux", {"WIDTH": 1}, A=stored, B=[value], S=first, Y=[bit])

    for version in versions:
        taken: set[int] = set()
        for net, bits in version.nets.items():
            others = design.nets.get(net, [])
            if len(others) != len(bits):
                continue
            for ours, bit in zip(others, bits, strict=True):
                if ours not in design.drivers or bit not in version.drivers or bit in taken:
                    continue
                taken.add(bit)
                if ours not in values:
                    (values[ours],) = edit.bits(1)
                    free.append(values[ours])
                    seen(design, ours, values[ours])
                seen(version, bit, values[ours])
    if free:
        edit.input("power_up", free)


def _differs(edit: Editor, design: _Version, version: _Version, later: Bits | None) -> list[int]:
    """Return whether any output differs, later than in the first cycle."""
    ours = [bit for name in design.outputs for bit in design.outputs[name]]
    theirs = [bit for name in design.outputs for bit in version.outputs[name]]
    result = edit.gate("$ne", ours, theirs)
    return edit.gate("$and", result, later) if later else result


def _flags(edit: Editor, design: _Version) -> list[Bits]:
    """Return the design's flags, and one for every state of its machines."""
    found: list[Bits] = []
    known: set[tuple[Any, ...]] = set()
    for net in design.nets:
        bits = design.register(net)
        if bits is None or tuple(bits) in known:
            continue
        if len(bits) > 1 and not (len(bits) <= STATE_BITS and net.endswith(STATE)):
            continue
        known.add(tuple(bits))
        if len(bits) == 1:
            found.append(bits)
        else:
            for value in range(1 << len(bits)):
                constant = [str(value >> at & 1) for at in range(len(bits))]
                found.append(edit.gate("$eq", bits, constant))
    return found


def _hints(edit: Editor, design: _Version, version: _Version, flags: list[Bits]) -> list[int]:
    """Return bits that may be constant: "this register differs while that flag is up"."""
    known: set[tuple[Any, ...]] = set()
    hints = []
    for net in design.nets:
        ours, theirs = design.register(net), version.register(net)
        if ours is None or theirs is None or len(ours) != len(theirs) or tuple(ours) in known:
            continue
        known.add(tuple(ours))
        differs = edit.gate("$ne", ours, theirs)
        hints += [edit.gate("$and", differs, flag)[0] for flag in flags]
    return hints


def _exclusive(edit: Editor, design: _Version, flags: list[Bits], later: Bits | None) -> list[int]:
    """Return bits that may be constant: flags that exclude each other, idleness or an end."""
    if later is None:
        return []
    pairs = [
        edit.gate("$and", one, other)[0]
        for one, other in combinations(flags, 2)
        if one[0] in design.drivers or other[0] in design.drivers  # states exclude each other
    ]
    busy = design.register(BUSY)
    idle = [edit.gate("$and", flag, edit.invert(busy))[0] for flag in flags] if busy else []
    empty = [
        edit.gate("$and", flag, edit.gate("$eq", bits, ["0"] * len(bits)))[0]
        for bits in _counters(design)
        for flag in flags
    ]
    return [edit.gate("$and", [bit], later)[0] for bit in (*pairs, *idle, *empty)]


def _counters(design: _Version) -> list[Bits]:
    """Return the design's registers of several bits that count down to nothing, by their name."""
    names = [net for net in design.nets if net.endswith(LEFT)]
    return [bits for net in names if (bits := design.register(net))]


def _own_flags(
    edit: Editor, design: _Version, version: _Version, flags: list[Bits], later: Bits | None
) -> list[int]:
    """Return bits that may be constant: a flag that only the mutant has, up or down with others."""
    if later is None:
        return []
    found = []
    for net in version.nets.keys() - design.nets.keys():
        bits = version.register(net)
        if bits and len(bits) == 1:
            for one in (bits, edit.invert(bits)):
                when = edit.gate("$and", one, later)
                found += [edit.gate("$and", when, flag)[0] for flag in flags]
    return found


def _cut_products(edit: Editor, design: _Version, versions: list[_Version]) -> None:
    """Let products be anything, but equal where their factors are."""
    cells = edit.module["cells"]
    for kind, names in design.products.items():
        for at, name in enumerate(names):
            ours = cells.pop(name)["connections"]
            edit.input(f"product_{ours['Y'][0]}", ours["Y"])
            for version in versions:
                others = version.products.get(kind, [])
                if at >= len(others):
                    continue
                theirs = cells.pop(others[at])["connections"]
                differ = edit.gate("$ne", [*ours["A"], *ours["B"]], [*theirs["A"], *theirs["B"]])
                free = edit.bits(len(theirs["Y"]))
                edit.input(f"product_{free[0]}", free)
                edit.cell(
                    "$mux", {"WIDTH": len(free)}, A=ours["Y"], B=free, S=differ, Y=theirs["Y"]
                )
