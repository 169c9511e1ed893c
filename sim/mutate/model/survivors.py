"""Reasons for survivors: read from ``equivalent.yaml``, and held against what really survives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import yaml

from sim.mutate.model.generate import Mutant

FILE = Path(__file__).with_name("equivalent.yaml")

Reasons = Mapping[str, Mapping[str, str]]


def load_reasons(path: Path = FILE) -> dict[str, dict[str, str]]:
    """Reason of each equivalent mutant: by module, then by the mutant's key.

    Raises:
        ValueError: a reason is missing.
    """
    loaded = yaml.safe_load(path.read_text()) or {}
    reasons: dict[str, dict[str, str]] = {}
    for module, entries in loaded.items():
        reasons[module] = {}
        for entry in entries:
            if not str(entry.get("reason") or "").strip():
                raise ValueError(f"{path.name}: {module}: no reason for {entry.get('mutant')!r}")
            for key in [entry["mutant"], *entry.get("also", ())]:
                reasons[module][key] = entry["reason"]
    return reasons


def stale(
    module: str, reasons: Reasons, mutants: Iterable[Mutant], survived: Iterable[Mutant] | None
) -> list[str]:
    """Entries that are not true any more, in words.

    Args:
        module: whose entries.
        reasons: all of them.
        mutants: everything generated from the module.
        survived: those that passed all tests; None when they were not run.
    """
    generated = {mutant.key for mutant in mutants}
    alive = None if survived is None else {mutant.key for mutant in survived}
    wrong = []
    for key in reasons.get(module, {}):
        if key not in generated:
            wrong.append(f"{module}: no longer a mutant: {key}")
        elif alive is not None and key not in alive:
            wrong.append(f"{module}: said to be equivalent, but killed: {key}")
    return wrong
