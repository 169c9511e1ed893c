"""Faults in the testbench's own drivers, monitors, predictor, scoreboard and test are noticed."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from planting import kept
from sabotage import plant
from testbench_conformance import SETS, Said, complaints
from testbench_faults import FAULTS, SOUND

from sim.engine.builds import build, tail
from sim.engine.job_folder import scratch_folder
from sim.engine.job_result import JobResult
from sim.engine.simulator import command, run_environment
from sim.shared import junit
from sim.shared.outcome import Outcome
from sim.shared.paths import RTL
from verif.items.job import RESULTS_FILE
from verif.items.result import ProgramResult

SUPPORT = Path(__file__).parents[1] / "support"

Runs = dict[str, Said]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Both sets with every faulty testbench: one build, one simulation."""
    folder = tmp_path_factory.mktemp("faults")
    made = build("icarus", rtl=kept(plant(RTL, folder / "rtl")))
    run = JobResult(folder=folder, log=folder / "run.log")
    environment = run_environment(folder)
    environment["PYTHONPATH"] = f"{SUPPORT}:{environment['PYTHONPATH']}"
    call = [*command(made, run, (), 1), "COCOTB_TEST_MODULES=testbench_fault_runs"]
    with open(run.log, "w") as log, scratch_folder() as scratch:
        subprocess.run(
            call, cwd=scratch, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    said = read_results(folder / RESULTS_FILE)
    for case in junit.read(folder / "results.xml"):
        said[case.name].passed = case.outcome is Outcome.PASSED
    wanted = {f"{fault}/{which}" for fault in (SOUND, *FAULTS) for which in SETS}
    assert said.keys() == wanted, tail(run.log.read_text())
    return said


def read_results(path: Path) -> Runs:
    """Results and counts of each test in the file; a line names the test that begins."""
    said: Runs = {}
    for line in path.read_text().splitlines():
        fields = json.loads(line)
        if fields["type"] == "test":
            current = said[fields["name"]] = Said()
        elif fields["type"] == "summary":
            current.summary = fields
        else:
            current.results.append(ProgramResult.from_json(fields))
    return said


@pytest.mark.parametrize("which", SETS)
def test_a_working_testbench_causes_no_complaint(runs: Runs, which: str) -> None:
    assert complaints(which, runs[f"{SOUND}/{which}"]) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_testbench_is_noticed(runs: Runs, fault: str) -> None:
    which, found = FAULTS[fault]
    said = complaints(which, runs[f"{fault}/{which}"])
    assert any(found in complaint for complaint in said), said
