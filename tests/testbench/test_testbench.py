"""The testbench itself: it passes a sound design, and names each planted fault for what it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import pytest
from planting import kept
from sabotage import SABOTAGES, WRONG_ADDRESS, number, plant
from testbench_conformance import typical

from model.chip.image import Words
from model.chip.isa import encode, ld, vadd
from model.chip.machine import Retire
from sim.engine.job_result import JobResult
from sim.engine.simulator import simulate
from sim.shared.paths import RTL
from verif.agents.control.observation import Observation, ProtocolErrors
from verif.env.compare import compare_retires, compare_scratchpad, retire_rows
from verif.env.divergence import first_divergence
from verif.env.predictor import Prediction, predict
from verif.items.job import Job
from verif.items.program_item import ProgramItem
from verif.items.result import ProgramResult

Results = dict[str, ProgramResult]

PC = {"LD": 0, "MM": 1, "RQ": 2, "VADD": 3, "AMAX": 4, "ST": 5}


@pytest.fixture(scope="module")
def sabotaged(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Every fault in one simulation, with a sound run after each."""
    rtl = kept(plant(RTL, tmp_path_factory.mktemp("sabotage") / "rtl"))
    items = []
    for sabotage in SABOTAGES:
        name, chosen = sabotage.name, number(sabotage.name)
        pulses = (20,) if name == "start not ignored" else ()
        if name == "not cleared":
            items.append(typical(f"before {name}", chosen))
        items.append(typical(name, chosen, idle_after=5, start_pulses=pulses))
        items.append(typical(f"after {name}", reset_before=name == "not cleared"))
    run = simulate("icarus", Job(items=items), rtl=rtl)
    assert not run.passed
    assert not run.passed
    assert len(run.results) == run.summary["programs"] == len(items)
    return {result.name: result for result in run.results}


def kinds(result: ProgramResult) -> set[str]:
    return {mismatch.kind for mismatch in result.mismatches}


def messages(result: ProgramResult) -> str:
    return "\n".join(mismatch.message for mismatch in result.mismatches)


@pytest.mark.parametrize("name", [s.name for s in SABOTAGES])
def test_a_fault_fails_its_program_and_no_other(sabotaged: Results, name: str) -> None:
    assert not sabotaged[name].passed
    after = sabotaged[f"after {name}"]
    assert after.passed, messages(after)
    assert after.comparisons > 1000


def test_a_wrong_word_is_a_memory_mismatch_of_its_store(sabotaged: Results) -> None:
    result = sabotaged["wrong word"]
    assert kinds(result) == {"memory", "traffic"}
    memory = next(m for m in result.mismatches if m.kind == "memory")
    assert f"ext[{WRONG_ADDRESS}]" in memory.message
    assert memory.pc == PC["ST"]
    assert int(memory.expected, 16) ^ int(memory.got, 16) == 1
    assert result.first_divergence.startswith(f"pc {PC['ST']} `ST ")


def test_a_dropped_write_is_missed_in_traffic_and_records(sabotaged: Results) -> None:
    result = sabotaged["dropped write"]
    assert kinds(result) == {"memory", "traffic", "retire"}
    assert "ext_writes=60, got ext_writes=59" in messages(result)
    assert result.first_divergence.startswith(f"pc {PC['ST']} `ST ")


@pytest.mark.parametrize("net", ["cyc_total", "cyc_mm", "cyc_dma", "cyc_vec", "n_inst"])
def test_each_counter_is_compared(sabotaged: Results, net: str) -> None:
    result = sabotaged[f"{net} one too high"]
    wrong = [m.message for m in result.mismatches if m.kind == "counter"]
    assert len(wrong) == 1
    assert wrong[0].startswith(f"counter {net.removeprefix('cyc_')}:")
    assert wrong[0].endswith("(+1)")
    assert kinds(result) == {"counter", "protocol"}  # the sum of the five is checked as well


def test_a_hang_is_ended_and_its_instruction_named(sabotaged: Results) -> None:
    result = sabotaged["hang"]
    assert "hang" in kinds(result)
    assert f"pc {PC['AMAX']} `AMAX " in messages(result)
    assert result.first_divergence.startswith(f"pc {PC['AMAX']} `AMAX ")
    assert "src=[" in result.first_divergence


def test_a_spurious_fault_is_reported_with_code_and_address(sabotaged: Results) -> None:
    result = sabotaged["spurious fault"]
    assert "fault" in kinds(result)
    assert (result.fault, result.fault_code, result.fault_pc) == (1, 5, PC["VADD"])
    assert result.first_divergence.startswith(f"pc {PC['VADD']} `VADD ")


def test_an_extra_read_is_traffic(sabotaged: Results) -> None:
    result = sabotaged["extra read"]
    assert kinds(result) == {"traffic"}
    assert "expected read of 100 words at 0, got read of 101 words at 0" in messages(result)


def test_a_wrong_product_is_found_at_the_product(sabotaged: Results) -> None:
    result = sabotaged["wrong product"]
    assert result.first_divergence.startswith(f"pc {PC['MM']} `MM ")
    assert "signature" in result.first_divergence
    assert "A=[[" in result.first_divergence


def test_a_late_instruction_is_named_by_its_busy_cycles(sabotaged: Results) -> None:
    result = sabotaged["late instruction"]
    assert "expected busy=8, got busy=9" in messages(result)
    assert result.first_divergence.startswith(f"pc {PC['RQ']} `RQ ")


