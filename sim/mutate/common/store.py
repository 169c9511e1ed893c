"""A campaign's memory: one JSON line a verdict, so that a run can be interrupted and resumed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from sim.mutate.common.finding import DECIDED, Finding
from sim.shared import jsonl
from sim.shared.files import write_text
from verif.typed import plain


def _nothing(finding: Finding) -> str:
    return ""


@dataclass
class Store:
    """Findings by key, in memory and on disk.

    Attributes:
        path: of the file that is appended to.
        basis: names what a finding depends on beside its key. A stored one holds as long as that
            name is still the same.
        findings: what is known.
        others: files of other writers that were read, too.
    """

    path: Path
    basis: Callable[[Finding], str] = _nothing
    findings: dict[str, Finding] = field(default_factory=dict)
    others: tuple[Path, ...] = ()

    def load(self, *others: Path) -> None:
        """Read what still holds, also from files that others wrote."""
        self.others = tuple(path for path in others if path != self.path)
        for path in (*self.others, self.path):
            for line in jsonl.read(path, Finding):
                finding = msgspec.convert(line, Finding)
                known = self.findings.get(finding.key)
                decided = known is not None and known.status in DECIDED
                if line.get("basis") == self.basis(finding) and not (
                    decided and finding.status not in DECIDED
                ):
                    self.findings[finding.key] = finding

    def forget(self, keys: Iterable[str]) -> None:
        """Forget these findings, on disk, too."""
        gone = set(keys)
        self.findings = {key: one for key, one in self.findings.items() if key not in gone}
        for path in (*self.others, self.path):
            kept = [line for line in jsonl.read(path) if line.get("key") not in gone]
            write_text(path, "".join(f"{json.dumps(line)}\n" for line in kept))

    def add(self, finding: Finding) -> None:
        """Remember a finding; tests survived and proofs tried earlier are kept."""
        before = self.findings.get(finding.key)
        if before is not None:
            survived = dict.fromkeys((*before.survived, *finding.survived))
            tried = dict.fromkeys((*before.tried, *finding.tried))
            finding = replace(finding, survived=tuple(survived), tried=tuple(tried))
        self.findings[finding.key] = finding
        jsonl.append(self.path, {**plain(finding), "basis": self.basis(finding)})

    def undecided(self, keys: Iterable[str]) -> list[str]:
        """Return the keys that are neither killed nor equivalent, in the given order."""
        return [
            key
            for key in keys
            if key not in self.findings or self.findings[key].status not in DECIDED
        ]
