"""However a simulator ends, and whatever the design says of itself, the verdict tells."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import pytest
from planting import kept
from rich.console import Console

from model.chip.isa import SPAD_WORDS, amax, encode, halt, ld, mm, rq, sm, st, unpack, vadd
from model.chip.machine import Machine
from model.chip.timing import DEFAULT_LATENCY
from sim.engine import job_folder, simulator
from sim.engine.builds import build
from sim.engine.job_result import SimulationError
from sim.engine.play import Simulation, play
from sim.engine.simulator import simulate
from sim.programs.program_options import late_cycles
from sim.shared.patch import Patch
from sim.shared.paths import ROOT, RTL, SIMULATORS
from sim.shared.process import Ended
from verif.agents.control.complaints import complaints_in
from verif.items.job import Job
from verif.items.program_item import ProgramItem

PROGRAM = [
    encode(instruction)
    for instruction in (
        ld(0, 0, 64),
        mm(512, 0, 64, 4, 16, 4),
        rq(600, 512, 16, 1 << 20, 24),
        sm(700, 600, 16),
        vadd(800, 600, 700, 16),
        st(800, 64, 16),
        halt(),
    )
]
# Each in a program of its own: a fault may keep its unit busy for ever.
SINGLE = (st(800, 64, 16), vadd(800, 600, 700, 16), unpack(900, 0, 2), amax(1000, 512, 16))
SPIN = Patch("ga2.sv", "`ifdef FORMAL", "always @(posedge start) forever #0;\n`ifdef FORMAL")
# One design, which is compiled once: what it says hangs on the program.
COMPLAINTS = Patch(
    "ga2.sv",
    "`ifdef FORMAL",
    'always @(posedge clk) if (retire && is_vadd) $warning("vadd of %0d", d[11:0]);\n'
    'always @(posedge clk) if (retire && is_sm) assert (c != 3) else $error("three");\n'
    "always @(posedge clk) if (retire && is_amax) begin\n"
    '  repeat (3000) $display("the design talks and talks and talks");\n  $stop;\nend\n'
    "`ifdef FORMAL",
)


def item(name: str = "program", program: Sequence[int] = PROGRAM) -> ProgramItem:
    spad = np.zeros(SPAD_WORDS, dtype=np.uint32)
    return ProgramItem(name, list(program), np.arange(64, dtype=np.uint32), spad=spad, depth=128)


def planted(folder: Path, *patches: Patch) -> Path:
    """A copy of the design with faults."""
    shutil.copytree(RTL, folder)
    for patch in patches:
        path = folder / patch.file
        path.write_text(patch.apply(path.read_text()))
    return kept(folder)


# Texts of assertions, and what makes each of them fire.
ASSERTIONS: list[tuple[list[str], list[Patch]]] = [
    (
        ["ended that was not started"],
        [Patch("ga2.sv", "assign retire = ", "assign retire = issue || ")],
    ),
    (
        [f"{what}, 00010000 ha" for what in ("reads", "writes", "ended")],
        [Patch("ga2.sv", "issue_start && is_amax", "issue_start && (is_amax || is_rq)")],
    ),
    (
        [f"nothing to {what}" for what in ("load", "store", "add")],
        [
            Patch("ga2.sv", ".len(c[11:0])", ".len('0)", ".src(b), .len(c[11:0])"),
            Patch("ga2.sv", ".len(c[11:0])", ".len('0)", ".dst(b), .len(c[11:0])"),
            Patch("ga2.sv", ".len(d[11:0])", ".len('0)"),
        ],
    ),
    (
        [f"nothing to {what}" for what in ("requantize", "search", "unpack")],
        [
            Patch("ga2.sv", ".len(c[11:0])", ".len('0)", ".len(c[11:0]), .m(d)"),
            Patch("ga2.sv", ".len(c[11:0])", ".len('0)", ".len(c[11:0]), .ren_q(amax_ren)"),
            Patch("ga2.sv", ".len(c[8:0])", ".len('0)"),
        ],
    ),
    (
        ["the sum of exponentials is"],
        [Patch("ga2_softmax.sv", "sum_q + 28'(exponential)", "28'(exponential >> 1)")],
    ),
    (
        ["1 rows written of 4"],
        [
            Patch(
                "ga2_matmul.sv",
                "outer_q == outer_last",
                "outer_q <= outer_last",
                "if (outer_q == outer_last) state_q <= StFlush",
            )
        ],
    ),
    (
        [
            "no less than the divisor",
            "the maximum is at",
            "ended amid a word, before nibble 7",
            "cycles are not all counted",
        ],
        [
            Patch("ga2_divider.sv", "[27:0] - divisor", "[27:0] - (divisor >> 1)"),
            Patch("ga2_amax.sv", "best_index_q <= index_q", "best_index_q <= index_q | 12'd32"),
            Patch("ga2_unpack.sv", "if (nibble_q == 3'd7)", "if (nibble_q == 3'd6)"),
            Patch(
                "ga2_counters.sv", "cyc_mm_q <= cyc_mm_q + 32'd1", "cyc_mm_q <= cyc_mm_q + 32'd2"
            ),
        ],
    ),
]


@pytest.mark.parametrize(("texts", "patches"), ASSERTIONS, ids=lambda value: value[0])
def test_each_assertion_of_the_design_fires(
    texts: list[str], patches: list[Patch], tmp_path: Path
) -> None:
    rtl = planted(tmp_path / "rtl", *patches)
    single = [item(str(one.op), [encode(one), encode(halt())]) for one in SINGLE]
    try:
        results = simulate("icarus", Job(items=[item(), *single]), rtl=rtl).results
    except SimulationError as error:
        results = error.run.results
    said = [m.message for result in results for m in result.mismatches if m.kind == "assertion"]
    assert not [text for text in texts if not any(text in message for message in said)], said


@pytest.mark.parametrize("sim", SIMULATORS)
def test_a_complaint_fails_the_program_in_which_it_is_made(sim: str, tmp_path: Path) -> None:
    """Also a mere warning, of a design that does everything right."""
    rtl = planted(tmp_path / "rtl", COMPLAINTS)
    quiet = ProgramItem("quiet", [encode(ld(0, 0, 8)), encode(halt())])
    three = ProgramItem("three", [encode(sm(0, 64, 3)), encode(halt())])
    job = Job(items=[quiet, item("loud"), three, quiet])
    run = simulate(sim, job, rtl=rtl, folder=tmp_path / "job")
    assert [result.passed for result in run.results] == [True, False, False, True]
    assert not run.passed
    said = [[m.message for m in result.mismatches] for result in run.failed]
    assert "vadd of 16" in said[0][0]
    assert "three" in said[1][0]
    assert "ga2.sv:" in said[1][0]


@pytest.mark.parametrize("sim", SIMULATORS)
def test_a_stop_fails_the_program_in_which_it_is_made(sim: str, tmp_path: Path) -> None:
    """Icarus would go on after it; what is said before it must not hide it either."""
    quiet = ProgramItem("quiet", [encode(ld(0, 0, 8)), encode(halt())])
    stopped = item("stopped", [encode(amax(1000, 0, 16)), encode(halt())])
    rtl = planted(tmp_path / "rtl", COMPLAINTS)
    run = simulate(sim, Job(items=[quiet, stopped]), rtl=rtl, folder=tmp_path / "job")
    assert [result.passed for result in run.results] == [True, False]
    assert [m.kind for m in run.results[1].mismatches] == ["assertion"]
    assert "Verilog $stop" in run.results[1].mismatches[0].message


def test_complaints_of_both_simulators_are_read() -> None:
    text = (
        "[7] %Error: t.sv:3: Assertion failed in t: i is 3\n%Error: t.sv:3: Verilog $stop\n"
        "ERROR: t.sv:3: i is 4\n       Time: 7 Scope: t\nWARNING: t.sv:4: x\n"
        "     0.00ns ERROR    gpi  is no complaint of the design\nINFO: t.sv:5: neither\n"
        "%Error: t.sv:6: Verilog $stop\n-Info: t.sv:7: Verilog $stop, ignored due to x\n"
        "** VVP Stop(0) **\n> ** Continue **\n"
    )
    assert complaints_in(text) == [
        "error: t.sv:3: Assertion failed in t: i is 3",
        "error: t.sv:3: i is 4",
        "warning: t.sv:4: x",
        "error: t.sv:6: Verilog $stop",
        "error: t.sv:7: Verilog $stop",
        "error: Verilog $stop",
    ]


@pytest.fixture
def startup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Lets Python inside the simulator, and no other, start with some lines of ours."""

    def plant(lines: str) -> None:
        folder = tmp_path / "startup"
        folder.mkdir()
        guard = "import os\nif open('/proc/self/comm').read().strip() in ('vvp', 'Vtop'):\n"
        body = "".join(f"    {line}\n" for line in lines.splitlines())
        (folder / "sitecustomize.py").write_text(guard + body)
        monkeypatch.setenv("PYTHONPATH", str(folder))

    return plant


