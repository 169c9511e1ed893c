"""Edits a miter, as Yosys writes it in JSON, so that a proof starts where the chip starts.

The miter compares `gold` (the design) and `gate` (a mutant). Here it gets a first cycle in which
reset is high and nothing is compared, and a common, arbitrary power-up value for every flip-flop
that reset reaches in neither version. A flip-flop that reset reaches in one only keeps a power-up
value of its own.
"""

from __future__ import annotations

from typing import Any

Module = dict[str, Any]

RESETTABLE = ("$sdff", "$sdffe", "$sdffce")
PLAIN = ("$dff", "$dffe")


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
        width = 1 if kind in ("$ne", "$logic_or") else len(a)
        result = self.bits(width)
        sizes = {"A_SIGNED": 0, "B_SIGNED": 0, "A_WIDTH": len(a), "B_WIDTH": len(b)}
        self.cell(kind, {**sizes, "Y_WIDTH": width}, A=a, B=b, Y=result)
        return result

    def invert(self, a: list[Any]) -> list[int]:
        """Add an inverter; return its result."""
        result = self.bits(len(a))
        self.cell("$not", {"A_SIGNED": 0, "A_WIDTH": len(a), "Y_WIDTH": len(a)}, A=a, Y=result)
        return result

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
    flat = [bit for result in differs for bit in result]
    clock = ports.get("in_clk")
    if clock is None:
        edit.output("bad", trigger)
        edit.output("diverged", edit.gate("$ne", flat, ["0"] * len(flat)) if flat else trigger)
        return
    first = edit.bits(1)
    edit.net("first_cycle", first, init="1")
    edit.cell(
        "$dff", {"CLK_POLARITY": 1, "WIDTH": 1}, CLK=clock["bits"], D=["0"], Q=first
    )
    later = edit.invert(first)
    edit.output("bad", edit.gate("$and", trigger, later))
    any_differs = edit.gate("$ne", flat, ["0"] * len(flat)) if flat else trigger
    edit.output("diverged", edit.gate("$and", any_differs, later))
    _share_power_up(edit, first)
    _hold_reset(edit, first)


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


def _hold_reset(edit: Editor, first: list[int]) -> None:
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
    """Give flip-flops without reset in both versions one power-up value, a free input."""
    module = edit.module
    names: dict[int, str] = {}
    for name, net in module["netnames"].items():
        if name.startswith(("gold.", "gate.")) and not net["hide_name"]:
            for at, bit in enumerate(net["bits"]):
                if isinstance(bit, int):
                    names.setdefault(bit, f"{name}[{at}]")
    plain: dict[str, tuple[dict[str, Any], int]] = {}
    for cell in module["cells"].values():
        if cell["type"] in PLAIN:
            for at, bit in enumerate(cell["connections"]["Q"]):
                if bit in names:
                    plain[names[bit]] = (cell, at)
    shared = [n for n in plain if n.startswith("gold.") and "gate." + n[5:] in plain]
    if not shared:
        return
    free = edit.bits(len(shared))
    module["ports"]["power_up"] = {"direction": "input", "bits": free}
    edit.net("power_up", free)
    for value, name in zip(free, shared, strict=True):
        for side in (name, "gate." + name[5:]):
            cell, at = plain[side]
            seen = cell["connections"]["Q"][at]
            stored = edit.bits(1)
            cell["connections"]["Q"][at] = stored[0]
            edit.cell("$mux", {"WIDTH": 1}, A=stored, B=[value], S=first, Y=[seen])
