"""All static checks in one go (``make lint``): ruff, mypy, and both simulators' warnings."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from sim.engine.compilers import tool_environment
from sim.engine.design import own_design
from sim.engine.sources import read_list
from sim.shared.paths import HDL, ROOT
from sim.shared.process import run_captured
from sim.speed.plain_flow import TESTBENCH


@dataclass(frozen=True)
class Lint:
    """One checker; it passes when it exits with 0 and, if ``silent``, prints nothing."""

    name: str
    command: Sequence[str]
    silent: bool = False
    optional: bool = False

    @property
    def left_out(self) -> bool:
        """It is not installed, and need not be."""
        return self.optional and not shutil.which(self.command[0])


def lints() -> list[Lint]:
    """List the checkers for the files as they are now."""
    rtl = [str(path) for path in own_design().sources.files]
    hdl = [str(path) for path in read_list(HDL / "tb.f").files]
    plain = [str(path) for path in TESTBENCH]
    verilator = ["verilator", "--lint-only", "--quiet"]
    icarus = ["iverilog", "-g2012", "-Wall", "-t", "null"]
    names = ("sim/setup/setup.sh", "sim/setup/verilator", "sim/engine/bin/cocotb-config", ".ci/run")
    scripts = [str(ROOT / name) for name in names]
    return [
        Lint("operations", [sys.executable, "-m", "sim.operations", "--check"]),
        Lint("ruff check", [sys.executable, "-m", "ruff", "check", "--quiet", "."]),
        Lint("ruff format", [sys.executable, "-m", "ruff", "format", "--check", "--quiet", "."]),
        Lint("mypy", [sys.executable, "-m", "mypy"]),
        Lint(
            "verilator: design",
            [*verilator, "-Wall", "-DGA2_ASSERT", "--top-module", "ga2", *rtl],
            silent=True,
        ),
        Lint("icarus: design", [*icarus, "-s", "ga2", *rtl], silent=True),
        # Behavioural code: -Wall would object to its style, the default warnings are about faults.
        Lint(
            "verilator: testbench",
            [*verilator, "--timing", "--top-module", "ga2_tb", *rtl, *hdl],
            silent=True,
        ),
        Lint(
            "verilator: plain testbench",
            [*verilator, "-Wall", "--timing", "--top-module", "plain_tb", *rtl, *plain],
            silent=True,
        ),
        Lint("shellcheck", ["shellcheck", *scripts], silent=True, optional=True),
    ]


def run_lint(lint: Lint) -> tuple[bool, str]:
    """Run one checker; return whether it passed, and its output."""
    done = run_captured(lint.command, cwd=ROOT, env=tool_environment())
    return done.returncode == 0 and not (lint.silent and done.stdout.strip()), done.stdout


def main() -> int:
    """Run every checker, also after a failure; return 1 when any failed."""
    failed = []
    for lint in lints():
        if lint.left_out:
            print(f"lint: {lint.name}: left out, it is not installed", flush=True)
            continue
        start = time.perf_counter()
        passed, output = run_lint(lint)
        verdict = "ok" if passed else "FAIL"
        print(f"lint: {lint.name}: {verdict} ({time.perf_counter() - start:.1f} s)", flush=True)
        if not passed:
            failed.append(lint.name)
            print(output or f"  exit code not 0: {' '.join(lint.command)}")
    if failed:
        print(f"lint: FAIL: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
