"""Random programs: spread as their profiles say, and the same for ever from one seed."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from stimulus_support import (
    bins,
    final_memory,
    fingerprint,
    random_hits,
    written,
)

from model.chip.isa import FaultCode, Op, check_fault, decode
from model.chip.machine import Machine
from model.chip.operation_table import OPERATIONS
from model.chip.timeline import slot_at, timeline
from sim.shared.paths import ROOT
from verif.bins.faults import violations
from verif.bins.program import BinRunner
from verif.bins.sheet import Hit
from verif.plan import load_plan
from verif.stimulus.profiles import PROFILES, UnknownProfileError
from verif.stimulus.random_program import random_item, random_items
from verif.stimulus.source import Source
from verif.stimulus.surroundings import series_start

LONGEST_FED = 40  # instructions of programs whose results are meant to feed each other
PYTHONS = sorted(Path.home().glob(".pyenv/versions/3.1[0-3].*/bin/python"))


@pytest.mark.parametrize("profile", ["typical", "corner", "matrix"])
def test_every_operation_and_pair_occurs(profile: str) -> None:
    hits = random_hits(profile)
    expected = {"HALT", *(Op(op).name for _, op in PROFILES[profile].ops)}
    assert bins(hits, "operation") >= expected
    if profile != "matrix":
        assert len(bins(hits, "operation_pair")) >= 64


@pytest.mark.parametrize("profile", ["faults", "raw"])
def test_every_fault_code_occurs(profile: str) -> None:
    codes = {bin_.split("/")[0] for bin_ in bins(random_hits(profile), "fault")}
    assert codes == {code.name for code in FaultCode if code != FaultCode.NONE}


def test_fault_profile_reaches_every_code_on_every_operation() -> None:
    declared = set(load_plan().points["fault"].bins)
    assert bins(random_hits("faults") | random_hits("raw"), "fault") >= declared


@pytest.mark.parametrize(
    ("profiles", "points"),
    [
        ("typical", "rq_rounding vadd_sum sm_ties mm_tile mm_transposed amax_place"),
        ("typical corner matrix", "rq_shift rq_result rq_mantissa sm_maximum amax_signs"),
        ("corner", "mm_stride mm_wrap overlap spad_region upper_bits vadd_operands amax_ties"),
        ("matrix", "mm_tile mm_inner mm_stride mm_wrap mm_operand"),
        ("faults", "fault_place fault_priority start_after scratchpad"),
    ],
)
def test_corner_classes_are_all_hit(profiles: str, points: str) -> None:
    plan = load_plan()
    hits = frozenset[Hit]().union(*(random_hits(profile) for profile in profiles.split()))
    for point in points.split():
        missed = set(plan.points[point].bins) - bins(hits, point)
        assert not missed, (point, missed)


def test_long_vectors_are_long() -> None:
    classes = bins(random_hits("long"), "length")
    for op in ("LD", "ST", "RQ", "SM", "VADD", "AMAX"):
        assert f"{op}/long" in classes


def test_surroundings_are_all_drawn() -> None:
    hits = frozenset[Hit]().union(*(random_hits(profile) for profile in PROFILES))
    plan = load_plan()
    for point in ("latency", "scratchpad", "start_after", "reset_in_flight"):
        assert bins(hits, point) == set(plan.points[point].bins), point
    # The directed programs hit each phase of each operation; these spread over most of them.
    for point in ("reset_point", "start_pulse"):
        assert len(bins(hits, point)) > 0.8 * len(plan.points[point].bins), point


def test_typical_programs_are_short_and_do_not_fault() -> None:
    runner = BinRunner()
    cycles = []
    for item in random_items(6, "typical", 200):
        result, _ = runner.run(item)
        cycles.append(result.counters.total)
        assert result.fault == FaultCode.NONE
        assert any(burst.kind == "write" for burst in result.bursts)
    assert 200 < sum(cycles) / len(cycles) < 1500


@pytest.mark.parametrize("op", [Op.LD, Op.RQ, Op.SM, Op.VADD, Op.UNPACK])
def test_long_results_go_on_where_those_of_their_kind_ended(op: Op) -> None:
    destination = OPERATIONS[op].destination
    assert destination is not None
    found = 0
    for item in random_items(1, "typical", 2000):
        end = None
        for instruction in map(decode, item.program):
            if instruction.op == op:
                size = destination.size(instruction.length)
                found += instruction.a == end and size >= 64
                end = instruction.a + size
    assert found >= 4


@pytest.mark.parametrize("profile", ["typical", "corner", "long", "matrix"])
def test_results_reach_memory(profile: str) -> None:
    """Wrong words from an instruction change the final memory of most programs."""
    reached = total = 0
    for item in random_items(8, profile, 80):
        if len(item.program) > LONGEST_FED:
            continue  # crowds and marathons write the same words again and again
        clean = final_memory(item)
        executed = len(timeline(item.program, item.read_latency)) - 1
        writers = [pc for pc in range(executed - 1) if len(written(decode(item.program[pc])))]
        for pc in writers[::3]:
            total += 1
            reached += bool((clean != final_memory(item, corrupt=pc)).any())
    assert reached > 0.6 * total


def test_items_do_not_depend_on_order() -> None:
    forward = [random_item(9, "corner", k) for k in range(20)]
    backward = [random_item(9, "corner", k) for k in reversed(range(20))][::-1]
    assert [fingerprint(i) for i in forward] == [fingerprint(i) for i in backward]
    again = list(random_items(9, "corner", 5, first=10))
    assert [fingerprint(i) for i in again] == [fingerprint(i) for i in forward[10:15]]


def test_seeds_and_profiles_differ() -> None:
    prints = {fingerprint(random_item(s, p, 0)) for s in range(5) for p in PROFILES}
    assert len(prints) == 5 * len(PROFILES)


GOLDEN = {
    "typical": "ced28f084c73ee9d",
    "raw": "7481f0c4afbdac4f",
}


@pytest.mark.parametrize("profile", GOLDEN)
def test_a_seed_means_the_same_program_for_ever(profile: str) -> None:
    prints = " ".join(fingerprint(item) for item in random_items(7, profile, 10))
    assert hashlib.sha256(prints.encode()).hexdigest()[:16] == GOLDEN[profile]


@pytest.mark.parametrize("python", PYTHONS, ids=lambda path: path.parts[-3])
def test_other_pythons_draw_the_same_numbers(python: Path) -> None:
    """The source of randomness alone, because other versions need not have numpy."""
    script = (
        "from verif.stimulus.source import Source\n"
        "s = Source(7, 'typical', 3)\n"
        "print([s.below(n) for n in range(1, 200)], s.weighted(((3, 'a'), (5, 'b'))),"
        " s.octets(40).hex())\n"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    texts = [
        subprocess.run([exe, "-c", script], env=env, capture_output=True, text=True, check=True)
        for exe in (sys.executable, str(python))
    ]
    assert texts[0].stdout == texts[1].stdout


@pytest.mark.parametrize("profile", PROFILES)
def test_a_kept_scratchpad_can_be_replayed_from_the_start_of_its_series(profile: str) -> None:
    whole = BinRunner()
    items = list(random_items(1, profile, 40))
    results = [whole.run(item)[0].ext for item in items]
    kept = [k for k, item in enumerate(items) if item.spad is None]
    assert kept
    for k in kept:
        alone = BinRunner()
        replayed = [alone.run(items[i])[0].ext for i in range(series_start(k), k + 1)]
        assert (replayed[-1] == results[k]).all()


def test_an_unknown_profile_is_named_with_those_that_exist() -> None:
    with pytest.raises(UnknownProfileError, match=r"'typicall'.*typical, corner"):
        random_item(1, "typicall", 0)


def test_weights_are_kept() -> None:
    source = Source(1, "weights", 0)
    drawn = Counter(source.weighted(((1, "a"), (3, "b"), (0, "c"))) for _ in range(4000))
    assert 800 < drawn["a"] < 1200
    assert drawn["c"] == 0


@pytest.mark.parametrize("profile", PROFILES)
def test_timeline_agrees_with_the_machine(profile: str) -> None:
    for item in random_items(3, profile, 60):
        slots = timeline(item.program, item.read_latency)
        result = Machine(item.depth).run(item.program, item.image, item.read_latency)
        assert slots[-1].last == result.counters.total
        busy = [slot.busy for slot in slots[: len(result.retires)]]
        assert busy == [retire.busy for retire in result.retires]
        for slot in slots:
            assert slot_at(slots, slot.fetch) is slot
            assert slot_at(slots, slot.last) is slot
        assert slot_at(slots, slots[-1].last + 1) is None


def test_violations_agree_with_the_models_fault_code() -> None:
    source = Source(5, "violations", 0)
    seen = Counter()
    for item in [*random_items(4, "faults", 300), *random_items(4, "raw", 300)]:
        for word in item.program:
            instruction = decode(word)
            codes = [code for code, _ in violations(instruction)]
            expected = check_fault(instruction)
            assert min(codes, default=FaultCode.NONE) == expected, instruction
            seen[expected] += 1
    assert set(seen) == set(FaultCode)
    assert source.below(10) < 10
