"""`make report`: write build/report/index.html from everything that has run so far."""

from __future__ import annotations

import time
from pathlib import Path

from sim.report.sources import Sources
from sim.report.write import REPORT, make_report
from sim.shared.cli import Parser, run
from sim.shared.paths import RESULTS, shown


def main() -> int:
    """Write the report and say where it is; missing results are named in it, not an error."""
    parser = Parser(prog="report", description=__doc__)
    parser.add_argument("--out", type=Path, default=REPORT, help="folder of the report")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of result files")
    args = parser.parse_args()
    begin = time.perf_counter()
    page = make_report(Sources(args.results), args.out.resolve())
    print(f"report: {shown(page)} ({time.perf_counter() - begin:.1f} s)")
    return 0


if __name__ == "__main__":
    run("report", main)
