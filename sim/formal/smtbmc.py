"""smtbmc as sby calls it, save for induction: there each assertion is a question of its own.

A conjunction of fifty helpers, negated, keeps a solver busy for minutes where each by itself takes
less than a second. Everything that sby wants else goes to the smtbmc of the tools.
"""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

ASSERTION = re.compile(r"^; yosys-smt2-assert (\d+) (\S+)", re.MULTILINE)
TRACE_LIMIT = 60.0  # seconds for a trace of what is not inductive
TOP = re.compile(r"^; yosys-smt2-topmod (\S+)", re.MULTILINE)
SOLVER = ("yices-smt2", "--incremental")


def questions(model: str, depth: int) -> str:
    """Return SMT-LIB text with one question for each assertion of ``model``, in order.

    Can it fail at step ``depth`` of a path whose earlier states satisfy all assertions?
    """
    top = TOP.findall(model)[0]
    lines = ["(set-option :print-success false)", "(set-logic QF_AUFBV)", model]
    for step in range(depth + 1):
        lines.append(f"(declare-fun s{step} () |{top}_s|)")
        lines += [f"(assert (|{top}_{part}| s{step}))" for part in "uh"]
        lines.append(f"(assert (not (|{top}_is| s{step})))")
        if step:
            lines.append(f"(assert (|{top}_t| s{step - 1} s{step}))")
            lines.append(f"(assert (|{top}_a| s{step - 1}))")
    for number, _ in ASSERTION.findall(model):
        lines += ["(push 1)", f"(assert (not (|{top}_a {number}| s{depth})))"]
        lines += ["(check-sat)", "(pop 1)"]
    return "\n".join([*lines, "(exit)", ""])


def induct(path: Path, depth: int) -> int:
    """Ask the questions, print what sby reads; return 0 if no assertion can fail."""
    model = path.read_text()
    names = [name for _, name in ASSERTION.findall(model)]
    done = subprocess.run(
        SOLVER, input=questions(model, depth), capture_output=True, text=True, check=False
    )
    answers = done.stdout.split("\n")[: len(names)]
    if not names or done.returncode or {*answers} - {"sat", "unsat"}:
        print(f"the solver says: {done.stdout[-500:]}{done.stderr[-500:]}")
        return 2
    for name, answer in zip(names, answers, strict=True):
        if answer == "sat":
            print(f"##   0:00:00  Not inductive: {name}")
    failed = "sat" in answers
    print(f"##   0:00:00  Temporal induction {'failed!' if failed else 'successful.'}")
    print(f"##   0:00:00  Status: {'FAILED' if failed else 'PASSED'}", flush=True)
    return int(failed)


def _trace() -> None:
    """Let the tools' smtbmc write the trace that sby looks for; without one there is none."""
    with suppress(subprocess.TimeoutExpired):
        subprocess.run(
            [sys.executable, *sys.argv], capture_output=True, check=False, timeout=TRACE_LIMIT
        )


def main() -> None:
    """Take smtbmc's arguments, the first of which is the path of smtbmc itself."""
    del sys.argv[0]
    if "-i" in sys.argv and sys.argv[sys.argv.index("-s") + 1] == "yices":
        depth = int(sys.argv[sys.argv.index("-t") + 1])
        code = induct(Path(sys.argv[-1]), depth)
        if code == 1:
            _trace()
        sys.exit(code)
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
