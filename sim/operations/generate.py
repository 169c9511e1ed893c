"""The parts of the RTL and of the unit bench that follow from the table of operations.

They stand between two marks in files that are otherwise written by hand, and are checked in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from model.chip.operation_table import EXECUTED, FIELDS, OPERATIONS, FaultCode, Operand, Operation
from sim.shared.paths import ROOT

BEGIN = "  // Written by make operations."
END = "  // End of what make operations writes."

_PORT = re.compile(r"^ +(?:input|output) +(?:wire|logic) *(?:\[ *(\d+):0\])? *(\w+)", re.M)
_SHARED = {
    "ren": "rens",
    "raddr": "raddrs",
    "addr": "raddrs",
    "we": "wes",
    "waddr": "waddrs",
    "wdata": "wdatas",
    "done": "dones",
}


class GenerateError(ValueError):
    """A file or a unit that the generated text does not fit; the message names it."""


def opcode(row: Operation) -> str:
    """Name of its opcode in ga2_pkg."""
    return f"Op{row.name.capitalize()}"


def package(_: Path) -> list[str]:
    """Positions of the fields, opcodes and fault codes."""
    lines = ["  // Least significant bit of each instruction field."]
    for name, (low, width) in FIELDS.items():
        lines.append(f"  localparam int Field{name.capitalize()} = {low};  // {width} bits")
    lines += ["", "  // Opcodes above these fault.", "  typedef enum logic [3:0] {"]
    lines += _members({opcode(row): int(row.op) for row in OPERATIONS.values()})
    lines += ["  } opcode_e;", ""]
    lines.append(
        "  // In order of priority: the first rule that an instruction breaks gives the code."
    )
    lines.append("  typedef enum logic [3:0] {")
    lines += _members({f"Fault{code.name.capitalize()}": int(code) for code in FaultCode})
    return [*lines, "  } fault_e;"]


def _members(values: dict[str, int]) -> Iterable[str]:
    wide = max(map(len, values))
    lines = [f"    {name:{wide}} = 4'd{value}" for name, value in values.items()]
    return [f"{line}," for line in lines[:-1]] + lines[-1:]


def slices(_: Path) -> list[str]:
    """Every field of the instruction word as a net."""
    return [
        f"  wire [{width - 1}:0] {name} = instr[ga2_pkg::Field{name.capitalize()}+:{width}];"
        for name, (_low, width) in FIELDS.items()
    ]


def top_slices(folder: Path) -> list[str]:
    """The fields, which operation it is, and the bits that no operation uses."""
    lines = slices(folder)
    for row in EXECUTED:
        lines.append(f"  wire is_{row.name.lower()} = op == ga2_pkg::{opcode(row)};")
    unused = []
    for name, (_, width) in FIELDS.items():
        used = 0 if name != "op" else (1 << width) - 1
        for row in EXECUTED:
            used |= row.named_bits.get(name, 0)
        top = used.bit_length()
        if used != (1 << top) - 1:
            raise GenerateError(
                f"field {name}: the bits that no operation uses are not the top ones"
            )
        if top < width:
            unused.append((f"{name}[{width - 1}:{top}]", width - top))
    total = sum(width for _, width in unused)
    lines.append("  // No operation uses these bits.")
    lines.append(
        f"  wire [{total - 1}:0] unused_bits = {{{', '.join(text for text, _ in unused)}}};"
    )
    return lines


def fault_classes(_: Path) -> list[str]:
    """What the fault rules distinguish: kinds of operation, and the length."""

    def having(name: str, holds: Callable[[Operation], bool]) -> str:
        terms = [f"op == ga2_pkg::{opcode(row)}" for row in EXECUTED if holds(row)]
        text = f"  wire {name} = {' || '.join(terms)};"
        if len(text) <= 100:
            return text
        return f"  wire {name} =\n      " + "\n      || ".join(terms) + ";"

    for row in EXECUTED:
        if len(row.sources) > 1 and row.length and row.length.field != "d":
            raise GenerateError(f"{row.name}: with a second source in c its length must be in d")
    return [
        having("is_mm", lambda row: bool(row.shape)),
        "  // The second region is a scratchpad source of the common length; so is a third.",
        having("has_src_b", lambda row: bool(row.length and row.sources and row.unit == "vec")),
        having("has_src_c", lambda row: bool(row.length) and len(row.sources) > 1),
        "  // The first region is one word; eight times the length.",
        having("one_word", lambda row: bool(row.length and row.destination and _fixed(row))),
        having("expands", lambda row: row.expansion == 8),
        f"  wire bad_opcode = op > ga2_pkg::{opcode(list(OPERATIONS.values())[-1])};",
    ]


def _fixed(row: Operation) -> bool:
    return row.destination is not None and row.destination.per_length == 0


def socket(rtl: Path) -> list[str]:
    """Every unit in the socket of the unit bench, its ports connected by their names."""
    lines: list[str] = []
    driven: dict[str, set[int]] = {"rens": set(), "wes": set(), "dones": set()}
    for row in EXECUTED:
        ports = _PORT.findall((rtl / f"{row.module}.sv").read_text())
        if not ports:
            raise GenerateError(f"{row.module}.sv: no ports found")
        connected = []
        for high, port in ports:
            width = int(high or 0) + 1
            connected.append(_connection(row, port, width))
            bus = _SHARED.get(port.removesuffix("_q"), "")
            if bus in driven:
                driven[bus].add(int(row.op))
        unit = f"{row.module} #({row.parameters})" if row.parameters else row.module
        name = row.name.lower() if row.parameters else row.module.removeprefix("ga2_")
        lines += [f"  {unit} u_{name} (", ",\n".join(f"      {c}" for c in connected), "  );", ""]
    for bus, ops in driven.items():
        idle = [op for op in range(15, -1, -1) if op not in ops]
        lines.append(f"  assign {{{', '.join(_runs(bus, idle))}}} = '0;")
    return lines


def _runs(bus: str, bits: list[int]) -> Iterable[str]:
    """Selections of ``bits``, descending, with neighbours together."""
    while bits:
        last = 0
        while last + 1 < len(bits) and bits[last + 1] == bits[last] - 1:
            last += 1
        yield f"{bus}[{bits[0]}:{bits[last]}]" if last else f"{bus}[{bits[0]}]"
        bits = bits[last + 1 :]


def _connection(row: Operation, port: str, width: int) -> str:
    name = port.removesuffix("_q")
    if port in ("clk", "rst", "resp_valid", "resp_data") or (port == "rdata" and width == 32):
        return f".{port}"
    if port == "start":
        return f".start(starts[ga2_pkg::{opcode(row)}])"
    if port == "rdata":
        return f".rdata(rdata[{width - 1}:0])"
    if name in ("req_valid", "req_addr", "wr_valid", "wr_addr", "wr_data"):
        return f".{port}({name})"
    if name in _SHARED:
        return f".{port}({_SHARED[name]}[ga2_pkg::{opcode(row)}])"
    for operand in row.operands:
        if port in (operand.name, operand.name.lower(), f"base_{operand.name.lower()}"):
            return f".{port}({_slice(operand, width)})"
    raise GenerateError(f"{row.module}.sv: port {port} is no operand of {row.name}")


def _slice(operand: Operand, width: int) -> str:
    whole = FIELDS[operand.field][1]
    if operand.low == 0 and width == whole:
        return operand.field
    if width == 1:
        return f"{operand.field}[{operand.low}]"
    return f"{operand.field}[{operand.low + width - 1}:{operand.low}]"


PARTS: dict[str, tuple[Callable[[Path], list[str]], ...]] = {
    "hw/rtl/ga2_pkg.sv": (package,),
    "hw/rtl/ga2.sv": (top_slices,),
    "hw/rtl/ga2_fault_checker.sv": (fault_classes,),
    "verif/units/hdl/unit_bench.sv": (slices, socket),
}
"""By file: what stands in its marked parts, in order."""


def generated(root: Path = ROOT) -> dict[Path, str]:
    """Text of each file with its marked parts as the table says.

    Raises:
        GenerateError: marks are missing, or a unit does not fit the socket.
    """
    return {root / name: _filled(root, name, parts) for name, parts in PARTS.items()}


def _filled(root: Path, name: str, parts: tuple[Callable[[Path], list[str]], ...]) -> str:
    pieces = (root / name).read_text().split(BEGIN + "\n")
    if len(pieces) != len(parts) + 1:
        raise GenerateError(f"{name}: {len(pieces) - 1} marks {BEGIN.strip()!r}, not {len(parts)}")
    text = pieces[0]
    for piece, part in zip(pieces[1:], parts, strict=True):
        _, end, rest = piece.partition(END + "\n")
        if not end:
            raise GenerateError(f"{name}: a part has no mark {END.strip()!r}")
        text += "\n".join([BEGIN, *part(root / "hw" / "rtl"), END]) + "\n" + rest
    return text
