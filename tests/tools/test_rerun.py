"""What a failure names replays just that: design, netlist, initial state, interpreter."""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from sim.engine.compilers import tool_environment
from sim.engine.design import Design, make_settings, own_design, python_command
from sim.engine.job_record import RECORD, JobRecord
from sim.engine.job_result import JobResult
from sim.engine.simulator import simulate
from sim.programs import shrink as shrinking
from sim.programs.rerun import parse, read_simulation
from sim.shared.errors import UsageError
from sim.shared.paths import ROOT, RTL
from verif.items.job import Job
from verif.items.program_item import ProgramItem
from verif.stimulus.directed import REGISTRY

WRONG = "-8'sd127"  # saturation of a vector sum
PLUSARGS = ("+looks_like_nothing",)


@pytest.fixture(scope="module")
def failure(tmp_path_factory: pytest.TempPathFactory) -> JobResult:
    """A program that fails on a faulty copy of the design, played with a plusarg and a seed."""
    folder = tmp_path_factory.mktemp("failure")
    shutil.copytree(RTL, folder / "my rtl")
    unit = folder / "my rtl" / "ga2_vadd.sv"
    text = unit.read_text()
    assert text.count(WRONG) == 1
    unit.write_text(text.replace(WRONG, "-8'sd126"))
    items = [
        item for name in REGISTRY if name.startswith("vadd") for item in REGISTRY[name].items()
    ]
    run = simulate(
        "icarus",
        Job(items=items),
        rtl=folder / "my rtl",
        folder=folder / "job",
        plusargs=PLUSARGS,
        seed=7,
    )
    assert run.failed
    return run


def options(folder: Path, *words: str) -> argparse.Namespace:
    return parse([str(folder), *words])


def test_the_command_replays_the_failure(failure: JobResult) -> None:
    command = failure.failed[0].rerun
    words = shlex.split(command)
    assert words[0] == shlex.split(python_command())[0]
    done = subprocess.run(
        [sys.executable, *words[1:]],
        cwd=ROOT,
        env=tool_environment(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert failure.failed[0].name in done.stdout


def test_everything_that_mattered_is_recorded(failure: JobResult) -> None:
    again = read_simulation(options(failure.folder / "failing" / "0"), Console())
    assert (again.sim, again.seed, again.plusargs) == ("icarus", 7, PLUSARGS)
    assert again.build["rtl"].path == Path(failure.folder.parent / "my rtl")
    assert len(again.job.items) == 1


def test_shrink_plays_on_what_the_program_failed_on(
    failure: JobResult, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[dict[str, Any]] = []

    def shrink(sim: str, items: Sequence[ProgramItem], **options: Any) -> None:
        asked.append({"sim": sim, **options})

    monkeypatch.setattr("sim.programs.shrink.shrink", shrink)
    kept = failure.folder / "failing" / "0"
    for words in ([], ["--rtl", str(RTL)], ["--sim", "verilator"]):
        monkeypatch.setattr(sys, "argv", ["shrink", "--failure", str(kept), *words])
        assert shrinking.main() == 1  # did not fail again
    first, elsewhere, other = asked
    assert (first["sim"], first["seed"], first["plusargs"]) == ("icarus", 7, PLUSARGS)
    assert first["rtl"].path == other["rtl"].path == failure.folder.parent / "my rtl"
    assert first["more"] == {
        "bench": None, "coverage": False, "defines": [], "options": [], "top": "ga2_tb"
    }  # fmt: skip
    assert elsewhere["rtl"] == own_design()
    # A plusarg is one of the simulator that it was given to.
    assert (other["sim"], other["seed"], other["plusargs"]) == ("verilator", 7, ())
    assert f"design: {first['rtl']}" in capsys.readouterr().out
    unit = failure.folder.parent / "my rtl" / "ga2_vadd.sv"
    text = unit.read_text()
    unit.write_text(text + "\n")
    monkeypatch.setattr(sys, "argv", ["shrink", "--failure", str(kept)])
    with pytest.raises(UsageError, match="has changed since"):
        shrinking.main()
    unit.write_text(text)


def test_a_design_that_changed_is_refused(failure: JobResult, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    shutil.copytree(failure.folder / "failing" / "0", kept)
    fields = json.loads((failure.folder / RECORD).read_text())
    fields["request"]["design"]["hash"] = "0" * 16
    (kept / RECORD).write_text(json.dumps(fields))
    with pytest.raises(UsageError, match=r"has changed since: it was 0{16}, it is"):
        read_simulation(options(kept), Console())
    assert read_simulation(options(kept, "--changed"), Console()).plusargs == PLUSARGS
    (kept / RECORD).write_text("{}")
    with pytest.raises(UsageError, match=f"{RECORD}: not what a job was played on"):
        read_simulation(options(kept), Console())


def test_a_job_without_a_record_is_refused(tmp_path: Path) -> None:
    Job(items=REGISTRY["amax_ties"].items()[:1]).save(tmp_path / "deep" / "down" / "job")
    with pytest.raises(UsageError, match=f"no {RECORD}"):
        read_simulation(options(tmp_path / "deep" / "down" / "job"), Console())


def test_a_netlist_is_found_by_its_files(tmp_path: Path) -> None:
    netlist = tmp_path / "netlist.v"
    netlist.write_text("module ga2; endmodule\n")
    design = Design.of_files(tmp_path, [netlist])
    stamp = {"design": design.to_json(), "files": [str(netlist)]}
    record = JobRecord("verilator", stamp)
    assert record.design() == design
    netlist.write_text("module ga2; wire a; endmodule\n")
    with pytest.raises(UsageError, match="has changed since"):
        record.design()


def test_commands_of_make_say_where_to_play(
    failure: JobResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    design = Design.load(failure.folder.parent / "my rtl")
    monkeypatch.setattr(sys, "prefix", str(ROOT / ".venv"))
    assert make_settings("icarus", own_design()) == "SIM=icarus"
    assert make_settings("verilator", design) == f"SIM=verilator RTL='{design.path}'"
    monkeypatch.setattr(sys, "prefix", "/opt/venv")
    assert make_settings("icarus", own_design()) == "SIM=icarus VENV=/opt/venv"