def test_an_unknown_word_is_not_taken_for_a_number(sabotaged: Results) -> None:
    result = sabotaged["unknown word"]
    assert "x" in kinds(result)
    assert f"ext[{WRONG_ADDRESS}] has unknown bits" in messages(result)
    assert "unknown bit on a data output" in messages(result)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("counter not held", "counters changed after the end"),
        ("read outside LD", "read request outside an LD"),
        ("start not ignored", "a start while running was not ignored"),
        ("not cleared", "not cleared by reset or start"),
        ("write outside ST", "external write outside an ST"),
        ("read skips", "read burst whose addresses are not consecutive"),
        ("write skips", "write burst whose addresses are not consecutive"),
        ("early end", "ended with read requests unanswered"),
        ("end not held", "halted or the fault outputs changed after the end"),
        ("fault alone", "fault rose without halted"),
        ("stray write", "scratchpad written outside an instruction's busy time"),
        ("cyc_mm one too high", "is not cyc_mm + cyc_dma + cyc_vec"),
        ("unknown word", "unknown bit on a data output"),
    ],
)
def test_the_protocol_checker_says_what_is_wrong(sabotaged: Results, name: str, said: str) -> None:
    assert said in messages(sabotaged[name])


def test_a_failure_names_one_command_that_shows_it(sabotaged: Results) -> None:
    for name in (s.name for s in SABOTAGES):
        assert "sim.programs.rerun build/jobs/" in sabotaged[name].rerun


def clean_items() -> list[ProgramItem]:
    """Every way an item can be played."""
    spad = np.zeros(4096, dtype=np.uint32)
    return [
        typical("plain"),
        typical("slow memory", latency=64, reset_before=True),
        typical("fast memory", latency=1, idle_after=20),
        typical("reactive", latencies=(3, 9, 1, 20)),
        typical("aborted", spad=spad, abort_at=50),
        typical("reactive and aborted", spad=spad, abort_at=60, latencies=(30, 2)),
        # The words behind a shorter image are zero again, also those that were written.
        replace(typical("short image"), image=typical("").image[:10]),
        typical("start pulses", start_pulses=(1, 2, 3, 50, 400)),
        ProgramItem("empty", [], depth=7),
    ]


@pytest.mark.parametrize("sim", ["icarus", "verilator"])
def test_a_sound_design_passes_however_it_is_played(sim: str, tmp_path: Path) -> None:
    items = clean_items()
    seen: list[str] = []
    job = Job(items=items, params={"keep_retires": True})
    run: JobResult = simulate(
        sim, job, folder=tmp_path, on_result=lambda result: seen.append(result.name)
    )
    assert run.passed, [messages(result) for result in run.failed]
    assert run.status == 0
    assert seen == [item.name for item in items]
    assert run.summary["comparisons"] == sum(r.comparisons for r in run.results) > 5_000
    totals = {result.name: result.counters["total"] for result in run.results}
    assert totals["slow memory"] - totals["plain"] == 64 - 8
    assert totals["reactive"] - totals["plain"] == 20 - 8
    assert totals["start pulses"] == totals["aborted"] == totals["plain"]
    assert totals["empty"] == 2
    retires = run.results[0].retires
    assert retires is not None
    assert [record[0] for record in retires] == list(PC.values())


def test_a_job_without_programs_fails() -> None:
    run = simulate("icarus", Job())
    assert not run.passed
    assert run.summary["comparisons"] == 0


def test_waves_are_written_where_asked(tmp_path: Path) -> None:
    run = simulate("icarus", Job(items=[typical("w")]), waves=tmp_path / "deep" / "w.any")
    assert run.waves == tmp_path / "deep" / "w.fst"
    assert run.waves.stat().st_size > 1000


def test_a_simulation_that_nobody_follows_any_more_is_ended(tmp_path: Path) -> None:
    def give_up(result: ProgramResult) -> None:
        raise RuntimeError(f"enough after {result.name}")

    items = [typical(str(n)) for n in range(200)]
    with pytest.raises(RuntimeError, match="enough after 0"):
        simulate("icarus", Job(items=items), folder=tmp_path / "job", on_result=give_up)
    left = [process.name() for process in psutil.Process().children(recursive=True)]
    assert not {"make", "vvp"} & set(left)


def left(prediction: Prediction, spad: Words, retires: Sequence[Retire]) -> Observation:
    """What a design leaves that differs from the prediction in scratchpad and records only."""
    written = np.zeros((0, 2), dtype=np.uint32)
    silent = ProtocolErrors(0, 0, 0, 0)
    return Observation(
        *(False, prediction.expected.counters, 0, 0, 0, prediction.expected.ext, [], spad, []),
        *(written, retire_rows(retires), silent),
    )


@pytest.mark.parametrize(
    ("address", "follows", "blamed"),
    [
        (3, True, "pc 0 `LD"),
        (3, False, "pc 1 `VADD"),
        (9, False, "pc 1 `VADD"),
        (500, False, "pc 1 `VADD"),
    ],
    ids=["lost and read", "read and overwritten", "overwritten", "nobody should have written it"],
)
def test_a_wrong_word_is_blamed_on_who_wrote_it_over(
    address: int, follows: bool, blamed: str
) -> None:
    spad: Words = np.zeros(4096, dtype=np.uint32)
    program = [encode(ld(0, 0, 10)), encode(vadd(600, 0, 2000, 4))]
    prediction = predict(ProgramItem("blame", program, spad=spad), spad)
    wrong = prediction.spad_after.copy()
    wrong[address] = 7
    first, last = prediction.expected.retires
    spoilt = predict(ProgramItem("", program[1:], spad=wrong), wrong).expected.retires[0]
    signature = spoilt.signature if follows else last.signature + 1
    seen = left(prediction, wrong, [first, last._replace(signature=signature)])
    found = [*compare_scratchpad(prediction, seen)[1], *compare_retires(prediction, seen)[1]]
    assert first_divergence(prediction, seen, found).startswith(blamed)
