"""Failing programs end as a few instructions, whatever it is that they need to fail."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from planted_bugs import BUGS, plant
from planting import kept

from model.chip.isa import Instruction, Op, decode, encode, halt, ld, sm, st, unpack, vadd
from model.chip.machine import Machine
from sim.engine.simulator import simulate
from sim.programs.random_programs import series_of
from sim.programs.reproducer import save
from sim.programs.shrink import Shrunk, shrink
from sim.shared.failures import failure_text
from sim.shared.paths import RTL
from verif.items.job import Job, load_job
from verif.items.program_item import ProgramItem
from verif.items.result import Mismatch, ProgramResult
from verif.shrink.failure import failure_class
from verif.shrink.reduce import Series, reduce_series
from verif.stimulus.random_program import random_item

Fails = Callable[[Series], bool]


def reduce(series: Series, fails: Fails) -> tuple[Series, int]:
    """Drive the reduction with a predicate in place of a simulator."""
    assert fails(series)
    found: list[Series] = []

    def whole() -> Generator[Series | None, bool, None]:
        found.append((yield from reduce_series(series)))
        yield None

    search = whole()
    tried = 0
    candidate = next(search)
    while candidate is not None:
        tried += 1
        candidate = search.send(fails(candidate))
    assert fails(found[0])
    return found[0], tried


def executed(series: Series) -> list[tuple[Instruction, dict[str, np.ndarray]]]:
    """Instructions that the last program completes, with the operands they read."""
    machine = Machine(series[-1].depth)
    for item in series:
        if item.spad is not None:
            machine.spad[:] = item.spad
        done: list[tuple[Instruction, dict[str, np.ndarray]]] = []

        def trace(_pc: int, instruction: Instruction, done: list = done) -> None:
            done.append((instruction, machine.operands(instruction)))

        machine.run(item.program, item.image, item.read_latency, trace)
    return done


def saturates(series: Series) -> bool:
    """Some VADD has a sum below -127."""
    return any(
        (operands["src1"].astype(int) + operands["src2"] < -127).any()
        for instruction, operands in executed(series)
        if instruction.op == Op.VADD and operands
    )


def random_failing(fails: Fails, profile: str = "typical") -> ProgramItem:
    items = (random_item(3, profile, index) for index in range(0, 4000, 8))
    return next(item for item in items if item.abort_at is None and fails((item,)))


def test_one_instruction_with_the_smallest_operands_is_left() -> None:
    (item,), tried = reduce((random_failing(saturates),), saturates)
    assert [decode(word).op for word in item.program] == [Op.VADD]
    assert decode(item.program[0]).length == 1
    assert np.count_nonzero(item.spad) <= 2
    assert not item.image.any()
    assert tried < 400


def test_an_instruction_that_feeds_the_failing_one_may_stay() -> None:
    """The words of LD come from the image, so nothing need be in the scratchpad."""
    item = ProgramItem(
        "fed",
        [encode(i) for i in (st(7, 0, 3), ld(100, 50, 40), sm(300, 600, 5), vadd(9, 100, 110, 8))],
        np.full(90, 0x80, dtype=np.uint32),
        spad=np.zeros(4096, dtype=np.uint32),
    )
    (small,), _ = reduce((item,), saturates)
    assert [decode(word).op for word in small.program] == [Op.LD, Op.VADD]
    assert len(small.image) <= 2
    assert all(decode(word).length <= 2 for word in small.program)


def test_a_distance_between_addresses_is_kept() -> None:
    def overlaps(series: Series) -> bool:
        words = [decode(word) for word in series[-1].program]
        return any(i.op == Op.VADD and 0 < i.c - i.a < i.length for i in words)

    item = ProgramItem("near", [encode(vadd(2102, 0, 2110, 9))])
    (small,), _ = reduce((item,), overlaps)
    last = decode(small.program[0])
    assert last.a < 64
    assert 0 < last.c - last.a < last.length


@pytest.mark.parametrize(
    ("fields", "needed"),
    [
        ({"start_pulses": (3, 9, 40)}, {"start_pulses": (9,)}),
        ({"latencies": (3, 9, 1, 20)}, {"latencies": (1, 2)}),
        ({"abort_at": 50}, {"abort_at": 33}),
        ({"latency": 60}, {"latency": 41}),
        ({"depth": 777}, {"depth": 777}),
    ],
)
def test_surroundings_stay_only_as_far_as_they_matter(
    fields: dict[str, object], needed: dict[str, object]
) -> None:
    def fails(series: Series) -> bool:
        item = series[-1]
        return (
            ("start_pulses" in fields and 9 in item.start_pulses)
            or (
                "latencies" in fields
                and any(a < b for a, b in zip(item.latencies, item.latencies[1:], strict=False))
            )
            or ("abort_at" in fields and (item.abort_at or 0) > 32)
            or ("latency" in fields and item.latency > 40)
            or ("depth" in fields and item.depth == 777)
        )

    spad = np.arange(4096, dtype=np.uint32)
    item = ProgramItem("around", [encode(ld(0, 0, 9))], spad=spad, idle_after=7, **fields)  # type: ignore[arg-type]
    (small,), _ = reduce((item,), fails)
    plain = ProgramItem("plain", [])
    for name in ("start_pulses", "latencies", "abort_at", "latency", "depth", "idle_after"):
        assert getattr(small, name) == needed.get(name, getattr(plain, name)), name
    assert small.program == []


def test_programs_before_the_failing_one_go_or_stay() -> None:
    series = tuple(ProgramItem(f"p{n}", [encode(ld(0, 0, 4)), 0]) for n in range(9))
    small, _ = reduce(series, lambda s: "p8" in s[-1].name and len(s) >= 3)
    assert [len(item.program) for item in small] == [0, 0, 0]
    assert small[0].reset_before
    alone, _ = reduce(series, lambda s: s[-1].name == "p8")
    assert len(alone) == 1
    assert alone[0].reset_before


def test_failures_are_told_apart_by_kind_and_operation() -> None:
    def result(kind: str, divergence: str = "") -> ProgramResult:
        return ProgramResult(
            "p",
            mismatches=[Mismatch("memory", ""), Mismatch(kind, "")],
            first_divergence=divergence,  # type: ignore[arg-type]
        )

    assert failure_class(ProgramResult("p")) is None
    assert failure_class(result("hang")) == ("hang", "")
    assert failure_class(result("retire", "pc 3 `VADD dst=1`: expected")) == ("retire", "VADD")
    raw = "pc 3 `.word 0x60 ; VADD dst=1`: expected"
    assert failure_class(result("counter", raw)) == ("memory", "VADD")


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return kept(plant(RTL, tmp_path_factory.mktemp("planted") / "rtl"))


def shrink_bug(about: str, rtl: Path, folder: Path, seed: int = 5) -> Shrunk:
    """Meet a planted bug with random programs and reduce the first failing one."""
    number, bug = next((n, b) for n, b in enumerate(BUGS, 1) if b.about == about)
    plusargs = (f"+bug={number}",)
    for programs in (24, 96, 300):  # most bugs are met soon
        params = {"seed": seed, "profile": bug.profile, "count": programs, "first": 0}
        run = simulate("icarus", Job("random", params), rtl=rtl, plusargs=plusargs)
        if run.failed:
            break
    first = run.failed[0]
    *before, last = series_of(first)
    (kept,) = load_job(run.folder / "failing" / "0").items
    series = [*before, replace(last, spad=kept.spad)]
    shrunk = shrink("icarus", series, rtl=rtl, plusargs=plusargs, folder=folder)
    assert shrunk is not None, failure_text(first)
    assert shrunk.result is not None, "does not fail in a simulation of its own"
    assert shrunk.report.seconds < 60
    assert failure_class(shrunk.result) == failure_class(first)
    if bug.operation:
        assert bug.operation in shrunk.saved.path.read_text()
    return shrunk


@pytest.mark.parametrize(
    ("about", "surrounding", "seed"),
    [
        ("never ends with five words", "", 5),
        ("loses its place when a response is late", "latencies", 5),
        # Many a program that shows it takes a thousand candidates; this one takes a hundred.
        ("does not forget its step at reset", "abort_at", 7),
    ],
)
def test_a_planted_bug_ends_as_a_few_instructions(
    about: str, surrounding: str, seed: int, planted: Path, tmp_path: Path
) -> None:
    saved = shrink_bug(about, planted, tmp_path, seed).saved
    assert saved.instructions <= 4
    assert saved.programs == 1
    # It takes the plusarg that chooses the bug, so that a job is what replays it.
    assert f"-m sim.programs.rerun {saved.path.parent}" in saved.command
    assert not surrounding or getattr(load_job(saved.path.parent).items[-1], surrounding)


def test_a_bug_that_needs_earlier_programs_keeps_them(planted: Path, tmp_path: Path) -> None:
    saved = shrink_bug("faults from the third program after a reset on", planted, tmp_path).saved
    assert saved.instructions == 1
    assert "sim.programs.rerun" in saved.command
    series = load_job(saved.path.parent).items
    # A program that is started again counts as two.
    assert sum(1 if item.restart_after is None else 2 for item in series) == 3


def test_files_hold_all_that_a_program_needs(tmp_path: Path) -> None:
    spad = np.zeros(4096, dtype=np.uint32)
    spad[5] = 7
    program = [encode(unpack(16, 5, 1)) | 1, encode(halt())]
    item = ProgramItem(
        *("some/name", program, np.arange(4), spad),
        latencies=(2, 3),
        depth=100,
        start_pulses=(4, 5),
        abort_at=6,
    )
    saved = save("icarus", [item], "what\nhappened", folder=tmp_path)
    name = tmp_path / "some-name-icarus"
    assert saved.command == (
        f"make run PROGRAM={name}.asm EXT={name}.ext.hex SPAD={name}.spad.hex LATS=2,3 DEPTH=100 "
        "PULSES=4,5 RESET_AT=6 SIM=icarus"
    )
    assert saved.path.read_text().startswith("; what\n; happened\n; replay: make run ")
    assert (
        f".word 0x{program[0]:032x} ; UNPACK dst=16 src=5 len=1\nHALT\n" in saved.path.read_text()
    )


def test_idle_cycles_behind_a_reset_are_replayed_from_the_job(tmp_path: Path) -> None:
    item = ProgramItem(*("idle", [encode(halt())], np.arange(4), np.zeros(4096)), abort_at=1)
    assert save("icarus", [item], "", folder=tmp_path).command.startswith("make run ")
    late = replace(item, idle_after=4)
    assert "programs.rerun" in save("icarus", [late], "", folder=tmp_path).command
    assert load_job(tmp_path / "idle-icarus").items[0].idle_after == 4