@pytest.mark.parametrize("sim", SIMULATORS)
def test_a_crash_after_the_last_result_is_no_pass(
    sim: str, startup: Callable[[str], None], tmp_path: Path
) -> None:
    startup("import atexit, signal\natexit.register(os.kill, os.getpid(), signal.SIGSEGV)")
    with pytest.raises(
        SimulationError, match=r"crashed \(SIGSEGV\) after the last program"
    ) as info:
        simulate(sim, Job(items=[item()]), folder=tmp_path / "job")
    assert info.value.run.ended is Ended.CRASHED
    assert [result.passed for result in info.value.run.results] == [True]
    assert not info.value.run.passed


def test_a_failure_status_after_the_last_result_is_no_pass(
    startup: Callable[[str], None], tmp_path: Path
) -> None:
    startup("import atexit\natexit.register(os._exit, 3)")
    run = simulate("icarus", Job(items=[item()]), folder=tmp_path / "job")
    assert (run.passed, run.error) == (False, "ended with exit status 3")


@pytest.mark.parametrize("sim", SIMULATORS)
def test_a_killed_simulator_is_called_a_crash(sim: str, tmp_path: Path) -> None:
    def kill(_: object) -> None:
        for process in psutil.Process().children(recursive=True):
            with suppress(psutil.NoSuchProcess):  # it was killed at the result before
                if process.name() in ("vvp", "Vtop"):
                    process.kill()

    items = [item("first"), *(item(f"p{number}") for number in range(300))]
    one = Simulation(Job(items=items), sim, folder=tmp_path / "job")
    batch = play(Console(quiet=True), [one], on_result=kill)
    assert not batch.passed
    assert not batch.failed
    assert "crashed (SIGKILL) in program 'p" in batch.errors[0]


