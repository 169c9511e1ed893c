"""Directed programs do what their names say, and together hit every coverage bin of the plan.

Everything runs on the model; coverage is counted with the same functions that a simulation uses.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from stimulus_support import (
    bins,
    directed_hits,
    directed_items,
    directed_runs,
    final_memory,
    outcome,
    random_hits,
    written,
)

from model.chip.isa import FaultCode, Instruction, Op, decode, encode
from model.chip.machine import Machine
from model.chip.timeline import timeline
from sim.shared.paths import ROOT
from verif.plan import load_plan
from verif.stimulus.directed import REGISTRY
from verif.stimulus.directed.control import one_of_each, with_junk
from verif.stimulus.directed.faults import fault_groups
from verif.stimulus.profiles import PROFILES
from verif.stimulus.random_program import random_items
from verif.stimulus.registry import DuplicateProgramError, register


def test_directed_programs_reach_every_bin() -> None:
    hits = {hit for found in directed_hits().values() for hit in found}
    missed = {
        f"{point.name}: {bin_}"
        for point in load_plan().points.values()
        for bin_ in point.bins
        if (point.name, bin_) not in hits
    }
    assert not missed


@pytest.mark.parametrize("profile", PROFILES)
def test_every_hit_is_a_bin_of_the_plan(profile: str) -> None:
    points = load_plan().points
    declared = {(point.name, bin_) for point in points.values() for bin_ in point.bins}
    assert random_hits(profile) <= declared
    assert all(found <= declared for found in directed_hits().values())


@pytest.mark.parametrize(
    ("program", "point", "expected"),
    [
        ("mm_every_tile", "mm_tile", {f"{m}x{n}" for m in range(1, 5) for n in range(1, 5)}),
        ("rq_every_shift", "rq_shift", {str(s) for s in range(64)}),
        ("rq_rounding_ties", "rq_rounding", {"tie/positive", "tie/negative", "up/positive"}),
        ("rq_ties_high_shift", "rq_rounding", {"tie/positive", "tie/negative", "down/negative"}),
        ("rq_int32_limits", "rq_accumulator", {"minimum", "maximum"}),
        ("sm_every_distance", "sm_distance", {str(d) for d in range(256)}),
        ("sm_one_element", "sm_place", {"only"}),
        ("sm_all_minimum", "sm_maximum", {"-128"}),
        ("sm_maximum_length", "length", {"SM/maximum"}),
        ("amax_ties", "amax_ties", {"several", "all"}),
        ("amax_negatives", "amax_signs", {"all_negative", "mixed"}),
        ("amax_result_in_source", "overlap", {"AMAX/on_first_word", "AMAX/on_last_word"}),
        ("vadd_saturation_edges", "vadd_sum", {"beside_127", "at_127", "at_-127", "beside_-127"}),
        ("ext_last_word", "ext_region", {"LD/last_word", "ST/last_word"}),
        ("mm_address_wrap", "mm_wrap", {"A", "B", "C"}),
        ("mm_extreme_sums", "mm_sum", {"largest", "smallest"}),
        ("back_to_back", "scratchpad", {"loaded", "kept"}),
        ("memory_lives_on", "external_memory", {"loaded", "kept"}),
        ("memory_lives_on", "inherited_memory", {"read", "written_over", "appended", "copied"}),
        ("restart_after_fault", "start_after", {"start_after_fault", "reset_after_fault"}),
    ],
)
def test_a_directed_program_does_what_its_name_says(
    program: str, point: str, expected: set[str]
) -> None:
    assert expected <= bins(directed_hits()[program], point)


def test_every_nibble_meets_every_place_in_one_program() -> None:
    assert len(bins(directed_hits()["unpack_every_nibble"], "unpack_nibble")) == 128


def test_ordered_pairs_are_all_in_one_program() -> None:
    pairs = bins(directed_hits()["ordered_pairs"], "operation_pair")
    assert len(pairs - {pair for pair in pairs if pair.endswith("HALT")}) == 64


def test_all_pairs_of_int8_are_added_and_stored() -> None:
    seen: set[tuple[int, int]] = set()
    for item in REGISTRY["vadd_every_pair"].items():
        machine = Machine(item.depth)
        assert item.spad is not None
        machine.spad[:] = item.spad
        pairs: list[tuple[int, int]] = []
        trace = partial(note_pairs, machine, pairs)
        result = machine.run(item.program, item.image, item.read_latency, trace)
        expected = [max(-127, min(127, x + y)) for x, y in pairs]
        assert result.ext[: len(pairs)].view(np.int32).tolist() == expected
        seen.update(pairs)
    assert len(seen) == 65536


def note_pairs(
    machine: Machine, pairs: list[tuple[int, int]], _pc: int, instruction: Instruction
) -> None:
    """Trace function that notes the operands of every VADD."""
    if instruction.op == Op.VADD:
        operands = machine.operands(instruction)
        pairs += zip(operands["src1"].tolist(), operands["src2"].tolist(), strict=True)


@pytest.mark.parametrize("group", fault_groups())
def test_fault_programs_fault_as_they_should_and_only_there(group: str) -> None:
    causes = fault_groups()[group]
    items = REGISTRY[group].items()
    assert len(causes) == len(items)
    for cause, item in zip(causes, items, strict=True):
        result = Machine(item.depth).run(item.program, item.image, item.read_latency)
        assert result.fault == cause.code, cause.why
        assert decode(item.program[result.fault_pc]) == cause.instruction


def test_other_directed_programs_do_not_fault() -> None:
    for entry in REGISTRY.values():
        if entry.family in ("faults", "resets") or entry.name == "fault_first_and_far":
            continue
        for item in directed_items()[entry.name]:
            assert (outcome(item) != FaultCode.NONE) == item.name.endswith("_fault"), item.name


def test_directed_programs_are_short_enough() -> None:
    total = 0
    for name, runs in directed_runs().items():
        items = directed_items()[name]
        cycles = sum(
            spent + (item.abort_at or 0) for item, (spent, _) in zip(items, runs, strict=True)
        )
        assert cycles < 50_000, name
        total += cycles
    assert total < 750_000


DATA_FAMILIES = ["load_store", "matmul", "requantize", "softmax", "vector_add", "argmax", "unpack"]


@pytest.mark.parametrize("family", DATA_FAMILIES)
def test_every_result_of_a_directed_program_reaches_memory(family: str) -> None:
    """Wrong words from any one of up to five instructions change the final memory."""
    for entry in REGISTRY.values():
        if entry.family != family or entry.slow:
            continue
        for item in directed_items()[entry.name][:5]:
            clean = final_memory(item)
            writers = [pc for pc, word in enumerate(item.program) if len(written(decode(word)))]
            for pc in writers[:: max(1, len(writers) // 5)]:
                assert (final_memory(item, corrupt=pc) != clean).any(), (item.name, pc)


def test_junk_changes_no_result() -> None:
    for instruction in one_of_each():
        junk = with_junk(instruction)
        assert junk != instruction
        machines = [Machine(1024), Machine(1024)]
        for machine, form in zip(machines, (instruction, junk), strict=True):
            machine.spad[:] = np.arange(4096, dtype=np.uint32) * 2654435761 >> 7
            machine.run([encode(form)], np.arange(1024, dtype=np.uint32))
        assert (machines[0].spad == machines[1].spad).all()
        assert (machines[0].ext == machines[1].ext).all()


def test_names_are_unique() -> None:
    names = [item.name for items in directed_items().values() for item in items]
    assert len(names) == len(set(names))
    with pytest.raises(DuplicateProgramError, match="halt_only"):
        register("halt_only", "control", "", REGISTRY["halt_only"].factory)


def test_aborts_and_start_pulses_fall_into_the_program() -> None:
    items = [
        item
        for name, found in directed_items().items()
        if not REGISTRY[name].slow
        for item in found
    ]
    items += [item for profile in PROFILES for item in random_items(2, profile, 200)]
    timed = [i for i in items if i.abort_at is not None or i.start_pulses]
    assert len(timed) > 200
    for item in timed:
        last = timeline(item.program, item.read_latency)[-1].last
        assert all(cycle <= last for cycle in (*item.start_pulses, item.abort_at or 1)), item.name


def test_every_module_of_directed_programs_and_sequences_is_found_by_itself(
    tmp_path: Path,
) -> None:
    """A new file, also in a new folder, needs no line elsewhere."""
    shutil.copytree(
        ROOT / "verif", tmp_path / "verif", ignore=shutil.ignore_patterns("__pycache__")
    )
    folder = tmp_path / "verif" / "stimulus" / "directed" / "mine"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "first.py").write_text(
        "from verif.stimulus.builder import Builder\n"
        "from verif.stimulus.registry import directed\n\n\n"
        "@directed('mine')\n"
        "def my_program():\n    'One HALT.'\n    return Builder('my_program').item()\n"
    )
    (tmp_path / "verif" / "sequences" / "mine.py").write_text(
        "from verif.sequences.base import ProgramSequence\n\n\n"
        "class MyOwnSequence(ProgramSequence):\n    pass\n"
    )
    code = (
        "from verif.stimulus.directed import REGISTRY\n"
        "from verif.sequences.registry import SEQUENCES\n"
        "print(REGISTRY['my_program'].about, *sorted(SEQUENCES))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": f"{tmp_path}:{ROOT}"},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "One HALT. items my_own planted_faults random shrink\n", done.stderr
