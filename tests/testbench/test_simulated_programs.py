"""Directed and random programs on the RTL: all or a slice, in both simulators.

What ran is recorded for the test plan; ``make directed`` and ``make random`` reach the rest.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from front_end import call
from planted_bugs import BUGS, replant
from planting import kept
from rich.console import Console

from model.chip.isa import SPAD_WORDS, encode, ld, sm, st
from model.chip.timeline import timeline
from sim.engine.agree import compare_results
from sim.engine.design import own_design
from sim.engine.job_result import JobResult
from sim.engine.simulator import simulate
from sim.programs.powerup import compare_states
from sim.programs.random_programs import split
from sim.shared import junit
from sim.shared.failures import failure_text
from sim.shared.paths import ROOT, RTL
from sim.shared.test_log import record_programs
from verif.items.job import Job
from verif.items.program_item import ProgramItem, ProgramItemError
from verif.shrink.steps import changed
from verif.stimulus.directed import REGISTRY
from verif.stimulus.profiles import PROFILES
from verif.stimulus.random_program import random_items

SEED = 20
VERILATOR_PROGRAMS = {"long": 20}  # of each profile, 60 unless given
ICARUS_PROGRAMS = {"long": 2}  # 12 unless given
ICARUS_CYCLES = 5000  # of a directed program


@cache
def directed_items() -> list[ProgramItem]:
    return [item for entry in REGISTRY.values() for item in entry.items()]


@cache
def short_items() -> list[ProgramItem]:
    """The shortest program of each directed test that can be played alone, if it is short."""
    shortest = [
        min((item for item in entry.items() if not item.inherits), key=cycles)
        for entry in REGISTRY.values()
    ]
    return [item for item in shortest if cycles(item) < ICARUS_CYCLES]


def cycles(item: ProgramItem) -> int:
    return timeline(item.program, item.read_latency)[-1].last + (item.abort_at or 0)


def drawn_items(counts: dict[str, int], usual: int) -> list[ProgramItem]:
    return [
        item
        for profile in PROFILES
        for item in random_items(SEED, profile, counts.get(profile, usual))
    ]


def icarus_random_items() -> list[ProgramItem]:
    return drawn_items(ICARUS_PROGRAMS, 12)


@cache
def played(sim: str) -> JobResult:
    """One simulation of everything for ``sim``, recorded for the test plan."""
    if sim == "verilator":
        items = [*directed_items(), *drawn_items(VERILATOR_PROGRAMS, 60)]
    else:
        items = [*short_items(), *icarus_random_items()]
    done = simulate(sim, Job("items", {"keep_retires": True}, items))
    assert len(done.results) == len(items)
    record_programs(sim, done.results, design=own_design().hash)
    return done


@pytest.mark.parametrize("sim", ["verilator", "icarus"])
def test_directed_programs_pass(sim: str) -> None:
    done = played(sim)
    bad = [r for r in done.failed if r.provenance.startswith("directed")]
    assert not bad, "\n".join(map(failure_text, bad[:3]))
    assert done.passed or done.failed, done.error
    tests = {r.name.split("/")[0] for r in done.results if r.provenance.startswith("directed")}
    assert tests == set(REGISTRY) if sim == "verilator" else len(tests) > 0.75 * len(REGISTRY)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("sim", ["verilator", "icarus"])
def test_random_programs_pass(sim: str, profile: str) -> None:
    mine = [r for r in played(sim).results if r.name.startswith(f"{profile}-")]
    bad = [r for r in mine if not r.passed]
    assert not bad, "\n".join(map(failure_text, bad[:3]))
    assert mine
    assert all(result.comparisons > 1000 for result in mine)


def test_simulators_agree_on_every_program_that_both_played() -> None:
    # A directed program that keeps the scratchpad ran after different ones in the two.
    both = [*(item for item in short_items() if item.spad is not None), *icarus_random_items()]
    names = [item.name for item in both]
    assert len(names) > 120
    assert not compare_results(names, played("icarus").results, played("verilator").results)


def test_the_simulator_generates_what_the_seed_says() -> None:
    """The sequence in the simulator and the generator outside draw the same programs."""
    again = "make random PROFILE={profile} ONLY={index}"
    params = {"seed": SEED, "profile": "corner", "first": 8, "count": 4, "rerun": again}
    inside = simulate("verilator", Job("random", {**params, "keep_retires": True})).results
    outside = played("verilator").results
    assert [r.name for r in inside] == [f"corner-{SEED}-{k}" for k in range(8, 12)]
    assert not compare_results([r.name for r in inside], inside, outside)
    assert inside[2].rerun == "make random PROFILE=corner ONLY=10"


def test_what_is_in_the_flops_at_power_up_does_not_matter() -> None:
    items = [*short_items()[::4], *drawn_items({"long": 1}, 6)]
    outcome = compare_states(Console(quiet=True), items)
    assert not outcome.differences
    assert outcome.states_differ
    assert outcome.passed


def late_item(latency: int) -> ProgramItem:
    """An LD that is reset in its first request's cycle; the next one requests five cycles later."""
    program = [encode(ld(100, 0, 8)), encode(st(100, 50, 8))]
    spad = np.zeros(SPAD_WORDS, dtype=np.uint32)
    image = np.arange(1, 9, dtype=np.uint32)
    return ProgramItem(
        *("late", program, image, spad), latencies=(latency,), abort_at=3, late_answers=True
    )