@pytest.fixture(scope="module")
def spinning(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A design that is caught in a moment of simulated time, compiled."""
    rtl = planted(tmp_path_factory.mktemp("spinning") / "rtl", SPIN)
    build("icarus", rtl=rtl)
    return rtl


def test_a_simulator_that_makes_no_progress_is_ended(
    spinning: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulator, "STALL_SECONDS", 0.5)
    monkeypatch.setattr(simulator.Progress, "LOOK_SECONDS", 0.2)
    with pytest.raises(SimulationError, match="made no progress in program 'program'"):
        simulate("icarus", Job(items=[item()]), rtl=spinning, folder=tmp_path / "job")


def simulators_of(process: psutil.Process, seconds: float = 30.0) -> list[psutil.Process]:
    """The simulators below a process, as soon as there are any."""
    for _ in range(int(seconds * 20)):
        with contextlib.suppress(psutil.NoSuchProcess):
            found = [child for child in process.children(recursive=True) if child.name() == "vvp"]
            if found:
                return found
        time.sleep(0.05)
    raise AssertionError("no simulator was started")


@pytest.mark.parametrize(
    ("number", "code", "text"),
    [
        (signal.SIGINT, 130, "run: interrupted"),
        (signal.SIGTERM, 143, "run: terminated"),
        (signal.SIGKILL, -9, ""),
    ],
)
def test_nothing_outlives_whoever_started_it(
    number: signal.Signals, code: int, text: str, spinning: Path
) -> None:
    call = [sys.executable, "-m", "sim.programs.run", "--rtl", str(spinning)]
    process = start([*call, "--program", "examples/copy.asm"])
    running = simulators_of(psutil.Process(process.pid))
    process.send_signal(number)
    if number == signal.SIGINT:
        process.send_signal(number)  # impatient
    _, said = process.communicate(timeout=30)
    assert process.returncode == code
    assert said.strip() == text
    assert not alive(running)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_outlives_make(number: signal.Signals, spinning: Path) -> None:
    call = ["make", "run", f"VENV={sys.prefix}", f"RTL={spinning}", "PROGRAM=examples/copy.asm"]
    make = start(call)
    running = simulators_of(psutil.Process(make.pid))
    if number == signal.SIGINT:
        os.killpg(make.pid, number)  # as a terminal does
    else:
        make.send_signal(number)
    _, said = make.communicate(timeout=30)  # until nobody has its output open any more
    assert make.returncode in (-number, 2)  # make's own word for what its child said first
    front_end, *others = [line for line in said.splitlines() if line]
    assert front_end == f"run: {'interrupted' if number == signal.SIGINT else 'terminated'}"
    assert all(re.match(r"make(\[\d+\])?: \*\*\* \[", line) for line in others)
    assert not alive(running)


def start(call: Sequence[str]) -> subprocess.Popen[str]:
    """Start a command in the project's folder, as from a terminal."""
    return subprocess.Popen(
        call,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def alive(running: Sequence[psutil.Process]) -> list[psutil.Process]:
    """Those that are still there after a while."""
    _, left = psutil.wait_procs(running, timeout=5)
    return [one for one in left if one.status() != psutil.STATUS_ZOMBIE]


def test_scratch_falls_back_to_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_folder, "MEMORY", tmp_path)
    with job_folder.scratch_folder() as scratch:
        assert scratch.parent == tmp_path
    monkeypatch.setattr(job_folder, "SCRATCH_BYTES", 1 << 60)  # full
    with job_folder.scratch_folder() as scratch:
        assert scratch.is_dir()
        assert scratch.parent != tmp_path
    monkeypatch.setattr(job_folder, "MEMORY", tmp_path / "none")
    assert job_folder.memory() is None


def test_folders_of_jobs_in_use_are_not_pruned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_folder, "JOBS", tmp_path)
    monkeypatch.setattr(job_folder, "KEPT_JOBS", 1)
    used, newest = (tmp_path / f"{n}0101000000-icarus-{os.getpid()}-abcdef" for n in (19, 22))
    ended = subprocess.Popen(["true"])
    ended.wait()
    old, young = (tmp_path / f"2{n}0101000000-icarus-{ended.pid}-abcdef" for n in (0, 1))
    for folder in (used, old, young, newest):
        folder.mkdir()
    for folder in (used, old):
        os.utime(folder, (0, 0))
    job_folder.job_path("icarus")
    assert sorted(tmp_path.iterdir()) == [used, young, newest]


def test_a_start_in_the_last_cycle_is_played(tmp_path: Path) -> None:
    """Found by a design that obeys it; without it, or a cycle before, that does not show."""
    last = Machine().run(PROGRAM, item().image, DEFAULT_LATENCY).counters.total
    obey = Patch(
        "ga2_sequencer.sv",
        "start && (state_q == StIdle",
        "start && ((issue && !issue_start) || state_q == StIdle",
    )
    rtl = planted(tmp_path / "rtl", obey)
    pulses: tuple[tuple[int, ...], ...] = ((), (last - 1,), (last,))
    items = [replace(item(str(one)), start_pulses=one) for one in pulses]
    results = simulate("icarus", Job(items=items), rtl=rtl, folder=tmp_path / "job").results
    assert [result.passed for result in results] == [True, True, False]
    assert not late_cycles(items[2])
    later = replace(items[2], start_pulses=(last + 1,))
    assert f"PULSES={last + 1}: the program ends in cycle {last}" in late_cycles(later)
