"""How fast the flow is (``make bench``): ratios, because absolute figures belong to a machine.

Measured in one run: the pyuvm flow against a plain SystemVerilog testbench on both simulators, in
turns, on the same programs and the same RTL with the same checks; the model against the RTL; what
starting a simulator process costs; ``make SIM=verilator`` with its build cached and without.
Targets are reported, they never fail anything: a loaded machine is not a broken one.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from model.chip.assembler import assemble
from model.chip.machine import Machine
from model.decode.workload import DecodeRun, compile_decode
from sim.engine.builds import build as build_pyuvm
from sim.engine.design import design_files, own_design
from sim.engine.simulator import simulate
from sim.shared.cli import Parser, run
from sim.shared.junit import Case, Suite
from sim.shared.outcome import Outcome
from sim.shared.paths import ROOT, SIMULATORS
from sim.shared.process import run_captured
from sim.shared.results import ResultFiles
from sim.shared.table import format_table
from sim.speed.flows import BenchError, Flows, measure_flows, report_flows
from sim.speed.random_programs import measure_random, report_random
from verif.items.job import Job
from verif.items.program_item import ProgramItem

ROUNDS = {"icarus": 2, "verilator": 5}
# What is aimed at, and whether it is the least or the most.
TARGETS = {
    "verilator: pyuvm flow / design alone, by processor time": (0.40, True),
    "icarus: pyuvm flow / design alone, by processor time": (0.85, True),
    "verilator: pyuvm flow / plain testbench": (1.0, True),
    "icarus: pyuvm flow / plain testbench": (0.95, True),
    "process start-up, s": (1.0, False),
    "make SIM=verilator: build cached / built": (0.25, False),
    "typical random programs a second of one core": (1000, True),
}
# Not part of the project: a copy of it builds from nothing.
LEFT_OUT = shutil.ignore_patterns("build", ".venv*", ".tools", ".git", ".*_cache", "__pycache__")


def main() -> int:
    """Measure everything, print it, write build/results/bench.json."""
    parser = Parser(prog="bench", description=__doc__)
    parser.parse_args()
    with design_files("bench", own_design(), None) as files:
        return bench(files)


def bench(files: ResultFiles) -> int:
    """Do it all; return the exit code."""
    console = Console(highlight=False)
    decode = compile_decode()
    flows: dict[str, Flows] = {}
    startup: dict[str, float] = {}
    for sim in SIMULATORS:
        with console.status(f"{sim}: plain testbench and pyuvm flow in turns"):
            flows[sim] = measure_flows(sim, decode, ROUNDS[sim])
            startup[sim] = measure_startup(sim)
        report_flows(console, sim, flows[sim])
    with console.status("random programs"):
        drawn = measure_random()
    report_random(console, drawn)
    model = best_rate(lambda: model_cycles(decode), 5)
    with console.status("make SIM=verilator, built and cached"):
        built, cached = measure_build()

    rows = [("model against RTL", "cycles/s", "model is faster by")]
    rows.append(("model", f"{model:,.0f}", ""))
    for sim in SIMULATORS:
        rate = max(flows[sim].pyuvm.wall)
        rows.append((f"RTL in {sim}, pyuvm flow", f"{rate:,.0f}", f"{model / rate:,.1f}"))
    console.print("\n" + format_table(rows, "<>>"), soft_wrap=True)
    console.print(
        f"\nmake SIM=verilator: {built:.1f} s building, {cached:.1f} s with its build cached"
    )
    reached = {
        "verilator: pyuvm flow / design alone, by processor time": flows["verilator"].ratio(
            "bare", "cpu"
        ),
        "icarus: pyuvm flow / design alone, by processor time": flows["icarus"].ratio(
            "bare", "cpu"
        ),
        "verilator: pyuvm flow / plain testbench": flows["verilator"].ratio(),
        "icarus: pyuvm flow / plain testbench": flows["icarus"].ratio(),
        "process start-up, s": max(startup.values()),
        "make SIM=verilator: build cached / built": cached / built,
        "typical random programs a second of one core": drawn["typical"].cpu,
    }
    report_targets(console, reached)
    figures = {
        "design": own_design().to_json(),
        "flows": {sim: each.figures() for sim, each in flows.items()},
        "model_cycles_per_second": model,
        "random_programs_per_second": {name: asdict(rate) for name, rate in drawn.items()},
        "startup_seconds": startup,
        "make_verilator_seconds": {"building": built, "cached": cached},
        "targets": {
            name: {"target": TARGETS[name][0], "measured": value, "reached": meets(name, value)}
            for name, value in reached.items()
        },
    }
    missed = sum(not meets(name, value) for name, value in reached.items())
    text = f"measured; {len(reached) - missed} of {len(reached)} targets reached"
    return files.finish(
        console, True, text, figures, [Suite("bench", [Case("measured", Outcome.PASSED)])]
    )


def measure_startup(sim: str) -> float:
    """Seconds of a simulator process beside its simulation phase, best of three.

    From the call of make to its end, with one short program.
    """
    built = build_pyuvm(sim)
    job = Job("items", {}, [ProgramItem("short", assemble("LD dst=0 src=0 len=4"))])
    times = []
    for _ in range(3):
        done = simulate(sim, job, built=built)
        times.append(done.seconds - float(done.summary["seconds"]))
    return min(times)


def model_cycles(decode: DecodeRun) -> int:
    """Run every step on the model; return the cycles it counted."""
    machine = Machine(decode.params.depth)
    latency = decode.params.latency
    results = (machine.run(step.program, step.image, latency) for step in decode.steps)
    return sum(result.counters.total for result in results)


def best_rate(work: Callable[[], int], rounds: int) -> float:
    """Units of work a second, the best of some rounds."""
    rates = []
    for _ in range(rounds):
        start = time.perf_counter()
        units = work()
        rates.append(units / (time.perf_counter() - start))
    return max(rates)


def measure_build() -> tuple[float, float]:
    """Seconds of ``make SIM=verilator`` in a copy of the project: the first time, and again.

    Raises:
        BenchError: it failed there.
    """
    with tempfile.TemporaryDirectory(prefix="ga2-bench-") as folder:
        copy = Path(folder) / "project"
        shutil.copytree(ROOT, copy, ignore=LEFT_OUT, symlinks=True)
        times = []
        for _ in range(2):
            start = time.perf_counter()
            env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS")}
            command = ["make", "SIM=verilator", f"VENV={sys.prefix}"]
            done = run_captured(command, cwd=copy, env=env)
            times.append(time.perf_counter() - start)
            if done.returncode:
                raise BenchError(f"make SIM=verilator in a copy:\n{done.stdout}")
    return times[0], times[1]


def report_targets(console: Console, reached: dict[str, float]) -> None:
    """Print what was aimed at and what came out."""
    rows = [("target", "aim", "measured", "")]
    for name, value in reached.items():
        aim, at_least = TARGETS[name]
        sign = ">=" if at_least else "<="
        verdict = "reached" if meets(name, value) else "MISSED"
        rows.append((name, f"{sign} {aim}", f"{value:.2f}", verdict))
    console.print("\n" + format_table(rows, "<>><"), soft_wrap=True)


def meets(name: str, value: float) -> bool:
    """Say whether a figure reaches its target."""
    aim, at_least = TARGETS[name]
    return value >= aim if at_least else value <= aim


if __name__ == "__main__":
    run("bench", main)
