"""The realistic faults: read from their lists, and planted in one copy of the design.

One build holds all of them; the testbench wakes one after the other, so that a simulator is
compiled and started once for the whole table.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import msgspec

from sim.engine.design import Design
from sim.shared.patch import Patch, PatchError
from sim.shared.paths import ROOT

FOLDER = ROOT / "tests" / "realistic_faults"
CONTROL = "fault_next"
"""The testbench writes a fault's number to ``dut.fault_next``; it counts from the next clock."""

_AWAKE = "ga2_planted_pkg::awake"
_PACKAGE = "ga2_planted_pkg.sv"
_PACKAGE_TEXT = """\
// Generated: which fault is awake. 0 is the design as it was written.
package ga2_planted_pkg;
  logic [31:0] awake = '0;
endpackage
"""
_TOP = "ga2.sv"
_CHOICE = f"""
  logic [31:0] {CONTROL} /* verilator public_flat_rw */;
  initial {CONTROL} = '0;
  always_ff @(posedge clk) {_AWAKE} <= {CONTROL};
"""


class Fault(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A fault of several lines, as designers make them.

    Attributes:
        name: unique among all.
        about: what it does.
        kind: of mistake: carry, narrow, stale, coincidence, corner, parity, reset, early or edge.
        operation: the instruction that has to be named; empty where it is none's.
        patches: expressions that become others.
        declare: what the module of the first patch needs besides: declarations, then processes.
    """

    name: str
    about: str
    kind: str
    operation: str
    patches: tuple[Patch, ...]
    declare: str = ""

    @property
    def file(self) -> str:
        """The module that it is about."""
        return self.patches[0].file


def load_faults(folder: Path = FOLDER) -> list[Fault]:
    """Return all faults, list by list.

    Raises:
        msgspec.ValidationError: a list is not one of faults.
        PatchError: two have the same name.
    """
    faults = [
        fault
        for path in sorted(folder.glob("*.yaml"))
        for fault in msgspec.yaml.decode(path.read_bytes(), type=list[Fault])
    ]
    names = [fault.name for fault in faults]
    for name in names:
        if names.count(name) > 1:
            raise PatchError(f"two realistic faults are called {name}")
    return faults


def plant(design: Design, faults: Sequence[Fault], target: Path) -> Path:
    """Write the design with all faults asleep into ``target``, which is made; returns it.

    Fault number n, from 1, is awake while ``CONTROL`` is n.

    Raises:
        PatchError: a patch has no unique place, or overlaps another one's.
    """
    target.mkdir(parents=True)
    for path, content in design.contents.items():
        (target / path.name).write_bytes(content)
    names = [_PACKAGE, *(path.name for path in design.sources.files)]
    (target / _PACKAGE).write_text(_PACKAGE_TEXT)
    (target / "ga2.f").write_text("".join(f"{name}\n" for name in names))
    edits: dict[str, dict[tuple[int, int], list[tuple[int, str]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    declared: dict[str, list[str]] = defaultdict(list)
    for number, fault in enumerate(faults, 1):
        for patch in fault.patches:
            try:
                span = patch.place((target / patch.file).read_text())
            except (OSError, PatchError) as error:
                raise PatchError(f"fault {fault.name}: {error}") from None
            edits[patch.file][span].append((number, patch.new))
        if fault.declare:
            declared[fault.file].append(fault.declare)
    for name, places in edits.items():
        path = target / name
        text = path.read_text()
        spans = sorted(places)
        for one, other in pairwise(spans):
            if one[1] > other[0]:
                raise PatchError(
                    f"{name}: {text[slice(*one)]!r} and {text[slice(*other)]!r} overlap"
                )
        for start, end in reversed(spans):
            chosen = text[start:end]
            for number, new in places[start, end]:
                chosen = f"({_AWAKE} == {number} ? ({new}) : {chosen})"
            text = text[:start] + chosen + text[end:]
        path.write_text(_declare(text, declared[name]))
    top = target / _TOP
    top.write_text(_declare(top.read_text(), [_CHOICE]))
    return target


def _declare(text: str, declarations: Sequence[str]) -> str:
    """Put declarations behind the ports, processes at the module's end."""
    head, processes = "", ""
    for declaration in declarations:
        before, always, after = declaration.partition("always_ff")
        head += before
        processes += always + after
    text = text.replace("\n);\n", f"\n);\n{head}", 1)
    body, end, rest = text.rpartition("\nendmodule")
    return body + "\n" + processes + end + rest
