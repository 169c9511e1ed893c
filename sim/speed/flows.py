"""The flows that ``make bench`` plays in turns: plain testbench, bare driver, this project's."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console

from model.decode.workload import DecodeRun
from sim.decode.job import decode_job
from sim.engine.builds import build as build_pyuvm
from sim.engine.simulator import simulate
from sim.shared.errors import ToolError
from sim.shared.paths import BUILD
from sim.shared.table import format_table
from sim.speed import bare_flow, plain_flow
from sim.speed.plain_flow import Replay


class BenchError(ToolError):
    """A measured run did not match the model: its time means nothing."""


@dataclass(frozen=True)
class Rates:
    """Cycles per second of one flow, one figure a round.

    Attributes:
        wall: of the simulation phase, by the clock on the wall.
        cpu: by processor time, which a loaded machine disturbs less.
    """

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def add(self, cycles: int, cpu_seconds: float, seconds: float | None = None) -> None:
        """Record a round."""
        self.cpu.append(cycles / cpu_seconds)
        if seconds is not None:
            self.wall.append(cycles / seconds)


@dataclass(frozen=True)
class Flows:
    """The flows on one simulator.

    Attributes:
        plain: the plain testbench as such testbenches are written: it reads hexadecimal files.
        tuned: the same with one binary file instead.
        bare: the design with the simplest memory and no checks: what nothing can be faster than.
            In Verilator it is a C++ driver, of which only processor time is known.
        pyuvm: this project's flow.
    """

    plain: Rates = field(default_factory=Rates)
    tuned: Rates = field(default_factory=Rates)
    bare: Rates = field(default_factory=Rates)
    pyuvm: Rates = field(default_factory=Rates)

    def figures(self) -> dict[str, Any]:
        """Return rates and ratios as plain data."""
        ratios = {
            f"pyuvm_to_{name}_by_{by}": self.ratio(name, by)
            for name in ("plain", "tuned")
            for by in ("wall", "cpu")
        }
        ratios["pyuvm_to_bare_by_cpu"] = self.ratio("bare", "cpu")
        return asdict(self) | ratios

    def ratio(self, to: str = "plain", by: str = "wall") -> float:
        """Best pyuvm round over the other's best: what disturbs a round only slows it down."""
        best: float = max(getattr(self.pyuvm, by)) / max(getattr(getattr(self, to), by))
        return best


def measure_flows(sim: str, decode: DecodeRun, rounds: int) -> Flows:
    """Play the decode steps in both flows, in turns.

    Raises:
        BenchError: a run that did not match the model.
    """
    folder = BUILD / "bench"
    latency = decode.params.latency
    replays = [Replay(step.program, step.image, latency) for step in decode.steps]
    plain_flow.export(folder, replays)
    plain = plain_flow.build(sim)
    bare = plain_flow.build(sim, bare=True) if sim == "icarus" else bare_flow.build()
    built = build_pyuvm(sim)
    # The plain testbench collects no coverage, so neither flow does.
    job = decode_job({None: decode}, {"coverage": False})
    flows = Flows()

    def replay(rates: Rates, command: list[str], binary: bool) -> None:
        done = plain_flow.run(command, folder, len(replays), binary)
        if done.mismatches or done.cycles != decode.total_cycles:
            raise BenchError(f"plain testbench on {sim}: {done}")
        rates.add(done.cycles, done.cpu_seconds, done.seconds)

    for _ in range(rounds):
        replay(flows.plain, plain, False)
        replay(flows.tuned, plain, True)
        if isinstance(bare, Path):
            driven = bare_flow.run(bare, folder / plain_flow.BINARY, len(replays))
            flows.bare.add(driven.cycles, driven.cpu_seconds)
        else:
            replay(flows.bare, bare, True)
        pyuvm = simulate(sim, job, built=built)
        done = pyuvm.summary
        if not pyuvm.passed or done["cycles"] != decode.total_cycles:
            raise BenchError(f"pyuvm flow on {sim}: {done}, log {pyuvm.log}")
        flows.pyuvm.add(done["cycles"], done["cpu_seconds"], done["seconds"])
    return flows


def report_flows(console: Console, sim: str, flows: Flows) -> None:
    """Print the flows on one simulator, the best round of each."""
    rows = [[f"{sim}, simulation phase", "cycles/s", "pyuvm is", "by processor time", "pyuvm is"]]
    titles = {
        "plain": "plain testbench",
        "tuned": "  its files in binary",
        "bare": "design alone, simplest memory",
        "pyuvm": "pyuvm flow",
    }
    for name, title in titles.items():
        rates: Rates = getattr(flows, name)
        row: list[str] = [title]
        for by in ("wall", "cpu"):
            best = max(getattr(rates, by), default=0.0)
            row.append(f"{best:,.0f}" if best else "")
            row.append(f"{flows.ratio(name, by):.2f} x" if best and name != "pyuvm" else "")
        rows.append(row)
    console.print(format_table(rows, "<>>>>") + "\n", soft_wrap=True)
