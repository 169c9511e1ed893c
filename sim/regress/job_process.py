"""The process of one job: `python -m sim.regress.job_process JOB/spec.json`.

It reads the specification, does the job in the folder of that file, and writes `outcome.json`
there in one step. The exit status is 0 for a pass, 1 for failures found, 2 for an exception, so
that the same command also serves a bare shell loop.
"""

from __future__ import annotations

import json
import sys
import traceback
from pathlib import Path

from sim.regress import kinds
from sim.regress.records import Failure, JobSpec, Outcome
from sim.shared import files
from sim.shared.process import hold_leash

OUTCOME = "outcome.json"


def main(argv: list[str]) -> int:
    """Run the job whose specification is `argv[0]` and return the exit status."""
    hold_leash()
    path = Path(argv[0]).resolve()
    spec = JobSpec.from_json(json.loads(path.read_text(encoding="utf-8")))
    status = 0
    try:
        outcome = kinds.run(spec, path.parent)
    except Exception as error:
        traceback.print_exc()
        message = f"{type(error).__name__}: {error}".splitlines()[0]
        outcome = Outcome(failures=[Failure("error", message)])
        status = 2
    if outcome.failures:
        status = status or 1
    files.write_json(path.parent / OUTCOME, outcome.to_json())
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
