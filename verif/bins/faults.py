"""Bins of a faulting instruction, from a restatement of the fault rules cause by cause.

The model decides which code a fault gets; here every violated rule is listed, so that coverage
knows which cause was exercised and which code took precedence over which.
"""

from __future__ import annotations

from collections.abc import Iterator

from model.chip.isa import MAX_LENGTH, FaultCode, Instruction
from model.chip.operation_table import OPERATIONS, Operation
from verif.bins.sheet import Hit

Violation = tuple[FaultCode, str]


def violations(i: Instruction) -> Iterator[Violation]:
    """Every fault rule that ``i`` violates, as (code, cause)."""
    row = OPERATIONS.get(i.op)
    if row is None:
        yield FaultCode.OPCODE, str(i.op)
        return
    n = i.length
    if row.length and (n == 0 or row.expansion * n > MAX_LENGTH):
        yield FaultCode.LENGTH, f"{row.name}_{'above' if n else 'zero'}"
    for operand in row.shape:
        value = getattr(i, operand.field)
        if value == 0 or value > operand.most:
            yield FaultCode.SHAPE, f"{operand.name}_{'above' if value else 'zero'}"
    for operand in row.regions:
        base = getattr(i, operand.field)
        where = "ext" if operand.memory == "ext" else operand.name
        if base >= operand.limit:
            yield FaultCode.ADDRESS, f"{row.name}.{where}_base"
        elif base + operand.size(n) > operand.limit:
            yield FaultCode.ADDRESS, f"{row.name}.{where}_end"
    yield from _clashes(i, row, n)


def _clashes(i: Instruction, row: Operation, n: int) -> Iterator[Violation]:
    if row.overlap == "free":
        return
    for operand in row.sources:
        base = getattr(i, operand.field)
        apart = i.a >= base + n or base >= i.a + row.expansion * n
        if not apart and (i.a != base or row.overlap == "never"):
            suffix = f"_{operand.name}" if len(row.sources) > 1 else ""
            yield FaultCode.OVERLAP, f"{row.name}{suffix}_{'above' if i.a > base else 'below'}"


def fault_hits(i: Instruction, pc: int) -> Iterator[Hit]:
    """Bins of the faulting instruction ``i`` at address ``pc``."""
    found = list(violations(i))
    code = min(code for code, _ in found)
    operation = OPERATIONS[i.op].name if i.op in OPERATIONS else str(i.op)
    yield "fault", f"{code.name}/{operation}"
    yield "fault_place", "first" if pc == 0 else "later"
    for other, cause in found:
        if other == code:
            yield "fault_cause", f"{code.name}/{cause}"
        else:
            yield "fault_priority", f"{code.name}_over_{other.name}/{operation}"
