"""What the testbench says about a program: plain data, one JSON line each."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

# From what says most about a failure to what says least.
MismatchKind = Literal[
    "testbench", "x", "assertion", "hang", "fault", "retire", "protocol", "traffic", "scratchpad",
    "memory", "counter",
]  # fmt: skip
MISMATCH_KINDS: tuple[MismatchKind, ...] = get_args(MismatchKind)


@dataclass
class Mismatch:
    """One difference between what was expected and what was seen.

    Attributes:
        kind: what differs.
        message: one line for a reader.
        pc, instruction: of the first divergent instruction, when it is known.
        expected, got: the two values as text.
        address: of the word that differs, for a mismatch of a memory.
    """

    kind: MismatchKind
    message: str
    pc: int | None = None
    instruction: str = ""
    expected: str = ""
    got: str = ""
    address: int | None = None


@dataclass
class ProgramResult:
    """Verdict on one program.

    Attributes:
        name, provenance: of the item.
        passed: no mismatch and at least one comparison.
        counters: observed, by the model's names (total, mm, dma, vec, n_inst); empty if unknown.
        fault, fault_code, fault_pc: observed fault outputs; None if unknown.
        memory_digest: SHA-256 of the observed external memory, to compare simulators.
        comparisons: values compared.
        mismatches: differences; long lists are cut, the message then gives the total.
        first_divergence: the first instruction that went wrong, with its operands' values.
        rerun: command that plays this program alone, with waves.
        retires: observed retire records (pc, op, fault, busy, scratchpad writes, external writes,
            signature) when the job asked for them.
    """

    name: str
    provenance: str = ""
    passed: bool = False
    counters: dict[str, int] = field(default_factory=dict)
    fault: int | None = None
    fault_code: int | None = None
    fault_pc: int | None = None
    memory_digest: str = ""
    comparisons: int = 0
    mismatches: list[Mismatch] = field(default_factory=list)
    first_divergence: str = ""
    rerun: str = ""
    retires: list[list[int]] | None = None

    def to_json(self) -> str:
        """One line of JSON."""
        mismatches = [vars(mismatch) for mismatch in self.mismatches]
        return json.dumps({"type": "program", **vars(self), "mismatches": mismatches})

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> ProgramResult:
        """Inverse of ``to_json``, from the parsed line."""
        fields = {name: value for name, value in fields.items() if name != "type"}
        fields["mismatches"] = [Mismatch(**m) for m in fields["mismatches"]]
        return cls(**fields)
