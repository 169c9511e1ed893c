"""``make regress``: run a suite of ``sim/regress/suites.yaml`` here or on a farm.

Exit codes: 0 all passed, 1 a job did not pass, 2 the command line or the file was wrong, or the
regression could not go on or be reported, 130 it was interrupted and can be resumed.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sim.engine.design import Design

NAME = "regress"


def write_report(design: Design) -> None:
    """Write the HTML report of everything so far; no fault in it may hide how the jobs ended."""
    try:
        from sim.report.write import make_report
        from sim.shared.paths import shown

        print(f"report: {shown(make_report(design))}")
    except KeyboardInterrupt:
        print("no report: interrupted, 'make report' writes it", file=sys.stderr)
    except Exception as error:
        print(f"no report: {type(error).__name__}: {error}", file=sys.stderr)


def read_arguments() -> argparse.Namespace:
    """Read the command line; what is wrong in it ends the process."""
    from sim.engine.design import add_design_option
    from sim.regress.run_folder import SUITES
    from sim.regress.suites import CLUSTERS
    from sim.shared.cli import Parser, fail, integer

    parser = Parser(prog=NAME, description=__doc__)
    parser.add_argument("--suite", default="smoke")
    parser.add_argument("--jobs", type=integer, default=os.cpu_count() or 1, help="at a time")
    parser.add_argument("--cluster", choices=CLUSTERS, default="local")
    parser.add_argument("--seed", type=integer, help="master seed, 1 when it is left out")
    parser.add_argument("--resume", action="store_true", help="go on with an interrupted run")
    add_design_option(parser)
    parser.add_argument("--file", type=Path, default=SUITES, help="the regression file")
    parser.add_argument("--base", type=Path, help="where results go")
    parser.add_argument("--processes", action="store_true", help="local worker processes")
    args = parser.parse_args()
    if args.jobs < 1:
        fail(NAME, f"JOBS={args.jobs}: needs 1 or more")
    if args.seed is not None and not 0 <= args.seed < 2**63:
        fail(NAME, f"SEED={args.seed}: needs 0 to {2**63 - 1}")
    return args


def main() -> int:
    """Read the command line, run, and return the exit code."""
    args = read_arguments()
    # Dask takes its time: what is wrong with the command line is said first.
    from sim.regress import builds, planning, session
    from sim.regress.display import choose
    from sim.regress.rerun import base_of
    from sim.shared.cli import fail
    from sim.shared.errors import ToolError
    from verif.typed import RecordError

    chosen = vars(args) | {"base": (args.base or base_of(args.design)).resolve()}
    try:
        summary = session.regress(planning.Options(**chosen), choose(), builds.build_all)
    except (ToolError, RecordError) as error:
        fail(NAME, str(error))
    except OSError as error:
        fail(NAME, session.describe(error))
    if args.base is None:
        write_report(args.design)
    for problem in summary["problems"]:
        print(f"{NAME}: error: {problem}", file=sys.stderr)
    if summary["verdict"] == "failed":
        return 1
    if summary["problems"]:
        return 2
    return 0 if summary["verdict"] == "passed" else 130


if __name__ == "__main__":
    try:
        code = main()
    except KeyboardInterrupt:
        print(f"\n{NAME}: interrupted", file=sys.stderr)
        code = 130
    # Threads of Dask that still wait for a worker must not hold up the shell.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
