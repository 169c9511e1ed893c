"""Proves many mutants of one place at once: what is equal shows in one pass of an engine.

Reading a design and finding its own equal signals costs more than what a mutant adds. What is
not proven here is not different; ``equivalence`` has engines that look longer.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from sim.mutate.rtl.engines import BOUND, SAID
from sim.mutate.rtl.equivalence import Proof, Prover, Scope, constant_zero
from sim.mutate.rtl.family import ALL
from sim.mutate.rtl.family_netlist import CLAIM
from sim.mutate.rtl.yosys import run_abc, run_module

ENGINE = "abc scorr, pdr, products cut"
PDR_SECONDS = 1
MEMBERS = 24
LIMIT = 600.0
"""Seconds for each tool: an engine that hangs must not hold up a campaign."""


def families_of(files: Mapping[int, str]) -> list[list[int]]:
    """Return families of mutants, given by number and file: of one file, and not too many."""
    groups: dict[str, list[int]] = defaultdict(list)
    for number, file in files.items():
        groups[file].append(number)
    return [
        numbers[at : at + MEMBERS]
        for numbers in groups.values()
        for at in range(0, len(numbers), MEMBERS)
    ]


def prove_family(
    prover: Prover, file: str, mutated: Mapping[int, Mapping[str, str]]
) -> tuple[dict[int, Proof], dict[int, list[str]]]:
    """Try to prove mutants of one file equal.

    Returns:
        The proofs that were found, and what was tried, both by number.
    """
    proofs: dict[int, Proof] = {}
    tried: dict[int, list[str]] = {number: [] for number in mutated}
    for scope in prover.surrounded(file):
        left = {number: texts for number, texts in mutated.items() if number not in proofs}
        if left:
            attempt = FamilyProof(prover, scope, left)
            proofs |= attempt.run()
            for number, what in attempt.tried.items():
                tried[number].append(what)
    return proofs, tried


class FamilyProof:
    """The attempt to prove a family in one scope.

    Args:
        prover: of the design.
        scope: surroundings.
        mutated: the sources of each mutant by its number.

    Attributes:
        tried: what each mutant that is not proven came to.
    """

    def __init__(
        self, prover: Prover, scope: Scope, mutated: Mapping[int, Mapping[str, str]]
    ) -> None:
        self.prover = prover
        self.scope = scope
        self.mutated = mutated
        self.tried: dict[int, str] = {}

    def run(self) -> dict[int, Proof]:
        """Return the proofs that were found."""
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="ga2-family-") as name:
            engines = self._decide(Path(name))
        seconds = round((time.monotonic() - began) / max(1, len(self.mutated)), 2)
        taken = self.prover.assumptions(self.scope)
        for number in self.mutated.keys() - engines.keys():
            self.tried.setdefault(number, f"{self.scope.top}: {ENGINE}: not proven")
        return {n: Proof(e, self.scope.top, seconds, taken) for n, e in engines.items()}

    def _decide(self, folder: Path) -> dict[int, str]:
        self._write(folder)
        outcome = run_module("sim.mutate.rtl.family", folder, LIMIT)
        table = folder / f"{ALL}.map"
        if not outcome.ok:
            errors = [line for line in outcome.log.splitlines() if "error" in line.lower()]
            why = "; ".join(errors[-2:]) or ("died" if outcome.finished else "time limit")
            self.tried |= dict.fromkeys(self.mutated, f"{self.scope.top}: yosys: {why}")
            return {}
        for number, different in json.loads((folder / SAID).read_text()).items():
            self.tried[int(number)] = f"boxes: they are not the same: {different}"
        places = claims(table.read_text()) if table.exists() else {}
        commands = {
            n: f"&cone -O {min(p)} -R 1; &put; bmc3 -F {BOUND} -T 1" for n, p in places.items()
        }
        for number, said in self._abc(folder, commands).items():
            if "asserted in frame" in said:
                self.tried[number] = f"{self.scope.top}: bmc3: a difference within {BOUND} cycles"
                del places[number]
        commands = {
            n: f"&cone -O {min(p)} -R {len(p)}; &put; scorr; &get; &cone -O 0 -R 1; &put; scorr; "
            f"write_aiger rest{n}.aig; pdr -T {PDR_SECONDS}"
            for n, p in places.items()
        }
        found = {}
        for number, said in self._abc(folder, commands).items():
            rest = folder / f"rest{number}.aig"
            equal = rest.exists() and constant_zero(rest.read_bytes())
            if equal or "Property proved" in said:
                found[number] = ENGINE
            elif "asserted in frame" in said:
                self.tried[number] = f"{self.scope.top}: abc pdr: a difference exists"
        return found

    def _abc(self, folder: Path, commands: Mapping[int, str]) -> dict[int, str]:
        """Run commands of abc on the circuit for each mutant; return what it said of each."""
        if not commands:
            return {}
        script = "".join(f"echo mutant {n}; &r {ALL}.aig; {c}; " for n, c in commands.items())
        outcome = run_abc(script, folder, LIMIT)
        parts = outcome.log.split("mutant ")[1:]
        return {int(part.split(maxsplit=1)[0].rstrip(";")): part for part in parts}

    def _write(self, folder: Path) -> None:
        design = self.prover.sources(self.scope, self.prover.texts)
        sides = {"gold": design}
        for number, texts in self.mutated.items():
            made = self.prover.sources(self.scope, texts)
            sides[f"gate{number}"] = {n: text for n, text in made.items() if text != design[n]}
        for side, texts in sides.items():
            (folder / side).mkdir()
            for name, text in texts.items():
                (folder / side / name).write_text(text, encoding="latin-1")
        observer = self.prover.observer(self.scope)
        (folder / "gold" / "observed.sv").write_text(observer)
        task = {"files": list(design), "numbers": list(self.mutated)}
        (folder / "task.json").write_text(json.dumps(task))


def claims(table: str) -> dict[int, range]:
    """Return the places of each mutant's claim and hints among the outputs, from Yosys' table.

    Raises:
        ValueError: they are not side by side, the claim first.
    """
    found: dict[int, list[int]] = defaultdict(list)
    first: dict[int, int] = {}
    for line in table.splitlines():
        words = line.split()
        if words[0] == "output":
            number, place = int(words[-1].removeprefix(CLAIM)), int(words[1])
            found[number].append(place)
            if words[2] == "0":
                first[number] = place
    places = {number: range(min(own), max(own) + 1) for number, own in found.items()}
    after = 0
    for number, own in sorted(places.items(), key=lambda item: item[1].start):
        if own.start < after or first[number] != own.start:
            raise ValueError(f"the outputs of mutant {number} are in another order")
        after = own.stop
    return places
