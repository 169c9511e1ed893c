"""Edits a miter, as Yosys writes it in JSON, so that a proof starts where the chip starts.

The miter compares ``gold`` (the design) and ``gate`` (a mutant). Here it gets a first cycle in
which reset is high and nothing is compared, and both versions power up in the same, arbitrary
state: a mutant that does not reset a flip-flop keeps that value, the design does not.
"""

from __future__ import annotations

from typing import Any

Module = dict[str, Any]

STATE_BITS = 4
"""Registers up to this width are taken for states: each of their values is a flag."""

FLIP_FLOP = "$dff"  # enables and resets have become logic


class Editor:
    """Adds cells to one module."""

    def __init__(self, module: Module) -> None:
        self.module = module
        used = [
            bit
            for net in module["netnames"].values()
            for bit in net["bits"]
            if isinstance(bit, int)
        ]
        self._next = max(used, default=1) + 1
        self._count = 0

    def bits(self, width: int) -> list[int]:
        """Return new bits."""
        self._next += width
        return list(range(self._next - width, self._next))

    def net(self, name: str, bits: list[int], **attributes: str) -> None:
        """Name bits."""
        self.module["netnames"][name] = {"hide_name": 0, "bits": bits, "attributes": attributes}

    def cell(self, kind: str, parameters: dict[str, int], **pins: list[Any]) -> None:
        """Add a cell; its output pins are Y and Q."""
        self._count += 1
        self.module["cells"][f"proof_{self._count}"] = {
            "hide_name": 0,
            "type": kind,
            "parameters": {key: f"{value:032b}" for key, value in parameters.items()},
            "attributes": {},
            "port_directions": {k: "output" if k in "YQ" else "input" for k in pins},
            "connections": pins,
        }

    def gate(self, kind: str, a: list[Any], b: list[Any]) -> list[int]:
        """Add a binary operator on equally wide operands; return its result."""
        width = 1 if kind in ("$ne", "$eq") else len(a)
        result = self.bits(width)
        sizes = {"A_SIGNED": 0, "B_SIGNED": 0, "A_WIDTH": len(a), "B_WIDTH": len(b)}
        self.cell(kind, {**sizes, "Y_WIDTH": width}, A=a, B=b, Y=result)
        return result

    def invert(self, a: list[Any]) -> list[int]:
        """Add an inverter; return its result."""
        result = self.bits(len(a))
        self.cell("$not", {"A_SIGNED": 0, "A_WIDTH": len(a), "Y_WIDTH": len(a)}, A=a, Y=result)
        return result

    def input(self, name: str, bits: list[int]) -> None:
        """Add an input port."""
        self.module["ports"][name] = {"direction": "input", "bits": bits}
        self.net(name, bits)

    def output(self, name: str, bits: list[int]) -> None:
        """Add an output port."""
        self.module["ports"][name] = {"direction": "output", "bits": bits}
        self.net(name, bits)


def start_in_reset(module: Module) -> None:
    """Edit a flattened miter in place; its outputs become ``bad`` and ``diverged``.

    ``bad``: an output differs. ``diverged``: any signal that both versions name differs.
    """
    edit = Editor(module)
    ports = module["ports"]
    trigger = ports["trigger"]["bits"]
    for name in [name for name, port in ports.items() if port["direction"] == "output"]:
        del ports[name]
    pairs = _pairs(module)
    differs = [edit.gate("$ne", gold, gate) for gold, gate in pairs if gold != gate]
    _hints(edit)
    flat = [bit for result in differs for bit in result]
    clock = ports.get("in_clk")
    if clock is None:
        edit.output("bad", trigger)
        edit.output("diverged", edit.gate("$ne", flat, ["0"] * len(flat)) if flat else trigger)
        return
    first = edit.bits(1)
    edit.net("first_cycle", first, init="1")
    edit.cell("$dff", {"CLK_POLARITY": 1, "WIDTH": 1}, CLK=clock["bits"], D=["0"], Q=first)
    later = edit.invert(first)
    edit.output("bad", edit.gate("$and", trigger, later))
    any_differs = edit.gate("$ne", flat, ["0"] * len(flat)) if flat else trigger
    edit.output("diverged", edit.gate("$and", any_differs, later))
    _share_power_up(edit, first)
    hold_reset(edit, first)


def cut_products(module: Module) -> bool:
    """Let the products of a flattened miter be anything, but equal where their factors are.

    What is equal then is equal with real products, which no engine sees through. Edits in place;
    returns whether both versions had products.
    """
    edit = Editor(module)
    gold, gate = (_products(module, side) for side in ("gold", "gate"))
    pairs = [pair for kind in gold for pair in zip(gold[kind], gate.get(kind, ()), strict=False)]
    for pair in pairs:
        one, other = (module["cells"].pop(name)["connections"] for name in pair)
        differ = edit.gate("$ne", [*one["A"], *one["B"]], [*other["A"], *other["B"]])
        edit.input(f"product_{one['Y'][0]}", one["Y"])
        free = edit.bits(len(other["Y"]))
        edit.input(f"product_{free[0]}", free)
        edit.cell("$mux", {"WIDTH": len(free)}, A=one["Y"], B=free, S=differ, Y=other["Y"])
    return bool(pairs)


