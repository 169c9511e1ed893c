"""The command line: what it refuses, what it prints, what it leaves behind, its exit codes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from front_end import call, call_process
from planting import kept

from model.chip.assembler import assemble
from model.chip.image import parse_hex
from model.chip.machine import Machine
from sim.engine.agree import compare_results
from sim.programs.program_file import read_image, read_program
from sim.shared import junit
from sim.shared.patch import patch
from sim.shared.paths import ROOT, RTL
from verif.items.result import ProgramResult

GOLDEN = ROOT / "tests" / "golden" / "windowed_decode.json"
Refused = Callable[..., str]
COPY = "LD dst=0 src=16 len=8\nST src=0 dst=32 len=8\nHALT\n"


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch) -> Refused:
    """A function that calls a front end, which must refuse with one line, and returns it."""

    def refuse(module: str, *arguments: str | Path) -> str:
        monkeypatch.chdir(ROOT)
        done = call(module, *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert len(done.stderr.splitlines()) == 1, done.stderr
        return done.stderr

    return refuse


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--windows", "0"), "WINDOWS=0: '0' is neither 'none' nor a number above 0"),
        (("--windows", "none 8 x"), "'x' is neither"),
        (
            ("--model", "trained", "--seed", "2"),
            "SEED=2: MODEL=trained has trained weights, which take none",
        ),
        (("--model", "trained", "--start", "63"), "START=63: must be an integer in 0..62"),
        (("--model", "learned"), "MODEL=learned: must be one of structured, random, trained,"),
        (("--windows", "8 8"), "8 is given twice"),
        (("--windows", ""), "WINDOWS is empty"),
        (("--steps", "65"), "STEPS=65 with window none"),
        (("--steps", "65", "--windows", "8 65"), "STEPS=65 with window 65"),
        (("--steps", "0"), "STEPS=0: must be"),
        (("--steps", "many"), "'many' is not a whole number"),
        (("--sim", "foo"), "invalid choice: 'foo'"),
        (("--latency", "0"), "LAT=0: must be an integer in 1..64"),
        (("--latency", "65"), "LAT=65: must be an integer in 1..64"),
        (("--start", "16"), "START=16: must be an integer in 0..15"),
        (("--start", "-1"), "START=-1: must be"),
        (("--page", "0"), "PAGE=0: must be"),
        (("--pool", "0"), "POOL=0: must be"),
        (("--pool", "7"), "needs a pool of 8 pages"),
        (("--model", "big"), "MODEL=big: must be one of structured, random"),
        (("--seed", "-1"), "SEED=-1: must be"),
    ],
)
def test_decode_refuses(refused: Refused, arguments: tuple[str, ...], expected: str) -> None:
    assert expected in refused("decode.__main__", *arguments)


@pytest.mark.parametrize(
    ("module", "arguments", "said"),
    [
        (
            "programs.random_programs",
            ("--profile", "typicall"),
            "PROFILE=typicall: must be typical, corner",
        ),
        ("programs.random_programs", ("--profile", ""), "PROFILE is empty"),
        ("programs.random_programs", ("--count", "0"), "N=0: must be an integer of at least 1"),
        ("programs.random_programs", ("--only", "3", "--count", "4"), "ONLY=3 goes without N"),
        ("programs.random_programs", ("--seed", "seven"), "'seven' is not a whole number"),
        ("programs.random_programs", ("--jobs", "0"), "JOBS=0: must be"),
        ("programs.directed", ("--name", "mm_every_tle"), "did you mean mm_every_tile"),
        ("programs.directed", ("--name", ""), "nothing to play"),
        ("programs.powerup", ("--sim", "icarus"), "initial states are random in verilator only"),
        ("programs.shrink", ("--failure", "nowhere"), "no job in nowhere"),
        ("programs.run", ("--program", "examples/copy.asm", "--latencies", "0"), "LATS=0: must be"),
        ("coverage.__main__", ("--jobs", "0"), "JOBS=0: must be"),
        ("coverage.__main__", ("--programs", "-1"), "N=-1: must be"),
        ("coverage.__main__", ("--also", "/nope"), "ALSO=/nope: no folder with coverage data"),
        ("coverage.__main__", ("--also", "docs"), "ALSO=docs: no folder with coverage data"),
        (
            "programs.run",
            (*("--program", "examples/copy.asm", "--reset-at", "9"), "--late", "--latencies", "64"),
            "late answers come until cycle 73, but the run after the reset in cycle 9 requests",
        ),
    ],
)
def test_verification_front_ends_refuse(
    module: str, arguments: tuple[str, ...], said: str, refused: Refused
) -> None:
    assert said in refused(module, *arguments)


def test_coverage_of_another_design_is_refused(refused: Refused, tmp_path: Path) -> None:
    request = {"design": {"path": "elsewhere", "hash": "0" * 16}}
    for folder, record, text in (
        ("played", "played_on.json", {"request": request}),
        ("job", "record.json", {"design": "0" * 16}),
    ):
        (tmp_path / folder / "run").mkdir(parents=True)
        (tmp_path / folder / "run" / "coverage.xml").touch()
        (tmp_path / folder / "run" / record).write_text(json.dumps(text))
        said = refused("coverage.__main__", "--also", tmp_path / folder)
        assert (
            f"ALSO={tmp_path / folder}: {tmp_path / folder}/run/coverage.xml is of design 0" in said
        )


@pytest.mark.parametrize(
    ("module", "arguments", "said"),
    [
        ("formal.__main__", ("--modules", ""), "MODULES=: choose among amax divider"),
        ("formal.__main__", ("--modules", "dividor"), "MODULES=dividor: choose among"),
        ("formal.__main__", ("--jobs", "0"), "JOBS=0: must be an integer of at least 1"),
        ("formal.__main__", ("--rtl", "nowhere"), "RTL=nowhere: no such folder"),
        ("gates.__main__", ("--targets", ""), "TARGETS=: choose among generic ice40"),
        ("gates.__main__", ("--sims", "vcs"), "SIMS=vcs: choose among verilator icarus"),
        ("gates.__main__", ("--random", "-1"), "N=-1: must be an integer of at least 0"),
        ("gates.__main__", ("--steps", "-1"), "STEPS=-1: must be an integer of at least 0"),
        ("gates.__main__", ("--steps", "0", "--random", "0"), "leave nothing to play"),
        ("gates.__main__", ("--rtl", "nowhere"), "RTL=nowhere: no such folder"),
    ],
)
def test_proofs_and_gates_refuse(
    module: str, arguments: tuple[str, ...], said: str, refused: Refused
) -> None:
    assert said in refused(module, *arguments)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), "PROGRAM is empty"),
        (("--program", "nowhere.asm"), "nowhere.asm: No such file"),
        (("--program", "examples"), "examples: Is a directory"),
        (("--program", "examples/copy.asm", "--latency", "0"), "LAT=0: must be"),
        (("--program", "examples/copy.asm", "--depth", "0"), "DEPTH=0: must be"),
        (("--program", "examples/copy.asm", "--depth", "65537"), "DEPTH=65537: must be"),
        (("--program", "examples/copy.asm", "--ext", "nowhere.hex"), "nowhere.hex: No such file"),
        (("--program", "examples/copy.asm", "--ext", "Makefile"), "Makefile: "),
        (
            ("--program", "examples/copy.asm", "--ext", "examples/copy.hex", "--depth", "8"),
            "copy.hex: 24 words do not fit an external memory of 8",
        ),
    ],
)
def test_run_refuses(refused: Refused, arguments: tuple[str, ...], expected: str) -> None:
    assert expected in refused("programs.run", *arguments)


def planted(folder: Path, file: str, old: str, new: str) -> Path:
    """Return a copy of the design in which one text is another."""
    rtl = folder / "rtl"
    shutil.copytree(RTL, rtl)
    (rtl / file).write_text(patch((rtl / file).read_text(), old, new, file))
    return kept(rtl)


COPY_EXAMPLE = ("--program", "examples/copy.asm", "--ext", "examples/copy.hex")


@pytest.mark.parametrize("module", ["programs.run", "programs.trace"])
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--latencies", "3,,1"), "'3,,1' is not a list of whole numbers, as in 3,9,1"),
        (("--latencies", ",3"), "',3' is not a list"),
        (("--latencies", ""), "'' is not a list"),
        (("--latencies", "3,9", "--latency", "8"), "LAT goes without LATS"),
        (("--pulses", "0"), "PULSES=0: must be"),
        (("--pulses", "5,34"), "PULSES=34: the program ends in cycle 33, give one of 1..33"),
        (("--pulses", "28", "--latency", "1"), "PULSES=28: the program ends in cycle 26"),
    ],
)
def test_surroundings_that_cannot_be_are_refused(
    refused: Refused, module: str, arguments: tuple[str, ...], expected: str
) -> None:
    assert expected in refused(module, *COPY_EXAMPLE, *arguments)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--reset-at", "34"), "RESET_AT=34: the program ends in cycle 33, give one of 1..33"),
        (("--reset-at", "0"), "RESET_AT=0: must be"),
        (("--reset-at", "3,4"), "'3,4' is not a whole number"),
        (("--late",), "LATE=1 needs RESET_AT and LATS"),
    ],
)
def test_reset_that_cannot_be_is_refused(
    refused: Refused, arguments: tuple[str, ...], expected: str
) -> None:
    assert expected in refused("programs.run", *COPY_EXAMPLE, *arguments)


def test_pulse_in_the_last_cycle_reaches_the_design(tmp_path: Path) -> None:
    """A copy of the design that obeys a start while HALT is issued shows that one came."""
    rtl = planted(
        tmp_path,
        "ga2_sequencer.sv",
        "|| state_q == StHalted);",
        "|| halted || issue && !issue_start);",
    )
    done = call("programs.run", *COPY_EXAMPLE, "--pulses", "1,33", "--rtl", rtl)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "(model 33)" in done.stdout


def test_assembly_error_names_file_line_and_cure(refused: Refused, tmp_path: Path) -> None:
    source = tmp_path / "bad.asm"
    source.write_text("LD dst=0 src=0 len=4\n\nLD dst=0 source=4 len=4\n")
    line = refused("programs.run", "--program", source)
    assert f"{source}: line 3: 'source=4'" in line
    assert "did you mean src" in line
    assert "line 3" in refused("programs.disasm", "--program", source)


@pytest.mark.parametrize("digits", [1, 31, 33])
def test_hex_program_error_names_the_line(refused: Refused, tmp_path: Path, digits: int) -> None:
    source = tmp_path / "bad.hex"
    source.write_text("0" * 32 + "\n" + "0" * digits + "\n")
    assert "line 2" in refused("programs.run", "--program", source)


def test_errors_leave_with_their_exit_code() -> None:
    done = call_process("decode", "--windows", "0")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "decode: error: WINDOWS=0: '0' is neither 'none' nor a number above 0\n"


def test_interrupt_while_a_front_end_is_loaded_prints_no_traceback(tmp_path: Path) -> None:
    """Ctrl-C in the first second, here while numpy is imported."""
    (tmp_path / "numpy.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    done = subprocess.run(
        [sys.executable, "-m", "sim.decode"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "\ninterrupted\n")


def test_interrupt_is_one_line_and_130() -> None:
    script = "import os\nfrom sim.shared.cli import Parser, run\n"
    script += "def main():\n    Parser()\n    os.kill(os.getpid(), 2)\nrun('decode', main)\n"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (130, "\ndecode: interrupted\n")


def test_disassembly_assembles_back(tmp_path: Path) -> None:
    source = ROOT / "examples" / "attention.asm"
    listing = tmp_path / "again.asm"
    listing.write_text(call("programs.disasm", "--program", source).stdout)
    assert assemble(listing.read_text()) == assemble(source.read_text())
    assert len(assemble(source.read_text())) > 5


@pytest.mark.parametrize("sim", ["icarus", "verilator"])
@pytest.mark.parametrize("form", ["asm", "hex"])
def test_program_runs_and_leaves_its_memory(tmp_path: Path, sim: str, form: str) -> None:
    program = tmp_path / f"copy.{form}"
    words = assemble(COPY)
    program.write_text(COPY if form == "asm" else "".join(f"{w:032x}\n" for w in words))
    image = np.zeros(40, dtype=np.uint32)
    image[16:24] = np.arange(1, 9) * 0x01010101
    ext, out = tmp_path / "image.hex", tmp_path / "final.hex"
    ext.write_text("".join(f"{word:08x}\n" for word in image))
    done = call(
        *("programs.run", "--sim", sim, "--program", program, "--ext", ext),
        *("--out", out, "--latency", "3", "--depth", "100"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^ *0 +14 +dma +LD dst=0 src=16 len=8$", done.stdout, re.M)
    assert "counters: total 28, mm 0, dma 22, vec 0, n_inst 2" in done.stdout
    assert "PASS" in done.stdout
    final = parse_hex(out.read_text())
    assert len(out.read_text().splitlines()) == 100
    np.testing.assert_array_equal(final, Machine(100).run(words, image, 3).ext)
    np.testing.assert_array_equal(final[32:40], image[16:24])


@pytest.mark.parametrize("name", ["p.asm", "p.hex", "image.hex"])
def test_a_byte_order_mark_is_no_part_of_a_file(tmp_path: Path, name: str) -> None:
    text = "HALT\n" if name == "p.asm" else f"{0:032x}\n" if name == "p.hex" else "0 1\n"
    path = tmp_path / name
    path.write_text(text, encoding="utf-8-sig")
    if name == "image.hex":
        assert read_image(str(path), 2).tolist() == [0, 1]
    else:
        assert read_program(str(path)) == [0]


def test_fault_is_printed_and_agrees() -> None:
    done = call("programs.run", "--program", "examples/overlap_fault.asm")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "fault: code 5 (OVERLAP) at pc 2: VADD dst=1 src1=0 src2=8 len=8" in done.stdout


def test_difference_is_reported_and_fails(tmp_path: Path) -> None:
    """The write port of a copy of the design loses a bit: both front ends must say so and fail."""
    rtl = planted(
        tmp_path, "ga2_store.sv", "wr_data_q <= rdata;", "wr_data_q <= rdata & 32'hffff_fffe;"
    )
    program, ext = tmp_path / "copy.asm", tmp_path / "image.hex"
    program.write_text(COPY)
    ext.write_text("@10\n" + "00000001\n" * 8)
    done = call("programs.run", "--program", program, "--ext", ext, "--rtl", rtl)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "model and RTL differ" in done.stdout
    assert "ext[32]: expected 0x00000001 (1), got 0x00000000 (0)" in done.stdout
    waves = re.search(r"waves of \S+: (\S+\.fst)", done.stdout)
    assert waves
    assert (ROOT / waves.group(1)).stat().st_size > 0

    done = call(
        "decode.__main__", "--windows", "1", "--steps", "2", "--rtl", rtl, "--results", tmp_path
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(r"window +1: FAIL +2 programs", done.stdout)
    assert "software checks: PASS" in done.stdout


@pytest.mark.parametrize("sim", ["icarus", "verilator"])
def test_decode_writes_the_recorded_figures(tmp_path: Path, sim: str) -> None:
    """A short run: JSON and JUnit hold the recorded cycles, pages and tokens."""
    done = call(
        *(
            "decode.__main__",
            "--sim",
            sim,
            "--windows",
            "none 2",
            "--steps",
            "4",
            "--results",
            tmp_path,
        )
    )
    assert done.returncode == 0, done.stdout + done.stderr
    recorded = json.loads(GOLDEN.read_text())["windows"]["None"]
    found = json.loads((tmp_path / f"decode-{sim}.json").read_text())
    assert found["simulator"] == sim
    assert re.fullmatch(r"\d+\.\d+", found["simulator_version"])
    assert found["mismatches"] == 0
    assert found["comparisons"] > 8 * (8192 + 5)
    full = found["windows"]["none"]
    assert full["tokens"] == recorded["tokens"][:5]
    assert len(full["steps"]) == 4
    for step, reference in zip(full["steps"], recorded["steps"], strict=False):
        assert step == {name: reference[name] for name in step}
    assert full["total_cycles"] == sum(step["total"] for step in recorded["steps"][:4])
    narrow = found["windows"]["2"]
    assert narrow["programs"] == 2
    assert [step["ctx"] for step in narrow["steps"]] == [1, 2, 2, 2]

    cases = junit.read(tmp_path / f"decode-{sim}.xml")
    assert not any(case.outcome.bad for case in cases)
    counts = Counter(case.classname for case in cases)
    assert counts[f"decode-{sim}.window-none"] == counts[f"decode-{sim}.window-2"] == 4
    assert counts[f"decode-{sim}.software"]


def result(**changes: object) -> ProgramResult:
    """What one simulator said about a program, with changes."""
    fields: dict[str, object] = {
        "name": "p",
        "passed": True,
        "counters": {"total": 33, "n_inst": 2},
        "fault": 0,
        "fault_code": 0,
        "fault_pc": 0,
        "memory_digest": "aa",
        "comparisons": 5,
        "retires": [[0, 1, 0, 17, 8, 0, 5], [1, 2, 0, 10, 0, 8, 0]],
    }
    return ProgramResult(**(fields | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"counters": {"total": 34, "n_inst": 2}}, "counters"),
        ({"fault": 1}, "fault outputs"),
        ({"memory_digest": "ab"}, "final memory"),
        ({"retires": [[0, 1, 0, 17, 8, 0, 5], [1, 2, 0, 10, 0, 8, 1]]}, "retire record 1"),
        ({"retires": [[0, 1, 0, 17, 8, 0, 5]]}, "numbers of retire records"),
        ({"name": "other"}, "not finished in both"),
    ],
)
def test_simulators_that_disagree(changes: dict[str, object], expected: str) -> None:
    assert compare_results(["p"], [result()], [result()]) == []
    (difference,) = compare_results(["p"], [result()], [result(**changes)])
    assert expected in difference[1]


def test_simulators_that_left_nothing_to_compare() -> None:
    empty = result(retires=None)
    assert "nothing" not in compare_results(["p"], [result()], [result()])
    assert "left no memory" in compare_results(["p"], [empty], [empty])[0][1]
