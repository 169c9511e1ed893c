"""Proves that a mutant cannot be told from the design: three engines, each in wider surroundings.

"Not proven" never means "different".
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sim.mutate.rtl.engines import BOUND, BOXES, CUT, DEPTH, SAID
from sim.mutate.rtl.hierarchy import Hierarchy, masked_ports, without_cells
from sim.mutate.rtl.yosys import portable, run_abc, run_module

MEMORY = "ga2_scratchpad"
ARITHMETIC = ("ga2_requantizer", "ga2_exp_table", "ga2_divider", "ga2_mac_row")
"""Pure data paths, boxes where nothing in them matters."""

CONTROL_UNITS = ("ga2_sequencer", "ga2_fault_checker", "ga2_counters")
"""What decides when units start and with which operands: real in every proof about the chip."""


@dataclass(frozen=True)
class Proof:
    """An engine's proof: in which surroundings (module), in what time, under what assumptions."""

    engine: str
    scope: str
    seconds: float
    assumptions: tuple[str, ...]

    def as_json(self) -> dict[str, object]:
        """Return plain data."""
        return asdict(self)


@dataclass(frozen=True)
class Scope:
    """Surroundings of a proof: a module, and what of its contents is real. The rest is boxes."""

    top: str
    real: frozenset[str]
    boxed: tuple[str, ...] = ()


class Prover:
    """Proofs about mutants of one design.

    Args:
        texts: the design, file name to text, packages first.
        limit: seconds that one engine may take.
    """

    def __init__(self, texts: Mapping[str, str], limit: float = 30.0) -> None:
        self.texts = dict(texts)
        self.limit = limit
        self.hierarchy = Hierarchy(self.texts)
        self.chip = self.hierarchy.top

    def scopes(self, files: Sequence[str]) -> list[Scope]:
        """Return the surroundings to try for mutants of some files, the smallest first."""
        tree = self.hierarchy
        modules = [Path(file).stem for file in files if Path(file).stem in tree.ports]
        paths = [tree.scopes(module)[:-1] for module in modules if module != self.chip]
        found = []
        if len(paths) == 1 and len(modules) == 1:
            for at, top in enumerate(paths[0]):
                found.append(self._scope(top, set(paths[0][: at + 1])))
                found.append(self._scope(top, tree.inside(top)))
        units = {module for path in paths for module in path}
        inside = {part for unit in units for part in tree.inside(unit)}
        found.append(self._scope(self.chip, {self.chip, *CONTROL_UNITS, *units}))
        found.append(self._scope(self.chip, {self.chip, *CONTROL_UNITS, *inside}))
        if MEMORY in modules:
            # Who reads it decides whether its data counts.
            found.append(self._scope(self.chip, set(tree.ports) - set(ARITHMETIC)))
        return list(dict.fromkeys(found))

    def _scope(self, top: str, real: set[str]) -> Scope:
        tree = self.hierarchy
        below = [name for name in tree.ports if top in tree.scopes(name)]
        boxed = tuple(name for name in below if name not in real and name != MEMORY)
        return Scope(top, frozenset(real), boxed)

    def prove(
        self, mutated: Mapping[str, str], quick: bool = False
    ) -> tuple[Proof | None, list[str]]:
        """Try to prove a mutated design equal; return the proof, and what was tried.

        ``quick``: only in the smallest surroundings, without the slowest engine.
        """
        files = [name for name in self.texts if self.texts[name] != mutated[name]]
        tried: list[str] = []
        if not files:
            return Proof("identical text", self.chip, 0.0, ()), tried
        for scope in self.scopes(files)[: 1 if quick else None]:
            with tempfile.TemporaryDirectory(prefix="ga2-proof-") as folder:
                attempt = _Attempt(self, scope, dict(mutated), Path(folder), quick)
                proof = attempt.run()
                tried += attempt.log
                if proof is not None:
                    return proof, tried
        return None, tried


