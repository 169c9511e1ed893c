"""How many random programs a second the flow checks (part of ``make bench``).

Everything is in it: drawing a program, the model, loading, simulating, comparing, coverage. Only
the start of the simulator's process is not.
"""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import Console

from sim.engine.builds import build
from sim.engine.simulator import simulate
from sim.shared.errors import ToolError
from sim.shared.table import format_table
from verif.items.job import Job

SIM = "verilator"
PROGRAMS = {"typical": 1000, "corner": 400, "long": 150, "matrix": 400, "faults": 800, "raw": 800}
SEED = 1


class RandomBenchError(ToolError):
    """A measured run did not pass: its time means nothing."""


@dataclass(frozen=True)
class RandomRate:
    """Programs a second of one profile, best round.

    Attributes:
        wall: by the clock; another load of the machine lowers it.
        cpu: by the processor time that the simulator used, which is one core.
    """

    wall: float
    cpu: float


def measure_random(rounds: int = 2) -> dict[str, RandomRate]:
    """Measure every profile in Verilator.

    Raises:
        RandomBenchError: a run that did not pass.
    """
    built = build(SIM)
    rates: dict[str, RandomRate] = {}
    for profile, count in PROGRAMS.items():
        params = {"seed": SEED, "profile": profile, "count": count, "first": 0}
        wall, cpu = [], []
        for _ in range(rounds):
            done = simulate(SIM, Job("random", params), built=built)
            if not done.passed:
                raise RandomBenchError(f"random {profile}: {done.summary}, log {done.log}")
            wall.append(count / done.summary["seconds"])
            cpu.append(count / done.summary["cpu_seconds"])
        rates[profile] = RandomRate(max(wall), max(cpu))
    return rates


def report_random(console: Console, rates: dict[str, RandomRate]) -> None:
    """Print one row a profile."""
    rows = [(f"random programs, {SIM}", "programs/s", "per s of processor time")]
    rows += [(name, f"{rate.wall:,.0f}", f"{rate.cpu:,.0f}") for name, rate in rates.items()]
    console.print("\n" + format_table(rows, "<>>"), soft_wrap=True)
