"""Verdict, JSON, JUnit and exit code of a front end say the same, whatever happens."""

from __future__ import annotations

import errno
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from sim.engine.builds import Build, build
from sim.engine.compilers import BuildError
from sim.engine.design import Design
from sim.engine.job_result import JobResult, SimulationError
from sim.formal.__main__ import Checked
from sim.formal.proofs import catalogue
from sim.formal.sby import SbyResult
from sim.gates.netlist import Netlist
from sim.mutate.model.report import ModuleReport
from sim.report.sources import Sources, UnfinishedError
from sim.report.write import write_pages
from sim.shared import files, junit
from sim.shared.cli import run
from sim.shared.failures import buckets_of, print_failures, program_cases
from sim.shared.junit import Case, JunitError, Suite
from sim.shared.outcome import Outcome
from sim.shared.paths import ROOT, RTL
from sim.shared.process import Ended
from sim.shared.results import ResultFiles
from verif.items.job import Job
from verif.items.result import Mismatch, ProgramResult

ESCAPED = "red \x1b[31m, nul \x00, half \ud800, \ufffe, kept \t \u00e9 \U0001f600"


def cases() -> list[Case]:
    return [
        Case("good", Outcome.PASSED, seconds=0.25),
        Case("bad", Outcome.FAILED, "why\n  a < b & c", kind="memory"),
        Case("gone", Outcome.CRASHED, "died"),
        Case("later", Outcome.SKIPPED, "not now", classname="else", properties={"seed": 3}),
    ]


def test_junit_comes_back_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "new" / "junit.xml"
    junit.write(path, [Suite("suite", cases(), {"seed": 1})])
    good, bad, gone, later = junit.read(path)
    assert (good.name, good.classname, good.outcome, good.seconds) == (
        *("good", "suite", Outcome.PASSED),
        0.25,
    )
    assert (bad.outcome, bad.detail, bad.kind) == (Outcome.FAILED, "why\n  a < b & c", "memory")
    assert (gone.outcome, gone.detail) == (Outcome.CRASHED, "died")
    assert (later.outcome, later.classname) == (Outcome.SKIPPED, "else")
    text = path.read_text()
    assert 'tests="4" failures="1" errors="1" skipped="1"' in text
    assert '<property name="seed" value="3"' in text


def test_junit_holds_what_xml_cannot(tmp_path: Path) -> None:
    path = tmp_path / "junit.xml"
    case = Case(ESCAPED, Outcome.FAILED, ESCAPED, 0.0, ESCAPED, ESCAPED, {ESCAPED: ESCAPED})
    junit.write(path, [Suite(ESCAPED, [case], {ESCAPED: ESCAPED})])
    (back,) = junit.read(path)
    assert "red \\x1b[31m, nul \\x00, half \\ud800, \\ufffe" in back.detail
    assert back.detail.endswith("\u00e9 \U0001f600")


def test_no_file_is_no_case_and_half_a_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "junit.xml"
    assert junit.read(path) == []
    junit.write(path, [Suite("suite", cases())])
    path.write_text(path.read_text()[:-40])
    with pytest.raises(JunitError, match=r"junit\.xml: not JUnit XML"):
        junit.read(path)
    path.write_text("<html/>")
    with pytest.raises(JunitError, match=r"junit\.xml: not JUnit XML"):
        junit.read(path)


def test_junit_takes_time_in_proportion_to_its_cases(tmp_path: Path) -> None:
    def seconds(count: int) -> float:
        many = [Case(f"program {n}", Outcome.of(n % 9 > 0), "why") for n in range(count)]
        begin = time.process_time()
        junit.write(tmp_path / "junit.xml", [Suite("suite", many)])
        return time.process_time() - begin

    seconds(100)
    small, large = min(seconds(400) for _ in range(3)), min(seconds(4000) for _ in range(2))
    assert large < 30 * small, f"400 cases {small:.3f} s, 4,000 {large:.3f} s"


