"""What an operation of the table still lacks, one line each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from model.chip.operation_table import EXECUTED, Operation
from model.chip.operations import COMPUTE
from sim.operations.generate import GenerateError, generated, opcode
from sim.shared.paths import ROOT
from verif.bins.values import CLASSIFIERS
from verif.plan import load_plan
from verif.stimulus.directed import REGISTRY


def _text(*parts: str) -> str:
    path = ROOT.joinpath(*parts)
    return path.read_text() if path.exists() else ""


def _no_effect(row: Operation) -> bool:
    return row.unit != "dma" and row.op not in COMPUTE


def _no_scalar_effect(row: Operation) -> bool:
    return f"case {int(row.op)}:" not in _text("tests", "support", "scalar_ga2.py")


def _no_module(row: Operation) -> bool:
    listed = _text("hw", "rtl", "ga2.f").split()
    return f"{row.module}.sv" not in listed or not _text("hw", "rtl", f"{row.module}.sv")


def _not_started(row: Operation) -> bool:
    return f".start(issue_start && is_{row.name.lower()})" not in _text("hw", "rtl", "ga2.sv")


def _not_in_bench(row: Operation) -> bool:
    return f"starts[ga2_pkg::{opcode(row)}]" not in _text("verif", "units", "hdl", "unit_bench.sv")


def _no_unit_test(row: Operation) -> bool:
    if row.unit == "vec":
        return False  # vector.py runs every row of the table
    used = re.compile(rf"\b{row.name.lower()}\(|\bOp\.{row.name}\b")
    return not any(
        used.search(path.read_text()) for path in (ROOT / "verif" / "units").glob("*.py")
    )


def _no_time_of_unit(row: Operation) -> bool:
    return "busy_time" not in _text("hw", "formal", f"{row.module}.svh")


def _no_time_in_chip(row: Operation) -> bool:
    return f"waiting && is_{row.name.lower()} ?" not in _text("hw", "formal", "ga2.svh")


def _no_fault_rules(row: Operation) -> bool:
    rules = _text("hw", "formal", "ga2_spec.sv").partition(" fault(")[2].partition("endfunction")[0]
    return not re.search(rf"^ +(?:4'd\d+, )*4'd{int(row.op)}\b[^;]*:", rules, re.MULTILINE)


def _no_directed(row: Operation) -> bool:
    return not any(name.startswith(f"{row.name.lower()}_") for name in REGISTRY)


def _no_bins(row: Operation) -> bool:
    return row.unit != "dma" and row.op not in CLASSIFIERS


def _no_feature(row: Operation) -> bool:
    return not any(name.startswith(f"{row.name.lower()}.") for name in load_plan().features)


def _not_in_docs(row: Operation) -> bool:
    text = _text("docs", "isa.md").replace(" ", "")
    rows = (f"|{int(row.op)}|{row.name}|", f"|{row.name}|`{row.busy}`|`cyc_{row.unit}`|")
    return not all(wanted.replace(" ", "") in text for wanted in rows)


PARTS: tuple[tuple[Callable[[Operation], bool], str], ...] = (
    (_no_effect, "no effect in model/chip/operations.py (COMPUTE)"),
    (_no_scalar_effect, "no independent effect in tests/support/scalar_ga2.py"),
    (_no_module, "no unit: hw/rtl/{module}.sv, listed in hw/rtl/ga2.f"),
    (_not_started, "not wired in hw/rtl/ga2.sv: no .start(issue_start && is_{name})"),
    (_not_in_bench, "not in the unit bench: run make operations"),
    (_no_unit_test, "no unit test in verif/units/"),
    (_no_time_of_unit, "no proof of its unit's time: busy_time in hw/formal/{module}.svh"),
    (_no_time_in_chip, "no proof of its time in the chip: hw/formal/ga2.svh"),
    (_no_fault_rules, "no proof of its fault rules: fault in hw/formal/ga2_spec.sv"),
    (_no_directed, "no directed program {name}_* in verif/stimulus/directed/"),
    (_no_bins, "no bins of its data in verif/bins/values.py (CLASSIFIERS)"),
    (_no_feature, "no feature {name}.* in verif/testplan.yaml"),
    (
        _not_in_docs,
        "no row in the tables of operations and of time of docs/isa.md, or another time",
    ),
)
"""Everything an operation needs beside its row, and how to say that it is missing."""


def missing(row: Operation) -> Iterator[str]:
    """What ``row`` still lacks, one line each."""
    for lacks, text in PARTS:
        if lacks(row):
            yield f"{row.name}: {text.format(name=row.name.lower(), module=row.module)}"


def problems(root: Path = ROOT) -> list[str]:
    """Everything that is missing or does not follow the table, one line each."""
    found = [line for row in EXECUTED for line in missing(row)]
    try:
        for path, text in generated(root).items():
            if path.read_text() != text:
                name = path.relative_to(root)
                found.append(
                    f"{name}: does not follow the table of operations: run make operations"
                )
    except (GenerateError, OSError) as error:
        found.append(str(error))
    return found