class _Attempt:
    """One mutant in one scope."""

    def __init__(
        self, prover: Prover, scope: Scope, mutated: dict[str, str], folder: Path, quick: bool
    ) -> None:
        self.prover = prover
        self.scope = scope
        self.mutated = mutated
        self.folder = folder
        self.quick = quick
        self.log: list[str] = []

    def run(self) -> Proof | None:
        """Run the engines, fastest first."""
        started = time.monotonic()
        self._write("gold", self.prover.texts)
        self._write("gate", self.mutated)
        engine = self._decide()
        if engine is None:
            return None
        seconds = round(time.monotonic() - started, 2)
        return Proof(engine, self.scope.top, seconds, self._assumptions())

    def _decide(self) -> str | None:
        """Return the engine that proves equality, None when none does."""
        limit = self.prover.limit
        said = self._yosys(limit)
        if said.get("different"):
            self._say("sat", f"a difference exists within {BOUND} cycles")
            return None
        if said.get("induct") and said.get("base"):
            return f"equiv_induct -seq {DEPTH}, with base case"
        if said.get("induct"):
            self._say("equiv_induct", "step proven, but the versions may start apart")
        elif "induct" in said:
            self._say("equiv_induct", _verdict(said["induct"]))
        # With cut products first: they hide from an engine what matters about the rest.
        engine = next(
            filter(None, (self._abc(m, limit) for m in (CUT, "start") if said.get(m))), None
        )
        if engine is None and said.get("temporal"):
            return "sat -tempinduct"
        if engine is None and "temporal" in said:
            self._say("sat -tempinduct", _verdict(said["temporal"]))
        return engine

    def _yosys(self, limit: float) -> dict[str, bool | None]:
        """Run what runs in Yosys; return what each engine said (None: out of time)."""
        task = {"files": list(self.prover.texts), "limit": limit, "temporal": not self.quick}
        (self.folder / "task.json").write_text(json.dumps(task))
        outcome = run_module("sim.mutate.rtl.engines", self.folder, 10 * limit)
        answer = self.folder / SAID
        said: dict[str, Any] = json.loads(answer.read_text()) if answer.exists() else {}
        if BOXES in said:
            self._say("boxes", f"they are not the same: {said[BOXES]}")
            return {}
        if not outcome.ok or not said:
            errors = [line for line in outcome.log.splitlines() if "error" in line.lower()]
            died = "died" if outcome.finished else "time limit"
            self._say("yosys", "; ".join(errors[-2:]) or died)
            return {}
        return said

    def _abc(self, miter: str, limit: float) -> str | None:
        """Let abc find equal signals by induction, then reachability decide."""
        claim = output_number((self.folder / f"{miter}.map").read_text(), "bad")
        outcome = run_abc(
            f"read_aiger {miter}.aig; strash; scorr; &get; &cone -O {claim} -R 1; &put; scorr; "
            f"write_aiger rest.aig; pdr -T {int(limit)}",
            self.folder,
            3 * limit,
        )
        rest = self.folder / "rest.aig"
        with_cut = ", products cut" if miter == CUT else ""
        if rest.exists() and constant_zero(rest.read_bytes()):
            return f"abc scorr{with_cut}"
        if "Property proved" in outcome.log:
            return f"abc scorr, pdr{with_cut}"
        words = ("asserted in frame", "UNDECIDED")
        lines = [line for line in outcome.log.splitlines() if any(word in line for word in words)]
        self._say(f"abc pdr{with_cut}", lines[0].strip() if lines else "time limit")
        rest.unlink(missing_ok=True)
        return None

    def _assumptions(self) -> tuple[str, ...]:
        ports = self.prover.hierarchy.ports[self.scope.top]
        names = [name for name, _, _ in ports]
        found = masked_ports(ports)
        if "rst" in names:
            found.append("rst is high in the first cycle, then free, like every other input")
        if "clk" in names:
            found.append("both power up in the same, arbitrary state")
        if self.scope.top in (self.prover.chip, MEMORY):
            found.append("the scratchpad answers equal requests equally")
        if self.scope.boxed:
            boxes = ", ".join(self.scope.boxed)
            found.append(f"equal inputs compared and equal outputs assumed at {boxes}")
        return tuple(found)

    def _write(self, side: str, texts: Mapping[str, str]) -> None:
        folder = self.folder / side
        folder.mkdir()
        tree = self.prover.hierarchy
        for name, text in texts.items():
            module = Path(name).stem
            if module in self.scope.boxed:
                text = tree.stub(module)
            elif module == MEMORY:
                text = without_cells(text)
            (folder / name).write_text(portable(text), encoding="latin-1")
        observer = tree.observer(self.scope.top)
        (folder / "observed.sv").write_text(observer)

    def _say(self, engine: str, verdict: str) -> None:
        self.log.append(f"{self.scope.top}: {engine}: {verdict}")


def _verdict(said: bool | None) -> str:
    return "time limit" if said is None else "not proven"


def output_number(table: str, name: str) -> int:
    """Return the position of an output in an AIGER file, from Yosys' table of its symbols.

    Raises:
        KeyError: there is no such output.
    """
    for line in table.splitlines():
        words = line.split()
        if words[0] == "output" and words[-1] == name:
            return int(words[1])
    raise KeyError(name)


def constant_zero(aiger: bytes) -> bool:
    """Whether the only output of a binary AIGER circuit is the constant 0."""
    header, _, body = aiger.partition(b"\n")
    latches, outputs = (int(word) for word in header.split()[3:5])
    lines = body.split(b"\n", latches + outputs)
    return outputs == 1 and lines[latches].strip() == b"0"
