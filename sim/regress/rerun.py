"""`make regress-rerun JOB=...`: run one job of a regression again, same seed, with waves."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from sim.regress.__main__ import BASE
from sim.regress.job_process import OUTCOME
from sim.regress.records import JobSpec, Outcome
from sim.regress.run_folder import ResumeError, read_plan
from sim.regress.worker import command
from sim.shared import files
from sim.shared.paths import ROOT


def find(run: Path, job: str) -> JobSpec:
    """Return the specification of a job. Raises ResumeError when the run or the job is unknown."""
    _, jobs = read_plan(run)
    for spec in jobs:
        if spec.id == job:
            return spec
    raise ResumeError(f"no job {job!r} in {run}; its jobs are in run.json")


def rerun(spec: JobSpec, folder: Path, waves: bool) -> Outcome:
    """Run the job in `folder` in the foreground, without a time limit, and return its outcome."""
    folder.mkdir(parents=True)
    if waves and spec.kind != "command":
        spec = dataclasses.replace(spec, params={**spec.params, "waves": True})
    files.write_json(folder / "spec.json", spec.to_json(), indent=1)
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    subprocess.run(command(folder), cwd=folder, env={**os.environ, "PYTHONPATH": path})
    return Outcome.from_json(json.loads((folder / OUTCOME).read_text(encoding="utf-8")))


def main() -> int:
    """Rerun the job, say how it went and where its waves are; 0 when it passed."""
    from sim.shared.cli import Parser, fail

    parser = Parser(prog="regress-rerun", description=__doc__)
    parser.add_argument("--run", default="latest", help="name of the run folder")
    parser.add_argument("--job", required=True, help="id of the job")
    parser.add_argument("--base", type=Path, default=BASE, help="where the run folders are")
    parser.add_argument("--no-waves", action="store_true")
    args = parser.parse_args()
    try:
        spec = find(args.base / args.run, args.job)
    except ResumeError as error:
        fail("regress-rerun", str(error))
    folder = args.base / "reruns" / f"{spec.id}-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
    outcome = rerun(spec, folder.resolve(), not args.no_waves)
    for failure in outcome.failures:
        where = f" at {failure.instruction}" if failure.instruction else ""
        program = f"{failure.program}: " if failure.program else ""
        print(f"{program}{failure.kind}: {failure.message}{where}")
    print(f"{'FAILED' if outcome.failures else 'PASSED'}: {spec.id}, seed {spec.seed}")
    for name, path in outcome.files.items():
        print(f"{name}: {folder / path}")
    return 1 if outcome.failures else 0


if __name__ == "__main__":
    sys.exit(main())