def finish(folder: Path, passed: bool, written: list[Case]) -> tuple[int, dict[str, Any], Outcome]:
    """Exit code, JSON, and the worst of JUnit."""
    with ResultFiles("tool", folder, simulator="icarus") as result:
        code = result.finish(
            Console(quiet=True), passed, "3 of 4", {"programs": 4}, [Suite("tool", written)]
        )
    return code, json.loads((folder / "tool.json").read_text()), worst(folder / "tool.xml")


def worst(path: Path) -> Outcome:
    bad = [case.outcome for case in junit.read(path) if case.outcome.bad]
    return bad[0] if bad else Outcome.PASSED


def test_all_say_passed(tmp_path: Path) -> None:
    code, figures, outcome = finish(tmp_path, True, cases()[:1])
    assert (code, outcome) == (0, Outcome.PASSED)
    assert figures == {"simulator": "icarus", "programs": 4, "passed": True, "outcome": "passed"}


@pytest.mark.parametrize(
    ("passed", "written"), [(False, cases()[:1]), (True, cases()[:2]), (True, [cases()[2]])]
)
def test_one_fault_anywhere_and_all_say_failed(
    tmp_path: Path, passed: bool, written: list[Case]
) -> None:
    code, figures, outcome = finish(tmp_path, passed, written)
    assert code == 1
    assert (figures["passed"], figures["outcome"]) == (False, "failed")
    assert outcome.bad


@pytest.mark.parametrize(
    ("error", "outcome", "text"),
    [
        (BuildError("does not build"), Outcome.ERROR, "does not build"),
        (KeyboardInterrupt(), Outcome.INTERRUPTED, "interrupted"),
        (ZeroDivisionError(), Outcome.ERROR, "ZeroDivisionError"),
        (None, Outcome.ERROR, "ended without a verdict"),
    ],
)
def test_a_run_without_a_verdict_says_what_ended_it(
    tmp_path: Path, error: BaseException | None, outcome: Outcome, text: str
) -> None:
    finish(tmp_path, True, cases()[:1])
    for suffix in (".csv", ".trace.json"):
        (tmp_path / f"tool{suffix}").write_text("old")

    def start() -> None:
        with ResultFiles("tool", tmp_path, simulator="icarus"):
            assert not any(tmp_path.iterdir()), "an earlier run's files stand while this one runs"
            if error:
                raise error

    if error:
        with pytest.raises(type(error)):
            start()
    else:
        start()
    figures = json.loads((tmp_path / "tool.json").read_text())
    assert (figures["passed"], figures["error"], figures["simulator"]) == (False, text, "icarus")
    (case,) = junit.read(tmp_path / "tool.xml")
    assert (case.outcome, case.detail) == (outcome, text)
    with pytest.raises(UnfinishedError, match=f"tool ended without a verdict: {text}"):
        Sources(tmp_path, tmp_path, tmp_path).result("tool")


def test_the_report_calls_a_run_without_a_verdict_broken(tmp_path: Path) -> None:
    with (
        pytest.raises(BuildError),
        ResultFiles("decode-icarus", tmp_path, simulator="icarus"),
    ):
        raise BuildError("icarus does not build")
    sources = Sources(tmp_path, tmp_path / "none", tmp_path / "none")
    page = write_pages(sources, tmp_path / "report").read_text()
    assert "Broken: decode-icarus ended without a verdict: icarus does not build" in page


