"""What of a module counts when two versions of it are compared.

An address or a datum means something only while the signal beside it says so: nothing in the
chip, and no memory outside it, looks at a read address without its enable. A proof may use that.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyslang import ast

from sim.mutate.rtl.source import compile_texts
from sim.mutate.rtl.surroundings import inputs

QUALIFIERS = {
    "raddr_q": "ren_q",
    "addr_q": "ren",
    "waddr_q": "we_q",
    "wdata": "we_q",
    "wdata_q": "we_q",
    "req_addr_q": "req_valid_q",
    "wr_addr_q": "wr_valid_q",
    "wr_data_q": "wr_valid_q",
    "req_addr": "req_valid",
    "wr_addr": "wr_valid",
    "wr_data": "wr_valid",
}
"""Output port, and the output port that says when it counts."""

MEMORY_DECLARATION = "logic [31:0] mem[ga2_pkg::SpadWords];"
MEMORY_READ = "mem[raddr]"
MEMORY_WRITE = "if (we) mem[waddr] <= wdata;"

MEMORY_CELLS = """\
wire [31:0] cell_data;
  ga2_scratchpad_cells u_cells (
      .ren(ren), .raddr(raddr & {12{ren}}), .we(we), .waddr(waddr & {12{we}}),
      .wdata(wdata & {32{we}}), .data(cell_data)
  );"""

MEMORY_BOX = """
(* blackbox *)
module ga2_scratchpad_cells (
    input wire ren, input wire [11:0] raddr, input wire we, input wire [11:0] waddr,
    input wire [31:0] wdata, output wire [31:0] data
);
endmodule
"""


def without_cells(text: str) -> str:
    """Return the scratchpad with its storage as a box: requests are compared, data is free.

    Memories that answer equal requests equally need not be in the comparison; what is read without
    being asked for is then anything. A text that stores or addresses differently stays as it is.
    """
    parts = (MEMORY_DECLARATION, MEMORY_READ, MEMORY_WRITE)
    if any(text.count(part) != 1 for part in parts):
        return text
    text = text.replace(MEMORY_DECLARATION, MEMORY_CELLS).replace(MEMORY_WRITE, "")
    return text.replace(MEMORY_READ, "cell_data") + MEMORY_BOX


class Hierarchy:
    """Modules of the design: their ports, their files, and who instantiates them."""

    def __init__(self, texts: dict[str, str]) -> None:
        compilation, _, _ = compile_texts(texts)
        self.ports: dict[str, list[tuple[str, str, int]]] = {}
        self.parent: dict[str, str] = {}
        tops = compilation.getRoot().topInstances
        for instance in tops:
            self._enter(instance, None)
        self.top: str = tops[0].definition.name

    def _enter(self, instance: Any, parent: str | None) -> None:
        name = instance.definition.name
        if parent is not None:
            self.parent.setdefault(name, parent)
        if name not in self.ports:
            self.ports[name] = [
                (
                    port.name,
                    "input" if port.direction == ast.ArgumentDirection.In else "output",
                    port.type.bitWidth,
                )
                for port in instance.body.portList
            ]
        for member in instance.body:
            if isinstance(member, ast.InstanceSymbol):
                self._enter(member, name)

    def scopes(self, module: str) -> list[str]:
        """Return a module and everything around it, the module first, the chip last."""
        found = [module]
        while found[-1] in self.parent:
            found.append(self.parent[found[-1]])
        return found

    def inside(self, module: str) -> set[str]:
        """Return a module and everything in it."""
        return {name for name in self.ports if module in self.scopes(name)}

    def stub(self, module: str) -> str:
        """Return a module without contents: its inputs are compared, its outputs are free."""
        ports = ", ".join(
            f"{way} wire [{width - 1}:0] {name}" for name, way, width in self.ports[module]
        )
        return f"(* blackbox *)\nmodule {module} ({ports});\nendmodule\n"

    def observer(self, module: str, surrounded: bool = False) -> str:
        """Return a module ``observed`` around ``module`` whose outputs are masked when idle.

        ``surrounded``: its inputs keep the rules of ``surroundings``.
        """
        ports = self.ports[module]
        names = {name for name, _, _ in ports}
        declared = ",\n".join(f"  {way} wire [{width - 1}:0] {name}" for name, way, width in ports)
        wires = []
        pins = []
        for name, way, width in ports:
            if way == "input":
                pins.append(f".{name}({f'use_{name}' if surrounded else name})")
                continue
            pins.append(f".{name}(raw_{name})")
            wires.append(f"  wire [{width - 1}:0] raw_{name};")
            valid = QUALIFIERS.get(name)
            mask = f" & {{{width}{{raw_{valid}}}}}" if valid in names else ""
            wires.append(f"  assign {name} = raw_{name}{mask};")
        if surrounded:
            wires.append(inputs(module, {n: width for n, way, width in ports if way == "input"}))
        return (
            f"module observed (\n{declared}\n);\n"
            + "\n".join(wires)
            + f"\n  {module} u ({', '.join(pins)});\nendmodule\n"
        )


def masked_ports(ports: Iterable[tuple[str, str, int]]) -> list[str]:
    """Return, in words, which outputs of a module count only at times."""
    names = {name for name, _, _ in ports}
    return [
        f"{name} counts while {QUALIFIERS[name]} is high"
        for name in sorted(names)
        if QUALIFIERS.get(name) in names
    ]
