"""A mutation campaign's unit tests inside the simulator: mutant after mutant in one unit bench.

The tests are those of ``verif.units``, those of the mutant's own module only. Between two mutants
the design itself (number 0) is reset and every unit executes an instruction.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge

from model.chip.isa import amax, ld, mm, rq, sm, st, unpack, vadd
from verif.items.job import job_folder, load_job
from verif.mutation.protocol import (
    TASK,
    UNIT_TEST,
    UNIT_TESTS,
    EventLog,
    MutantVerdict,
    MutationTask,
    Queue,
)
from verif.mutation.unit_tests import units_for
from verif.typed import plain
from verif.units.bench import UnitBench

UnitTest = Callable[[Any], Awaitable[None]]

SCRUB = (
    ld(0, 0, 3), st(0, 0, 3), mm(2048, 0, 1024, 4, 64, 4), rq(0, 9, 3, 1 << 23, 40), sm(0, 9, 3),
    vadd(0, 9, 18, 3), amax(0, 9, 3), unpack(0, 90, 2),
)  # fmt: skip
"""One instruction of each unit: MM overwrites what no reset reaches."""


class LeakError(RuntimeError):
    """The design itself failed: the verdicts would mean nothing."""


def tests_of(unit: str) -> dict[str, UnitTest]:
    """Return the tests of a module of ``verif.units`` by name."""
    module = import_module(f"verif.units.{unit}")
    found = {name: getattr(value, "func", None) for name, value in vars(module).items()}
    return {name: test for name, test in found.items() if test is not None}


async def judge(dut: Any, number: int, units: list[str]) -> MutantVerdict:
    """Bring one mutant to life and run the tests of some units until one fails."""
    began = time.perf_counter()

    async def select(alive: int) -> None:
        dut.mutant_next.value = alive
        for _ in range(3):
            await FallingEdge(dut.clk)

    def verdict(test: str = "", message: str = "") -> MutantVerdict:
        seconds = round(time.perf_counter() - began, 4)
        if test:
            killed = True, (UNIT_TEST,), test, test, message
            return MutantVerdict(*killed, seconds=seconds, number=number)
        return MutantVerdict(False, seconds=seconds, survived=(UNIT_TESTS,), number=number)

    await select(0)
    bench = await UnitBench.after_reset(dut)
    for instr in SCRUB:
        await bench.check(instr)
    await select(number)
    for unit in units:
        for name, test in tests_of(unit).items():
            try:
                await test(dut)
            except Exception as error:  # a mutant may make the bench's Python fail, too
                return verdict(f"unit/{unit}::{name}", str(error).partition("\n")[0])
    return verdict()


@cocotb.test()
async def judge_mutants(dut: Any) -> None:
    """Judge the design, then mutants until the queue is empty.

    Raises:
        LeakError: the design fails a test.
    """
    task: MutationTask = load_job(job_folder()).params[TASK]
    events = EventLog(task.log)
    if task.judge_design:
        every = dict.fromkeys(unit for file in task.files.values() for unit in units_for(file))
        verdict = await judge(dut, 0, list(every))
        events.write("verdict", **plain(verdict))
        if verdict.killed:
            raise LeakError(f"the design fails {verdict.test}: {verdict.message}")
    queue = Queue(task.queue)
    while (position := queue.take()) < len(task.numbers):
        number = task.numbers[position]
        events.write("begin", number=number)
        try:
            verdict = await judge(dut, number, units_for(task.files[number]))
        except AssertionError as error:
            events.write("leak", number=number, message=str(error))
            raise LeakError(f"before mutant {number}: {error}") from error
        events.write("verdict", **plain(verdict))
    events.write("end")