@pytest.mark.parametrize("full", ["tool.xml", "tool.json", "tool.csv"])
def test_a_file_that_cannot_be_written_spares_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], full: str
) -> None:
    real = files.write_text

    def write_text(path: Path, text: str) -> None:
        if path.name == full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        real(path, text)

    monkeypatch.setattr(files, "write_text", write_text)
    monkeypatch.setattr(junit, "write_text", write_text)
    with ResultFiles("tool", tmp_path) as result:
        result.attempt(result.path(".csv"), lambda path: files.write_text(path, "a,b"))
        code = result.finish(
            Console(quiet=True), True, "all", {"programs": 4}, [Suite("tool", cases()[:1])]
        )
    assert code == 2
    line = f"{tmp_path / full}: No space left on device"
    assert capsys.readouterr().err == f"error: {line}\n"
    left = {"tool.xml", "tool.json", "tool.csv"} - {full}
    assert {path.name for path in tmp_path.iterdir()} == left
    if full != "tool.json":
        figures = json.loads((tmp_path / "tool.json").read_text())
        assert (figures["passed"], figures["error"], figures["programs"]) == (False, line, 4)
    if full != "tool.xml":
        assert worst(tmp_path / "tool.xml") is Outcome.ERROR


SEQUENCE = ["--sequence", "random", "--params", "seed=1 profile=typical count=1 first=0"]
# Module, name of its result files, options of a short run, and what does the work in it when that
# is not the player.
FRONT_ENDS = [
    ("decode.__main__", "decode-icarus", ["--steps", "1", "--windows", "1"], ""),
    ("decode.compare", "compare", ["--steps", "1", "--windows", "1"], ""),
    ("programs.run", "run-icarus", ["--program", "examples/copy.asm"], ""),
    ("programs.sequence", "sequence-icarus", SEQUENCE, ""),
    ("programs.trace", "trace-icarus", ["--program", "examples/copy.asm"], ""),
    ("programs.random_programs", "random-icarus", ["--count", "1"], ""),
    ("programs.directed", "directed-icarus", ["--name", "halt_only"], ""),
    ("programs.powerup", "powerup", ["--sim", "verilator", "--count", "0"], ""),
    ("coverage.__main__", "coverage", ["--sim", "icarus", "--programs", "0"], ""),
    ("gates.__main__", "gls", ["--sims", "icarus", "--random", "0"], "synthesize"),
    ("formal.__main__", "formal", ["--modules", "divider"], "check"),
    ("speed.__main__", "bench", [], "measure_flows"),
    ("plan.__main__", "testplan", [], "existing_tests"),
    ("mutate.realistic.__main__", "faults", ["--name", "ld-*", "--count", "1"], "play_faults"),
    ("serving.__main__", "serve-icarus", ["--requests", "1", "--pool", "8"], ""),
    ("mutate.rtl.__main__", "report", ["--quiet"], "judge"),
    ("mutate.proofs.__main__", "formal", [], "judge"),
    ("mutate.model.__main__", "mutate-model", ["--modules", "page_table"], "judge"),
]
# Those of make's targets that judge nothing, or whose reports have tests of their own.
OTHERS = {
    *(
        "programs.disasm",
        "programs.shrink",
        "programs.units",
        "model.studies",
        "report",
        "report.pictures",
        "trained.train",
        "trained.evaluate",
    ),
    *("lint", "operations", "regress", "regress.rerun", "regress.slurm", "regress.bench"),
}


def interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def unbuildable(*_: object, **__: object) -> None:
    raise BuildError("ga2.sv:1: syntax error")


def test_every_target_of_make_is_judged() -> None:
    recipes = (ROOT / "Makefile").read_text()
    modules = set(re.findall(r"\$\(PY\) -m (?:sim\.)?([\w.]+)", recipes))
    choice = re.findall(r"-m sim\.programs\.\$\(if [^,]*,(\w+),(\w+)\)", recipes)
    modules = modules - {"programs."} | {f"programs.{name}" for name in choice[0]}
    engines = re.findall(r"call is,ENGINE,\w+\),(\w+)", recipes)
    modules = modules - {"mutate."} | {f"mutate.{name}" for name in engines}
    known = {module.removesuffix(".__main__") for module, *_ in FRONT_ENDS}
    assert modules - OTHERS == known


