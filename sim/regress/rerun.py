"""``make regress-rerun JOB=...``: run one job of a regression again, same seed, with waves."""

from __future__ import annotations

import os
import shlex
import sys
import time
from pathlib import Path

from msgspec import structs

from sim.engine.design import Design, add_design_option
from sim.regress.records import Failure, JobReport, JobSpec
from sim.regress.run_folder import LATEST, LOG, SPEC, Plan, ResumeError, read_plan
from sim.regress.worker import command, environment, last_line, read_outcome
from sim.shared import files
from sim.shared.paths import ROOT, shown
from sim.shared.process import run_to_end
from verif.typed import RecordError, plain


def base_of(design: Design) -> Path:
    """Return where the regressions of a design are."""
    return design.output("regress")


def rerun_prefix(folder: Path, design: Design) -> str:
    """Return the command that plays a job of the run in ``folder`` again, up to the job's id."""
    rtl = "" if design.is_own else shlex.quote(str(design.path))
    if folder.parent.resolve() == base_of(design).resolve():
        own = Path(sys.prefix).resolve() == (ROOT / ".venv").resolve()
        words = ["make regress-rerun", "" if own else f"VENV={shlex.quote(sys.prefix)}"]
        words += [f"RTL={rtl}" if rtl else "", f"RUN={folder.name}", "JOB="]
        return " ".join(filter(None, words))
    words = [sys.executable, "-m", "sim.regress.rerun", "--base", shlex.quote(str(folder.parent))]
    words += ["--run", folder.name, *(["--rtl", rtl] if rtl else []), "--job "]
    return " ".join(words)


def find(plan: Plan, job: str) -> JobSpec:
    """Return the specification of a job. Raises ResumeError when there is none."""
    for spec in plan.jobs:
        if spec.id == job:
            return spec
    raise ResumeError(f"JOB={job}: no job of {plan.id}; its jobs are in run.json")


def rerun(spec: JobSpec, folder: Path) -> JobReport:
    """Run the job in ``folder`` in the foreground, without a time limit, and return its outcome.

    Raises:
        RecordError: the job crashed; the message ends with its last line.
    """
    files.write_json(folder / SPEC, plain(spec))
    code = run_to_end(command(folder), cwd=folder, env=environment(None), log=folder / LOG)
    try:
        outcome = read_outcome(folder)
    except RecordError:
        how = f"crashed with status {code}: {last_line(folder / LOG)}"
        raise RecordError(f"{spec.id} {how}; log: {shown(folder / LOG)}") from None
    if code and not outcome.failures:
        outcome.failures.append(Failure("crash", f"passed, then exit status {code}"))
    return outcome


def main() -> int:
    """Rerun the job, say how it went and where its waves are; 0 when it passed."""
    from sim.shared.cli import Parser, fail

    parser = Parser(prog="regress-rerun", description=__doc__)
    parser.add_argument("--run", default=LATEST, help="name of the run folder")
    parser.add_argument("--job", required=True, help="id of the job")
    add_design_option(parser)
    parser.add_argument("--base", type=Path, help="where the run folders are")
    args = parser.parse_args()
    design: Design = args.design
    base = (args.base or base_of(design)).resolve()
    try:
        plan = read_plan(base / args.run)
        spec = find(plan, args.job)
    except ResumeError as error:
        fail("regress-rerun", str(error))
    if plan.inputs.design.hash != design.hash:
        print(f"note: it ran on {plan.inputs.design}; this is {design}")
    rtl = "" if design.is_own else str(design.path)
    spec = structs.replace(spec, rtl=rtl, waves=spec.simulates)
    folder = base / "reruns" / f"{spec.id}-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
    folder.mkdir(parents=True)
    try:
        outcome = rerun(spec, folder)
    except RecordError as error:
        print(f"FAILED: {error}")
        return 1
    for failure in outcome.failures:
        print(failure.line())
    failed = outcome.failures or not outcome.programs
    print(f"{'FAILED' if failed else 'PASSED'}: {spec.id}, seed {spec.seed}, {design}")
    for name, path in outcome.files.items():
        print(f"{name}: {shown(folder / path)}")
    return 1 if failed else 0


if __name__ == "__main__":
    from sim.shared.cli import run

    run("regress-rerun", main)