@pytest.mark.parametrize("sim", ["verilator", "icarus"])
def test_an_answer_may_be_late_until_the_first_request(sim: str) -> None:
    in_time = late_item(5)
    with pytest.raises(ProgramItemError) as refused:
        late_item(6)
    assert "\n" not in str(refused.value)
    assert "until cycle 9" in str(refused.value)
    assert "from cycle 8 on" in str(refused.value)
    assert simulate(sim, Job("items", {}, [in_time])).passed


def test_late_answers_end_in_time_in_a_program_that_loads_later() -> None:
    """The first act of the program may take long: then the answers may come late."""
    item = late_item(5)
    behind = [encode(sm(0, 10, 9)), *item.program]
    late = replace(item, program=behind, abort_at=80, latencies=(64,))
    with pytest.raises(ProgramItemError, match="late answers come until"):
        replace(late, program=item.program, abort_at=8)
    shrunk = changed(late, program=item.program, abort_at=8)
    assert not shrunk.late_answers
    assert shrunk.program == item.program


def test_a_failing_program_is_reduced_and_can_be_replayed(tmp_path: Path) -> None:
    """From the command line to the command it prints, which fails only on the bad design."""
    rtl = kept(replant(RTL, tmp_path / "rtl", BUGS[0]))
    arguments = ("--count", 6, "--seed", 7, "--rtl", rtl, "--results", tmp_path)
    done = call("programs.random_programs", *arguments)
    assert done.returncode == 1, done.stderr
    figures = json.loads((tmp_path / "random-icarus.json").read_text())
    assert not figures["passed"]
    failures = figures["failures"]
    assert all("VADD" in failure["first_divergence"] for failure in failures)
    reduced = failures[0]["reduced"]
    assert reduced["instructions"] <= 4
    assert f"replay: {reduced['replay']}" in done.stdout
    failed = [case for case in junit.read(tmp_path / "random-icarus.xml") if case.outcome.bad]
    assert len(failed) == len(failures) == figures["groups"]["typical"]["failed"]
    if len(failed) > 1:
        assert f"{len(failed)} programs fail alike" in done.stdout

    words = dict(word.split("=", 1) for word in reduced["replay"].split() if "=" in word)
    assert ROOT / words["RTL"] == rtl
    files = ("--program", words["PROGRAM"])
    for name in ("EXT", "SPAD"):
        files += (f"--{name.lower()}", words[name]) if name in words else ()
    assert call("programs.run", *files, "--rtl", rtl).returncode == 1
    assert call("programs.run", *files).returncode == 0
    for name in ("PROGRAM", "EXT", "SPAD"):
        (ROOT / words.get(name, "nothing")).unlink(missing_ok=True)


def test_a_range_is_cut_where_a_program_brings_its_scratchpad() -> None:
    assert split(0, 100, 2) == [(0, 56), (56, 44)]
    assert split(5, 20, 2) == [(5, 11), (16, 9)]
    assert split(3, 2, 4) == [(3, 2)]
    for first, count, parts in ((0, 1, 1), (7, 1000, 3), (8, 64, 8)):
        pieces = split(first, count, parts)
        assert sum(size for _, size in pieces) == count
        assert next(start for start, _ in pieces) == first
        assert all(start % 8 == 0 for start, _ in pieces[1:])
        assert len(pieces) <= parts + 1