def _products(module: Module, side: str) -> dict[Any, list[str]]:
    """Return the names of a version's multipliers, by place and type."""
    found: dict[Any, list[str]] = {}
    for name, cell in module["cells"].items():
        version, _, place = name.removeprefix("$flatten\\").partition(".")
        if cell["type"] == "$mul" and version == side:
            kind = (place.partition("$mul")[0], *sorted(cell["parameters"].items()))
            found.setdefault(kind, []).append(name)
    return found


def _hints(edit: Editor) -> None:
    """Add outputs that may be constant: "this register differs while that flag is up".

    They are no part of the claim. An engine that finds signals equal by induction (abc scorr)
    finds these too, and with them why a difference in an idle register does not matter.
    """
    registers = _registers(edit.module)
    flags = []
    for gold, _ in registers:
        if len(gold) == 1:
            flags.append(gold)
        elif len(gold) <= STATE_BITS:
            for value in range(1 << len(gold)):
                constant = [str(value >> at & 1) for at in range(len(gold))]
                flags.append(edit.gate("$eq", gold, constant))
    count = 0
    for gold, gate in registers:
        differs = edit.gate("$ne", gold, gate)
        for flag in flags:
            edit.output(f"hint_{count}", edit.gate("$and", differs, flag))
            count += 1


def _registers(module: Module) -> list[tuple[list[Any], list[Any]]]:
    """Return the bits of every register that both versions have, in gold and in gate."""
    driven = {
        bit
        for cell in module["cells"].values()
        if cell["type"] == FLIP_FLOP
        for bit in cell["connections"]["Q"]
    }
    found: dict[tuple[Any, ...], tuple[list[Any], list[Any]]] = {}
    for gold, gate in _pairs(module):
        if gold != gate and all(bit in driven for bit in (*gold, *gate)):
            found.setdefault(tuple(gold), (gold, gate))
    return list(found.values())


def _pairs(module: Module) -> list[tuple[list[Any], list[Any]]]:
    """Return the bits of every signal that both versions have under one name and width."""
    nets = module["netnames"]
    found = []
    for name, net in nets.items():
        if name.startswith("gold.") and not net["hide_name"]:
            other = nets.get("gate." + name[len("gold.") :])
            if other is not None and len(other["bits"]) == len(net["bits"]):
                found.append((net["bits"], other["bits"]))
    return found


def hold_reset(edit: Editor, first: list[int]) -> None:
    """Make reset high in the first cycle, whatever its input says."""
    reset = edit.module["ports"].get("in_rst")
    if reset is None:
        return
    inside = reset["bits"]
    outside = edit.bits(1)
    edit.cell(
        "$or",
        {"A_SIGNED": 0, "B_SIGNED": 0, "A_WIDTH": 1, "B_WIDTH": 1, "Y_WIDTH": 1},
        A=outside,
        B=first,
        Y=inside,
    )
    reset["bits"] = outside
    edit.module["netnames"].pop("in_rst", None)
    edit.net("in_rst", outside)


def _share_power_up(edit: Editor, first: list[int]) -> None:
    """Give the flip-flops that both versions have one power-up value, a free input."""
    pairs = _register_bits(edit.module)
    if not pairs:
        return
    free = edit.bits(len(pairs))
    edit.input("power_up", free)
    for value, pair in zip(free, pairs, strict=True):
        for cell, at in pair:
            seen = cell["connections"]["Q"][at]
            stored = edit.bits(1)
            cell["connections"]["Q"][at] = stored[0]
            edit.cell("$mux", {"WIDTH": 1}, A=stored, B=[value], S=first, Y=[seen])


Bit = tuple[dict[str, Any], int]


def _register_bits(module: Module) -> list[tuple[Bit, Bit]]:
    """Return the flip-flop bits that carry one name in both versions: cell and position."""
    drivers: dict[int, Bit] = {}
    for cell in module["cells"].values():
        if cell["type"] == FLIP_FLOP:
            for at, bit in enumerate(cell["connections"]["Q"]):
                drivers[bit] = (cell, at)
    pairs: dict[tuple[int, int], tuple[Bit, Bit]] = {}
    for gold, gate in _pairs(module):
        for one, other in zip(gold, gate, strict=True):
            if one in drivers and other in drivers:
                pairs.setdefault((one, other), (drivers[one], drivers[other]))
    taken: set[int] = set()
    found = []
    for (one, other), pair in pairs.items():
        if one not in taken and other not in taken:
            taken |= {one, other}
            found.append(pair)
    return found
