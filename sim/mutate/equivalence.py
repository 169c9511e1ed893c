"""Proves that a mutant cannot be told from the design: three engines, each in wider surroundings.

"Not proven" never means "different".
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from sim.mutate.boundary import MEMORY_STUB, Hierarchy, masked_ports
from sim.mutate.netlist import start_in_reset
from sim.mutate.yosys import portable, run_abc, run_yosys

MEMORY_FILE = "ga2_scratchpad.sv"
DEPTH = 10
"""Cycles that equiv_induct looks back."""


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


class Prover:
    """Proofs about mutants of one design.

    Args:
        texts: the design, file name to text, packages first.
        limit: seconds that one engine may take.
    """

    def __init__(self, texts: Mapping[str, str], limit: float = 120.0) -> None:
        self.texts = dict(texts)
        self.limit = limit
        self.hierarchy = Hierarchy(self.texts)

    def prove(self, mutated: Mapping[str, str]) -> tuple[Proof | None, list[str]]:
        """Try to prove a mutated design equal; return the proof, and what was tried."""
        files = [name for name in self.texts if self.texts[name] != mutated[name]]
        module = Path(files[0]).stem if len(files) == 1 else "ga2"
        tried = []
        if not files:
            return Proof("identical text", "ga2", 0.0, ()), []
        for scope in self.hierarchy.scopes(module):
            with tempfile.TemporaryDirectory(prefix="ga2-proof-") as folder:
                attempt = _Attempt(self, scope, dict(mutated), Path(folder))
                proof = attempt.run()
                tried += attempt.log
                if proof is not None:
                    return proof, tried
        return None, tried


class _Attempt:
    """One mutant in one scope."""

    def __init__(self, prover: Prover, scope: str, mutated: dict[str, str], folder: Path) -> None:
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
        if not self._miter():
            return None
        for engine in (self._induct, self._temporal, self._reachable):
            name = engine()
            if name:
                seconds = round(time.monotonic() - started, 2)
                return Proof(name, self.scope, seconds, self._assumptions())
        return None

    def _assumptions(self) -> tuple[str, ...]:
        ports = self.prover.hierarchy.ports[self.scope]
        names = [name for name, _, _ in ports]
        found = masked_ports(ports)
        if "rst" in names:
            found.append("rst is high in the first cycle, then free, like every other input")
        if "clk" in names:
            found.append("flip-flops without reset power up equal in both")
        if self.scope == "ga2":
            found.append("the scratchpad answers equal requests equally")
        return tuple(found)

    def _write(self, side: str, texts: Mapping[str, str]) -> None:
        folder = self.folder / side
        folder.mkdir()
        for name, text in texts.items():
            stub = name == MEMORY_FILE and self.scope != Path(MEMORY_FILE).stem
            (folder / name).write_text(MEMORY_STUB if stub else portable(text), encoding="latin-1")
        observer = self.prover.hierarchy.observer(self.scope)
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
        self.log.append(f"{self.scope}: {engine}: {verdict}")

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

    def _temporal(self) -> str | None:
        outcome = run_yosys(
            ["read_json start.json", "sat -tempinduct -prove bad 0 -maxsteps 12 -verify miter"],
            self.folder,
            self.prover.limit,
        )
        if outcome.ok:
            return "sat -tempinduct"
        different = "base case failed" in outcome.log.lower()
        self._say(
            "sat -tempinduct",
            "time limit"
            if not outcome.finished
            else ("a difference exists here" if different else "not proven"),
        )
        return None

    def _reachable(self) -> str | None:
        if any("a difference exists here" in line for line in self.log):
            return None
        made = run_yosys(
            [
                "read_json start.json",
                "delete -output miter/diverged",
                "opt -full",
                "techmap",
                "opt -full",
                "dffunmap",
                "simplemap",
                "setundef -undriven -zero",
                "aigmap",
                "opt_clean",
                "write_aiger -zinit miter.aig",
            ],
            self.folder,
            self.prover.limit,
        )
        if not made.ok:
            self._say("pdr", "no AIG: " + made.log.strip().splitlines()[-1])
            return None
        seconds = int(self.prover.limit)
        outcome = run_abc(
            f"read_aiger miter.aig; strash; dc2; scorr; pdr -T {seconds}",
            self.folder,
            self.prover.limit + 30,
        )
        if "Property proved" in outcome.log or "is a constant 0" in outcome.log.lower():
            return "abc pdr"
        verdict = next((x for x in outcome.log.splitlines() if "Output" in x), "not proven")
        self._say("pdr", verdict.strip())
        return None
