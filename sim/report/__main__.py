"""`make report`: write index.html and its pages from everything that has run so far."""

from __future__ import annotations

import time
from pathlib import Path

from sim.engine.design import add_design_option
from sim.report.write import make_report
from sim.shared.cli import Parser, run
from sim.shared.paths import shown


def main() -> int:
    """Write the report and say where it is; missing results are named in it, not an error."""
    parser = Parser(prog="report", description=__doc__)
    parser.add_argument("--out", type=Path, help="folder of the report")
    add_design_option(parser)
    args = parser.parse_args()
    begin = time.perf_counter()
    page = make_report(args.design, args.out and args.out.resolve())
    print(f"report: {shown(page)} ({time.perf_counter() - begin:.1f} s)")
    return 0


if __name__ == "__main__":
    run("report", main)
