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
from sim.mutate.rtl.surroundings import SURROUNDINGS
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
    """Where a proof looks: a module, and what of its contents is real. The rest is boxes.

    ``surrounded``: the module's inputs keep the rules of ``surroundings``.
    """

    top: str
    real: frozenset[str]
    boxed: tuple[str, ...] = ()
    surrounded: bool = False


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

    def surrounded(self, file: str) -> list[Scope]:
        """Return the scopes for many mutants of one file, the smallest first.

        Those of a part that keeps no state are looked at by themselves, too.
        """
        module = Path(file).stem
        if module not in self.hierarchy.ports or module == self.chip:
            return []
        path = self.hierarchy.scopes(module)[:-1]
        found = [] if module in SURROUNDINGS else [self._scope(module, {module})]
        for at, top in enumerate(path):
            if top in SURROUNDINGS:
                found.append(self._scope(top, set(path[: at + 1]), True))
        return found

    def _scope(self, top: str, real: set[str], surrounded: bool = False) -> Scope:
        tree = self.hierarchy
        below = [name for name in tree.ports if top in tree.scopes(name)]
        boxed = tuple(name for name in below if name not in real and name != MEMORY)
        return Scope(top, frozenset(real), boxed, surrounded)

    def sources(self, scope: Scope, texts: Mapping[str, str]) -> dict[str, str]:
        """Return the files that a scope needs, as Yosys reads them, boxes without contents."""
        tree = self.hierarchy
        found = {}
        for name, text in texts.items():
            module = Path(name).stem
            if module in scope.boxed:
                text = tree.stub(module)
            elif module == MEMORY:
                text = without_cells(text)
            if module not in tree.ports or scope.top in tree.scopes(module):
                found[name] = portable(text)
        return found

    def observer(self, scope: Scope) -> str:
        """Return the module that shows a scope's outputs."""
        return self.hierarchy.observer(scope.top, scope.surrounded)

    def assumptions(self, scope: Scope) -> tuple[str, ...]:
        """Return, in words, what proofs in a scope take for granted."""
        ports = self.hierarchy.ports[scope.top]
        names = [name for name, _, _ in ports]
        found = masked_ports(ports)
        if "rst" in names:
            found.append("rst is high in the first cycle, then free, like every other input")
        if "clk" in names:
            found.append("both power up in the same, arbitrary state")
        if scope.top in (self.chip, MEMORY):
            found.append("the scratchpad answers equal requests equally")
        if scope.surrounded:
            labels = ", ".join(SURROUNDINGS[scope.top].assumes)
            found.append(f"inputs are those of the chip: {labels}")
        if scope.boxed:
            boxes = ", ".join(scope.boxed)
            found.append(f"equal inputs compared and equal outputs assumed at {boxes}")
        return tuple(found)

    def prove(self, mutated: Mapping[str, str]) -> tuple[Proof | None, list[str]]:
        """Try to prove a mutated design equal; return the proof, and what was tried."""
        files = [name for name in self.texts if self.texts[name] != mutated[name]]
        tried: list[str] = []
        if not files:
            return Proof("identical text", self.chip, 0.0, ()), tried
        for scope in self.scopes(files):
            with tempfile.TemporaryDirectory(prefix="ga2-proof-") as folder:
                attempt = _Attempt(self, scope, dict(mutated), Path(folder))
                proof = attempt.run()
                tried += attempt.log
                if proof is not None:
                    return proof, tried
        return None, tried


class _Attempt:
    """One mutant in one scope."""

    def __init__(self, prover: Prover, scope: Scope, mutated: dict[str, str], folder: Path) -> None:
        self.prover = prover
        self.scope = scope
        self.mutated = mutated
        self.folder = folder
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
        return Proof(engine, self.scope.top, seconds, self.prover.assumptions(self.scope))

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
        files = list(self.prover.sources(self.scope, self.prover.texts))
        task = {"files": files, "limit": limit}
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

    def _write(self, side: str, texts: Mapping[str, str]) -> None:
        folder = self.folder / side
        folder.mkdir()
        for name, text in self.prover.sources(self.scope, texts).items():
            (folder / name).write_text(text, encoding="latin-1")
        (folder / "observed.sv").write_text(self.prover.observer(self.scope))

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
