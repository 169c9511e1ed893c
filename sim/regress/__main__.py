"""`make regress`: run a suite of `sim/regress/suites.yaml` here or on a farm.

Exit codes: 0 all passed, 1 a job did not pass, 2 the command line or the file was wrong, 130 the
regression was interrupted and can be resumed.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from sim.shared.paths import BUILD, ROOT, shown

BASE = BUILD / "regress"
FILE = ROOT / "sim" / "regress" / "suites.yaml"


def write_report() -> None:
    """Write the HTML report of everything so far; no fault in it may hide how the jobs ended."""
    try:
        from sim.report.write import make_report

        print(f"report: {shown(make_report())}")
    except KeyboardInterrupt:
        print("no report: interrupted, 'make report' writes it", file=sys.stderr)
    except Exception as error:
        print(f"no report: {type(error).__name__}: {error}", file=sys.stderr)


def main() -> int:
    """Read the command line, run, and return the exit code."""
    from sim.regress import builds, session
    from sim.regress.clusters import KINDS, ClusterError
    from sim.regress.display import choose
    from sim.regress.run_folder import ResumeError
    from sim.regress.suites import ConfigError
    from sim.shared.cli import Parser, fail, integer

    parser = Parser(prog="regress", description=__doc__)
    parser.add_argument("--suite", default="smoke")
    parser.add_argument("--jobs", type=integer, default=os.cpu_count() or 1, help="at a time")
    parser.add_argument("--cluster", choices=KINDS, default="local")
    parser.add_argument("--seed", type=integer, default=1, help="master seed")
    parser.add_argument("--resume", action="store_true", help="go on with an interrupted run")
    parser.add_argument("--file", type=Path, default=FILE, help="the regression file")
    parser.add_argument("--base", type=Path, default=BASE, help="where results go")
    parser.add_argument("--processes", action="store_true", help="local worker processes")
    args = parser.parse_args()
    if args.jobs < 1:
        fail("regress", f"JOBS={args.jobs}: needs 1 or more")
    options = session.Options(
        file=args.file,
        base=args.base.resolve(),
        suite=args.suite,
        seed=args.seed,
        jobs=args.jobs,
        cluster=args.cluster,
        resume=args.resume,
        processes=args.processes,
    )
    try:
        summary = session.regress(options, choose(), builds.build_all)
    except (ConfigError, ClusterError, ResumeError, builds.BuildError) as error:
        fail("regress", str(error))
    if options.base == BASE.resolve():
        write_report()
    if summary["verdict"] == "failed":
        return 1
    return 0 if summary["verdict"] == "passed" else 130


if __name__ == "__main__":
    code = main()
    # Threads of Dask that still wait for a worker must not hold up the shell.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
