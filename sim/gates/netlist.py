"""Netlists of the design: synthesized by Yosys to generic gates and to iCE40 cells.

generic: two-input gates, multiplexers and flip-flops (simcells); the scratchpad stays a macro, as a
foundry would supply it, the operand banks become flip-flops. ice40: look-up tables, carry chains
and flip-flops, every memory as block RAMs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sim.engine.build_cache import cached
from sim.engine.builds import place, write_snapshot
from sim.engine.design import Design, design_of
from sim.engine.sources import DesignError
from sim.engine.yosys import YosysError, package_folder, run_yosys
from sim.shared.files import digest
from sim.shared.paths import BUILD, RTL

FOLDER = BUILD / "netlists"
TARGETS = ("generic", "ice40")
MACRO = "ga2_scratchpad"  # generic only
CELLS = "cells.v"  # ice40: the models without their power-up value of 0
POWER_UP = "`define SB_DFF_INIT initial Q = 0;"

# ABC as Yosys calls it, but for "&fraig -x", which does not end on the multipliers.
ABC = "+strash;scorr;dc2;dretime;strash;&get,-n;&dch,-f;&nf;&put"

# splitnets: a vector whose bits feed each other is a loop to Verilator.
_SYNTHESIS = {
    "generic": (
        f"blackbox {MACRO}",
        "synth -noabc -top ga2",
        f"abc -script {ABC}",
        "opt -fast",
        "splitnets",
    ),
    "ice40": ("synth_ice40 -noflatten -top ga2 -run begin:check",),
}


@dataclass(frozen=True)
class Netlist:
    """A synthesized design.

    Attributes:
        target: ``generic`` or ``ice40``.
        folder: where it lies, with Yosys' logs.
        cells: how many of each type.
        units: of each module that is left, all its instances together: type to number.
        macros: the scratchpad, for what stays a macro, behind the packages that it may look into.
    """

    target: str
    folder: Path
    cells: Mapping[str, int]
    units: Mapping[str, Mapping[str, int]]
    macros: tuple[Path, ...] = ()

    @property
    def sources(self) -> list[Path]:
        """Files to simulate: cell models, macros, netlist."""
        share = package_folder() / "share"
        netlist = self.folder / "netlist.v"
        if self.target == "ice40":
            return [self.folder / CELLS, netlist]
        return [share / "simcells.v", *self.macros, netlist]

    @property
    def design(self) -> Design:
        """The netlist as a design to simulate."""
        return Design.of_files(self.folder, self.sources)

    @property
    def defines(self) -> list[str]:
        """Macros for the compilers."""
        if self.target == "ice40":
            # Without the defaults, which some simulators cannot parse; nothing is unconnected.
            return ["GA2_NETLIST", "NO_ICE40_DEFAULT_ASSIGNMENTS"]
        return ["GA2_NETLIST"]


def flip_flops(cells: Mapping[str, int]) -> int:
    """Count the flip-flops among the cells."""
    return sum(n for kind, n in cells.items() if re.match(r"\$_S?DFF|SB_DFF", kind))


def block_rams(cells: Mapping[str, int]) -> int:
    """Count block RAMs and memory macros."""
    return sum(n for kind, n in cells.items() if kind.startswith("SB_RAM") or kind == MACRO)


def logic(cells: Mapping[str, int]) -> int:
    """Count what is neither flip-flop nor memory: gates, or look-up tables and carries."""
    return sum(cells.values()) - flip_flops(cells) - block_rams(cells)


def synthesize(target: str, rtl: Path | Design = RTL) -> Netlist:
    """Synthesize the design, or find it synthesized.

    Raises:
        YosysError: Yosys cannot.
        DesignError: there is no such design, or it has no scratchpad of that name.
    """
    design = design_of(rtl)
    name = digest(*_SYNTHESIS[target], version("pyosys"), design.hash)
    folder = FOLDER / f"{target}-{name}"
    products = ["netlist.v", "cells.json", *([CELLS] if target == "ice40" else [])]
    cached(folder, products, partial(_make, target, design))
    units = _statistics(folder / "cells.json")
    kinds = {kind for own in units.values() for kind in own}
    cells = {kind: sum(own.get(kind, 0) for own in units.values()) for kind in sorted(kinds)}
    return Netlist(target, folder, cells, units, _macros(design))


def _macros(design: Design) -> tuple[Path, ...]:
    def holding(pattern: str) -> list[Path]:
        found = re.compile(pattern.encode(), re.MULTILINE)
        return [path for path in design.sources.files if found.search(design.contents[path])]

    macro = holding(rf"^\s*module\s+{MACRO}\b")
    if not macro:
        raise DesignError(f"{design.path}: no module {MACRO}, which stays a macro")
    return (*holding(r"^\s*package\s"), macro[0])


def _make(target: str, design: Design, folder: Path) -> None:
    write_snapshot(design.contents, folder / "src")
    words = [f"-I src/{place(path)}" for path in design.sources.search]
    words += [f"-D {define}" for define in design.sources.defines]
    words += [f"src/{place(path)}" for path in design.sources.files]
    run_yosys(
        [
            f"read_verilog -sv {' '.join(words)}",
            "hierarchy -check -top ga2",
            *_SYNTHESIS[target],
            "opt_clean -purge",
            "check -assert",
            "write_verilog -noattr -noexpr netlist.v",
            "tee -q -o cells.json stat -json",
        ],
        folder,
        "netlist",
    )
    if target == "ice40":
        _write_cells(folder / CELLS)


def _write_cells(path: Path) -> None:
    """Write the iCE40 models with flip-flops that power up unknown, as the RTL's do.

    Also without their time scale, which Icarus would carry on to the testbench.
    """
    text = (package_folder() / "share" / "ice40" / "cells_sim.v").read_text()
    if text.count(POWER_UP) != 1:
        raise YosysError(f"cells_sim.v of this Yosys has no line {POWER_UP!r}")
    text = re.sub(r"^`timescale.*$", "", text, flags=re.MULTILINE)
    path.write_text(text.replace(POWER_UP, "`define SB_DFF_INIT"))


def _statistics(path: Path) -> dict[str, dict[str, int]]:
    """Read what ``stat -json`` wrote: the cells of each module, times its instances."""
    text = path.read_text()
    modules: dict[str, Any] = json.loads(text[text.index("{") :])["modules"]
    found = {
        name.lstrip("\\"): {
            kind.lstrip("\\"): count for kind, count in data["num_cells_by_type"].items()
        }
        for name, data in modules.items()
    }
    return {
        unit: {
            kind: count * _instances(unit, found)
            for kind, count in cells.items()
            if kind not in found
        }
        for unit, cells in found.items()
    }


def _instances(unit: str, modules: Mapping[str, Mapping[str, int]]) -> int:
    """Count the instances of a module below ga2."""
    if unit == "ga2":
        return 1
    return sum(
        cells[unit] * _instances(parent, modules)
        for parent, cells in modules.items()
        if unit in cells
    )
