"""Reasons for survivors: read from ``equivalents.yaml``, and held against what really survives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from sim.mutate.model.generate import Mutant

FILE = Path(__file__).with_name("equivalents.yaml")

Reasons = Mapping[str, Mapping[str, str]]


class Equivalent(msgspec.Struct, forbid_unknown_fields=True):
    """Mutants of one module that no test can tell from it, and why."""

    mutant: str
    reason: str
    also: list[str] = []

    def __post_init__(self) -> None:
        if not self.reason.strip():
            raise ValueError(f"no reason for {self.mutant!r}")


def load_reasons(path: Path = FILE) -> dict[str, dict[str, str]]:
    """Reason of each equivalent mutant: by module, then by the mutant's key.

    Raises:
        ValueError: a reason is missing, or an entry is not as it should be.
    """
    try:
        loaded = msgspec.yaml.decode(path.read_bytes(), type=dict[str, list[Equivalent]])
    except msgspec.ValidationError as error:
        raise ValueError(f"{path}: {error}") from None
    return {
        module: {key: entry.reason for entry in entries for key in (entry.mutant, *entry.also)}
        for module, entries in loaded.items()
    }


def stale(
    module: str, reasons: Reasons, mutants: Iterable[Mutant], survived: Iterable[str] | None
) -> list[str]:
    """Entries that are not true any more, in words.

    Args:
        module: whose entries.
        reasons: all of them.
        mutants: everything generated from the module.
        survived: keys of those that passed all tests; None when they were not run.
    """
    generated = {mutant.key for mutant in mutants}
    alive = None if survived is None else set(survived)
    wrong = []
    for key in reasons.get(module, {}):
        if key not in generated:
            wrong.append(f"{module}: no longer a mutant: {key}")
        elif alive is not None and key not in alive:
            wrong.append(f"{module}: said to be equivalent, but killed: {key}")
    return wrong
