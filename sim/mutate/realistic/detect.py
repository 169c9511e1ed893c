"""Plays programs on planted faults: some simulations side by side, each fault in one of them."""

from __future__ import annotations

import re
import tempfile
import threading
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from sim.engine.builds import Build, build
from sim.engine.job_result import SimulationError
from sim.engine.simulator import simulate
from sim.mutate.realistic.faults import CONTROL, Fault
from sim.shared.errors import ToolError
from sim.shared.progress import ProgramProgress
from verif.items.job import Job
from verif.items.program_item import ProgramItem
from verif.items.result import ProgramResult
from verif.mutation.protocol import Queue
from verif.sequences.planted_faults import DIRECTED, HEALTHY, RANDOM, TASK, Hunt, PlantedFaults
from verif.stimulus.directed import REGISTRY
from verif.stimulus.profiles import ALL
from verif.stimulus.registry import Directed

SIM = "verilator"
NAMED = re.compile(r"pc \d+ `(?:\.word \w+ ; )?(\w+)")
FAMILIES = {
    "ga2_sequencer.sv": ("control", "resets"),
    "ga2_counters.sv": ("boundaries", "control"),
    "ga2_fault_checker.sv": ("faults",),
    "ga2_load.sv": ("load_store",),
    "ga2_store.sv": ("load_store",),
    "ga2_mac_row.sv": ("matmul",),
    "ga2_requantizer.sv": ("requantize",),
    "ga2_divider.sv": ("softmax",),
    "ga2_scratchpad.sv": ("dependencies",),
    "ga2_amax.sv": ("argmax",),
    "ga2_vadd.sv": ("vector_add", "dependencies"),
    "ga2_requant.sv": ("requantize",),
}
"""Families of directed programs that look at a file; without an entry, the one of its name."""


@dataclass
class Detection:
    """What one series of programs says of a fault.

    Attributes:
        programs: how many were played until one failed, that one included; None: none failed.
        check: kind of its first mismatch; ``crash`` when the simulation died.
        named: the operation that was named as the first wrong one.
        program: the name of the one that failed.
    """

    programs: int | None = None
    check: str = ""
    named: str = ""
    program: str = ""


class Hunters:
    """Simulations that share the hunts through a queue; one that dies of a fault begins anew.

    Attributes:
        found: what came of each fault, by number and way.
    """

    def __init__(self, built: Build, job: Job, progress: ProgramProgress) -> None:
        """Play ``job``, whose task says what is to be hunted, on ``built``."""
        self.built = built
        self.job = job
        self.progress = progress
        self.stop = threading.Event()
        self.found: dict[tuple[int, str], Detection] = defaultdict(Detection)
        self._played: dict[tuple[int, str], int] = defaultdict(int)

    def run(self, workers: int) -> None:
        """Play until nothing is left to hunt.

        Raises:
            SimulationError: a simulation died, and not of a fault.
        """
        with ThreadPoolExecutor(workers) as pool:
            futures = [pool.submit(self._run) for _ in range(workers)]
            try:
                for future in futures:
                    future.result()
            except BaseException:
                self.stop.set()
                raise

    def _run(self) -> None:
        while self._simulate():
            pass

    def _simulate(self) -> bool:
        """Run one simulation to its end; say whether it died of a fault."""
        last: ProgramResult | None = None

        def look(result: ProgramResult) -> None:
            nonlocal last
            if last and hunt_of(last) != hunt_of(result):
                self._finished(hunt_of(last))
            last = result
            self._take(result)

        died = False
        try:
            simulate(SIM, self.job, built=self.built, on_result=look, stop=self.stop)
        except SimulationError:
            if last is None or not last.passed:
                raise  # while the design itself was played
            died = True
            self.found[hunt_of(last)] = Detection(self._played[hunt_of(last)] + 1, "crash")
        if last:
            self._finished(hunt_of(last))
        return died

    def _take(self, result: ProgramResult) -> None:
        name = result.name.split("/", 2)[2]
        if name == HEALTHY:
            return
        key = hunt_of(result)
        self._played[key] += 1
        if not result.passed:
            named = NAMED.match(result.first_divergence)
            kind = result.mismatches[0].kind if result.mismatches else "nothing"
            self.found[key] = Detection(self._played[key], kind, named[1] if named else "", name)

    def _finished(self, hunt: tuple[int, str]) -> None:
        self.progress.finished(f"fault {hunt[0]}, {hunt[1]} programs", True, 0)

    def missing(self, hunts: Sequence[Hunt], count: int) -> list[Hunt]:
        """Hunts that did not come to an end: something of a fault before outlived a reset."""

        def ended(hunt: Hunt) -> bool:
            key = hunt.number, hunt.way
            wanted = len(hunt.order) if hunt.way == DIRECTED else count
            return self.found[key].programs is not None or self._played[key] == wanted

        return [hunt for hunt in hunts if not ended(hunt)]


def hunt_of(result: ProgramResult) -> tuple[int, str]:
    """Return number and way of the fault that a program was played on."""
    number, way, _ = result.name.split("/", 2)
    return int(number), way


def likely_first(entries: Sequence[Directed], fault: Fault) -> list[Directed]:
    """Directed programs in an order in which those come first that are about a fault's place."""
    families = FAMILIES.get(fault.file, (Path(fault.file).stem.removeprefix("ga2_"),))
    operation = fault.operation.lower()

    def rank(entry: Directed) -> int:
        if entry.family in families:
            return families.index(entry.family)
        about_it = operation and operation in entry.name.split("_")
        return len(families) + (0 if about_it else 1)

    return sorted(entries, key=rank)


def play_faults(
    console: Console,
    planted: Path,
    chosen: Sequence[tuple[int, Fault]],
    seed: int,
    count: int,
    workers: int,
) -> list[tuple[Fault, Detection, Detection]]:
    """Each fault with what directed programs and random ones of all profiles say of it.

    Args:
        console: where to show progress.
        planted: the design with all faults.
        chosen: faults with their numbers.
        seed, count: of the random programs.
        workers: simulations at a time.

    Raises:
        BuildError: the design does not compile.
        SimulationError: a simulation died, and not of a fault.
        ToolError: programs are missing.
    """
    entries = [entry for entry in REGISTRY.values() if not entry.slow]
    items: list[ProgramItem] = []
    places: dict[str, range] = {}
    for entry in entries:
        made = entry.items()
        places[entry.name] = range(len(items), len(items) + len(made))
        items += made
    hunts = []
    for number, fault in chosen:
        order = [place for entry in likely_first(entries, fault) for place in places[entry.name]]
        hunts += [Hunt(number, DIRECTED, order), Hunt(number, RANDOM)]
    drawn = {"seed": seed, "profile": ALL, "first": 0, "count": count}
    with (
        tempfile.TemporaryDirectory() as folder,
        ProgramProgress(console, "faults", len(hunts)) as progress,
    ):
        task = PlantedFaults(CONTROL, hunts, drawn, Path(folder) / "queue")
        job = Job("planted_faults", {TASK: task, "coverage": False}, items)
        hunters = Hunters(build(SIM, rtl=planted), job, progress)
        while left := hunters.missing(hunts, count):
            hunters.job = replace(job, params={**job.params, TASK: replace(task, hunts=left)})
            Queue(task.queue).reset()
            hunters.run(min(workers, len(left)))
            if hunters.missing(hunts, count) == left:
                raise ToolError(f"fault {left[0].number}: its programs did not come back")
    found = hunters.found
    return [(fault, found[n, DIRECTED], found[n, RANDOM]) for n, fault in chosen]
