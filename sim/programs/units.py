"""Unit-level tests (verif/units) through cocotb's makefile: ``python -m sim.programs.units``."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from sim.engine.builds import Build, build, tail
from sim.engine.design import Design, add_design_option, design_of, print_design
from sim.engine.job_result import JobResult, how_it_ended
from sim.engine.simulator import command, execute
from sim.shared import junit
from sim.shared.cli import Parser, run
from sim.shared.junit import Case
from sim.shared.outcome import Outcome
from sim.shared.paths import RESULTS, ROOT, RTL, SIMULATORS
from sim.shared.process import Ended
from sim.shared.results import print_verdict
from sim.shared.test_log import record_units

FOLDER = ROOT / "verif" / "units"
BENCH = FOLDER / "hdl" / "unit_bench.sv"
PACKAGE = "verif.units"
TOP = "unit_bench"
TIMEOUT = 3600.0  # seconds, for a machine that is held up
STALL_SECONDS = 300.0  # of processor time; a unit takes a few


@dataclass
class UnitRun:
    """What came of one unit's tests in one simulator.

    Attributes:
        tests: names of those that ran.
        failures: message of each test that failed, by its name.
        error: why the run as a whole is no good, empty otherwise.
        ended: how the simulator came to its end.
        status: exit status of the simulator, 128 and the signal's number after a signal.
        seconds: wall-clock time of its tests.
    """

    tests: list[str] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)
    error: str = ""
    ended: Ended | None = Ended.EXITED
    status: int = 0
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        """At least one test ran, and none failed."""
        return bool(self.tests) and not self.failures and not self.error


def unit_names() -> list[str]:
    """The units that have tests: the modules in verif/units that hold cocotb tests."""
    return sorted(path.stem for path in FOLDER.glob("*.py") if "@cocotb.test" in path.read_text())


def build_units(sim: str, rtl: Path | Design = RTL, defines: Sequence[str] = ()) -> Build:
    """Compile the unit bench with a design and macros, or find it compiled.

    Raises:
        BuildError: it does not compile.
    """
    return build(sim, rtl=rtl, defines=defines, bench=[BENCH], top=TOP)


def run_units(
    sim: str,
    units: Sequence[str],
    *,
    rtl: Path | Design = RTL,
    seed: int = 1,
    recorded: Path | None = None,
) -> dict[str, UnitRun]:
    """Run the tests of some units in one simulation; return what came of each.

    Args:
        sim: ``icarus`` or ``verilator``.
        units: modules in verif/units.
        rtl: the design, or its folder.
        seed: of everything random in the tests.
        recorded: where it is noted which tests ran; for the own design in its results anyway.

    Raises:
        BuildError: the bench does not compile.
    """
    design = design_of(rtl)
    made = build_units(sim, design)
    with tempfile.TemporaryDirectory() as name:
        run = JobResult(folder=Path(name), log=Path(name) / "run.log")
        call = [*command(made, run, (), seed), f"COCOTB_TOPLEVEL={TOP}"]
        modules = ",".join(f"{PACKAGE}.{unit}" for unit in units)
        # The bench says nothing about simulated time while it runs.
        execute([*call, f"COCOTB_TEST_MODULES={modules}"], run, TIMEOUT, stall=STALL_SECONDS)
        outcomes = {unit: UnitRun(ended=run.ended, status=run.status) for unit in units}
        cases = take_results(outcomes, run.folder / "results.xml")
        failed = any(outcome.failures for outcome in outcomes.values())
        for outcome in outcomes.values():
            if run.ended is not Ended.EXITED:
                outcome.error = how_it_ended(run)
            elif not outcome.tests:
                outcome.error = f"no test ran:\n{tail(run.log.read_text(errors='replace'))}"
            elif run.status and not failed:
                outcome.error = f"exit status {run.status}"
        good = not any(outcome.error for outcome in outcomes.values())
        if good and (recorded or design.is_own):
            record_units(sim, cases, recorded or RESULTS, design.hash)
    return outcomes


def run_unit(sim: str, unit: str, *, rtl: Path | Design = RTL) -> UnitRun:
    """Run the tests of one unit, see ``run_units``."""
    return run_units(sim, [unit], rtl=rtl)[unit]


def take_results(outcomes: Mapping[str, UnitRun], results: Path) -> list[Case]:
    """Read cocotb's results file; when there is none, or half of one, no test ran."""
    try:
        cases = junit.read(results)
    except junit.JunitError as error:
        for outcome in outcomes.values():
            outcome.error = str(error)
        return []
    for case in cases:
        outcome = outcomes[case.classname.removeprefix(f"{PACKAGE}.")]
        outcome.tests.append(case.name)
        outcome.seconds += case.seconds
        if case.outcome is not Outcome.PASSED:
            outcome.failures[case.name] = case.detail.partition("\n")[0] or str(case.outcome)
    return cases


def main() -> int:
    """Run the units named on the command line, or all, and print a line for each."""
    parser = Parser(prog="units", description=__doc__)
    parser.add_argument("units", nargs="*", metavar="UNIT", help=", ".join(unit_names()))
    parser.add_argument("--sim", choices=SIMULATORS, help="only this simulator")
    add_design_option(parser)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    unknown = set(args.units) - set(unit_names())
    if unknown:
        parser.error(f"no unit {', '.join(sorted(unknown))}; there are {', '.join(unit_names())}")
    console = Console(highlight=False)
    print_design(console, args.design)
    recorded = args.design.output(RESULTS.name)
    good = True
    for sim in [args.sim] if args.sim else SIMULATORS:
        units = args.units or unit_names()
        outcomes = run_units(sim, units, rtl=args.design, seed=args.seed, recorded=recorded)
        for unit, outcome in outcomes.items():
            good &= outcome.passed
            figures = f"{len(outcome.tests):2} tests {outcome.seconds:5.1f} s"
            print_verdict(console, outcome.passed, f"{sim:9} {unit:13} {figures}")
            for name, message in outcome.failures.items():
                console.print(f"      {name}: {escape(message)}", soft_wrap=True)
            if outcome.error:
                console.print(f"      {escape(outcome.error)}", soft_wrap=True)
    return 0 if good else 1


if __name__ == "__main__":
    run("units", main)
