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

from sim.mutate.boundary import MEMORY_STUB, Hierarchy, masked_ports
from sim.mutate.netlist import start_in_reset
from sim.mutate.yosys import portable, run_abc, run_yosys

DIFFERENT = "different"
"""A counterexample: no engine can prove equality in this scope."""

MEMORY = "ga2_scratchpad"
CONTROL_UNITS = ("ga2_sequencer", "ga2_fault_checker", "ga2_counters")
"""What decides when units start and with which operands: real in every proof about the chip."""

DEPTH = 10
"""Cycles that equiv_induct looks back."""

BOUND = 6
"""Cycles in which a difference is looked for before the engines that take long."""


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
        if not self._miter():
            return None
        engines = (self._induct, self._bounded, self._reachable, self._temporal)
        for engine in engines[: 3 if self.quick else None]:
            name = engine()
            if name == DIFFERENT:
                return None
            if name:
                seconds = round(time.monotonic() - started, 2)
                return Proof(name, self.scope.top, seconds, self._assumptions())
        return None

    def _assumptions(self) -> tuple[str, ...]:
        ports = self.prover.hierarchy.ports[self.scope.top]
        names = [name for name, _, _ in ports]
        found = masked_ports(ports)
        if "rst" in names:
            found.append("rst is high in the first cycle, then free, like every other input")
        if "clk" in names:
            found.append("both power up in the same, arbitrary state")
        if self.scope.top == self.prover.chip and MEMORY not in self.scope.real:
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
            elif module == MEMORY and MEMORY not in self.scope.real:
                text = MEMORY_STUB
            (folder / name).write_text(portable(text), encoding="latin-1")
        observer = tree.observer(self.scope.top)
        (folder / "observed.sv").write_text(observer)

    def _read(self, side: str) -> list[str]:
        files = " ".join(f"{side}/{name}" for name in [*self.prover.texts, "observed.sv"])
        return [
            f"read_verilog -sv {files}",
            "hierarchy -top observed",
            "proc",
            "flatten",
            "opt -full",
            "memory_collect",
            "memory_map",
            "opt -full",
            "expose -evert c:*",
            f"rename observed {side}",
            f"design -stash {side}",
            "design -reset",
        ]

    def _say(self, engine: str, verdict: str) -> None:
        self.log.append(f"{self.scope.top}: {engine}: {verdict}")

    def _miter(self) -> bool:
        """Make gold, gate and the miter that starts in reset."""
        outcome = run_yosys(
            [
                *self._read("gold"),
                *self._read("gate"),
                "design -copy-from gold -as gold gold",
                "design -copy-from gate -as gate gate",
                "write_rtlil pair.il",
                "miter -equiv -flatten gold gate miter",
                "hierarchy -top miter",
                "dffunmap",
                "opt_clean",
                "write_json miter.json",
            ],
            self.folder,
            self.prover.limit,
        )
        if not outcome.ok:
            errors = [line for line in outcome.log.splitlines() if "ERROR" in line]
            self._say("yosys", "; ".join(errors) or "time limit")
            return False
        netlist = json.loads((self.folder / "miter.json").read_text())
        start_in_reset(netlist["modules"]["miter"])
        (self.folder / "start.json").write_text(json.dumps(netlist))
        return True

    def _induct(self) -> str | None:
        """Prove by induction over named signals, and that these begin equal after reset."""
        step = run_yosys(
            [
                "read_rtlil pair.il",
                "equiv_make gold gate equiv",
                "hierarchy -top equiv",
                "opt_clean",
                "equiv_simple",
                f"equiv_induct -seq {DEPTH}",
                "equiv_status -assert",
            ],
            self.folder,
            self.prover.limit,
        )
        if not step.ok:
            self._say("equiv_induct", "not proven" if step.finished else "time limit")
            return None
        base = run_yosys(
            [
                "read_json start.json",
                f"sat -seq {DEPTH + 2} -prove diverged 0 -verify miter",
            ],
            self.folder,
            self.prover.limit,
        )
        if not base.ok:
            self._say("equiv_induct", "step proven, but the versions may start apart")
            return None
        return f"equiv_induct -seq {DEPTH}, with base case"

    def _bounded(self) -> str | None:
        """Look for a difference in the first cycles: most are found there, and quickly."""
        outcome = run_yosys(
            ["read_json start.json", f"sat -seq {BOUND} -prove bad 0 -verify miter"],
            self.folder,
            self.prover.limit,
        )
        if outcome.finished and not outcome.ok and "model found: FAIL" in outcome.log:
            self._say("sat", f"a difference exists within {BOUND} cycles")
            return DIFFERENT
        return None

    def _temporal(self) -> str | None:
        outcome = run_yosys(
            ["read_json start.json", "sat -tempinduct -prove bad 0 -maxsteps 8 -verify miter"],
            self.folder,
            self.prover.limit,
        )
        if outcome.ok:
            return "sat -tempinduct"
        self._say("sat -tempinduct", "not proven" if outcome.finished else "time limit")
        return None

    def _reachable(self) -> str | None:
        made = run_yosys(
            [
                "read_json start.json",
                "delete -port miter/diverged",
                "opt -full",
                "techmap",
                "opt -full",
                "dffunmap",
                "simplemap",
                "setundef -undriven -zero",
                "aigmap",
                "opt_clean",
                "write_aiger -zinit -map miter.map miter.aig",
            ],
            self.folder,
            self.prover.limit,
        )
        if not made.ok:
            self._say("pdr", "no AIG: " + made.log.strip().splitlines()[-1])
            return None
        seconds = int(self.prover.limit)
        claim = output_number((self.folder / "miter.map").read_text(), "bad")
        outcome = run_abc(
            f"read_aiger miter.aig; strash; scorr; &get; &cone -O {claim} -R 1; &put; scorr; "
            f"write_aiger rest.aig; pdr -T {seconds}",
            self.folder,
            2 * self.prover.limit,
        )
        rest = self.folder / "rest.aig"
        if rest.exists() and constant_zero(rest.read_bytes()):
            return "abc scorr"
        if "Property proved" in outcome.log:
            return "abc scorr, pdr"
        words = ("asserted in frame", "UNDECIDED")
        said = [line for line in outcome.log.splitlines() if any(word in line for word in words)]
        self._say("abc pdr", said[0].strip() if said else "time limit")
        return None


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