@pytest.mark.parametrize(("trouble", "code"), [(interrupted, 130), (unbuildable, None)])
@pytest.mark.parametrize(("module", "name", "options", "worker"), FRONT_ENDS)
def test_no_front_end_leaves_green_files_of_an_earlier_run(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    module: str,
    name: str,
    options: list[str],
    worker: str,
    trouble: Callable[..., None],
    code: int | None,
) -> None:
    monkeypatch.setattr(f"sim.{module}.{worker}" if worker else "sim.engine.play.build", trouble)
    (tmp_path / f"{name}.json").write_text('{"passed": true}')
    junit.write(tmp_path / f"{name}.xml", [Suite(name, cases()[:1])])
    ended = end_of(module, options, tmp_path, monkeypatch)
    assert ended in ((code,) if code else (1, 2))
    assert json.loads((tmp_path / f"{name}.json").read_text())["passed"] is False
    assert worst(tmp_path / f"{name}.xml").bad


def end_of(
    module: str, options: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> int | str | None:
    """Exit code of a front end whose outputs all go into a folder."""
    front = importlib.import_module(f"sim.{module}")
    monkeypatch.setattr(Design, "output", lambda _, name: folder)
    monkeypatch.setattr("sim.shared.results.RESULTS", folder)
    if module.startswith("mutate.model"):
        options = [*options, "--results", str(folder)]
    if module.startswith("coverage"):
        options = [*options, "--folder", str(folder / "cov")]
    monkeypatch.setattr(sys, "argv", [module, *options])
    with pytest.raises(SystemExit) as ended:
        run(module, front.main)
    return ended.value.code


def fake_simulation(fate: str) -> Callable[..., JobResult]:
    """A simulator in whose first program something is wrong, or that dies after it."""

    def simulate(sim: str, job: Job, *, folder: Path | None = None, **more: Any) -> JobResult:
        folder = folder or more["built"].folder
        wrong = [Mismatch("memory", "ext[0]: expected 1, got 2")] if fate == "failure" else []
        names = [item.name for item in job.items] or ["random typical 0"]
        results = [ProgramResult(name, "", True, comparisons=9) for name in names]
        results[0] = ProgramResult(names[0], "", not wrong, comparisons=9, mismatches=wrong)
        run = JobResult(folder, folder / "run.log", results=results)
        run.summary = {"seconds": 1.0, "comparisons": 9}
        if more.get("on_result"):
            more["on_result"](results[0])
        if fate == "crash":
            run.results, run.summary, run.ended = results[:1], {}, Ended.CRASHED
            run.error = "crashed (SIGSEGV) after the last program"
            raise SimulationError(run)
        return run

    return simulate


def failing_worker(module: str) -> Callable[..., Any]:
    """What the worker of a front end that plays nothing returns when it has found a fault."""
    if module.startswith("formal"):
        proof = next(one for one in catalogue().proofs if one.module == "ga2_divider")
        bad = SbyResult("FAIL", "40", "abc", (), (), (), (), 1.0, "")
        return lambda *_: [Checked(proof, proof.properties[0], bad, bad, None)]
    if module.startswith("plan"):
        return lambda *_: ["unit/none::listed_nowhere"]
    return lambda target, *_: ModuleReport(target, 1)


@pytest.mark.parametrize("fate", ["failure", "crash"])
@pytest.mark.parametrize(("module", "name", "options", "worker"), FRONT_ENDS)
def test_exit_code_json_and_junit_agree(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    module: str,
    name: str,
    options: list[str],
    worker: str,
    fate: str,
) -> None:
    """A fault in one program, and a simulator that dies when all programs are through."""
    if not worker or module.startswith("gates"):
        monkeypatch.setattr("sim.engine.play.build", lambda sim, **_: Build(sim, tmp_path, "vcd"))
        monkeypatch.setattr("sim.engine.play.simulate", fake_simulation(fate))
        if worker:
            netlist = Netlist("generic", tmp_path, {}, {})
            monkeypatch.setattr(f"sim.{module}.{worker}", lambda *_: netlist)
    elif fate == "failure" and module.startswith(("formal", "plan", "mutate.model")):
        monkeypatch.setattr(f"sim.{module}.{worker}", failing_worker(module))
    else:

        def dead(*_: object, **__: object) -> None:
            raise SimulationError(JobResult(tmp_path, tmp_path / "log", error="crashed (SIGSEGV)"))

        monkeypatch.setattr(f"sim.{module}.{worker}", dead)
    if module.startswith(("mutate.rtl", "mutate.proofs")):
        nothing = SimpleNamespace(unfit=(), keys={}, mutants={})
        monkeypatch.setattr(f"sim.{module}.make_plan", lambda *_: nothing)
    code = end_of(module, options, tmp_path, monkeypatch)
    figures = json.loads((tmp_path / f"{name}.json").read_text())
    assert code in (1, 2)
    assert (figures["passed"], Outcome(figures["outcome"]).bad) == (False, True)
    assert worst(tmp_path / f"{name}.xml").bad
    about = figures["model"] if module.startswith("mutate.model") else figures["design"]
    assert about["hash"]


def program(name: str, message: str = "", kind: Any = "memory", op: str = "MM") -> ProgramResult:
    mismatches = [Mismatch(kind, message)] if message else []
    divergence = f"pc 3: {op} dst=0x{len(name):x}" if message else ""
    return ProgramResult(
        name, "", not message, comparisons=1, mismatches=mismatches, first_divergence=divergence
    )


def test_failures_of_one_kind_are_one_bucket(capsys: pytest.CaptureFixture[str]) -> None:
    alike = [program(f"alike {n}", f"ext[{n}]: expected {n}, got -1") for n in range(9)]
    others = [program("other", "ext[1]: expected 1, got 2", op="VADD"), program("fine")]
    found = buckets_of([others[0], *alike, others[1]])
    assert [len(bucket) for bucket in found] == [9, 1]
    print_failures(Console(), [others[0], *alike, others[1]])
    text = capsys.readouterr().out
    assert text.count("FAIL") == 2
    assert "9 programs fail alike: also alike 1, alike 2, alike 3, ... 5 more" in text
    assert text.index("alike 0") < text.index("other")
    kinds = [program(f"p{n}", f"{'abcdefgh'[n]} differs") for n in range(6)]
    print_failures(Console(), kinds)
    assert "... and 3 more failing programs, of 3 other kinds" in capsys.readouterr().out


def test_a_case_a_program() -> None:
    good, bad = program_cases([program("good"), program("bad", "ext[1] differs")])
    assert (good.outcome, good.detail) == (Outcome.PASSED, "")
    assert (bad.outcome, bad.kind) == (Outcome.FAILED, "memory")
    assert "ext[1] differs" in bad.detail


def test_a_temporary_folder_that_is_none_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "gone"))
    with pytest.raises(SystemExit) as ended:
        run("tool", lambda: pytest.fail("it began"))
    assert ended.value.code == 2
    line = f"tool: error: TMPDIR={tmp_path / 'gone'}: no folder to write to; make it, or unset"
    assert capsys.readouterr().err == f"{line} TMPDIR\n"


def test_a_test_run_ends_with_the_list_of_what_failed(tmp_path: Path) -> None:
    tests = "def test_good(): pass\ndef test_bad(): assert 0\ndef test_other(nothing): pass\n"
    (tmp_path / "test_some.py").write_text(tests)
    options = ["-c", ROOT / "pyproject.toml", "--rootdir", tmp_path, "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *map(str, options), str(tmp_path)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    end = "\n".join(done.stdout.splitlines()[-4:])
    assert re.search(r"FAILED \S*test_some.py::test_bad", end)
    assert re.search(r"ERROR \S*test_some.py::test_other", end)


def test_bytes_that_are_no_text_cost_no_build_its_message(tmp_path: Path) -> None:
    design = tmp_path / "rtl"
    shutil.copytree(RTL, design)
    (design / "ga2_store.sv").write_bytes(b'`include "caf\xe9.svh"\n')
    with pytest.raises(BuildError, match="does not build"):
        build("icarus", rtl=design)
