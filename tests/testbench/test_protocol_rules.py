"""Each rule of the protocol checker fails when it is broken, and only then."""

from __future__ import annotations

import numpy as np
import pytest
from broken_rules import WRONG, plant
from planting import kept

from model.chip.isa import amax, encode, halt, ld, mm, rq, sm, st, unpack, vadd
from sim.engine.simulator import simulate
from sim.shared.failures import failure_text
from sim.shared.paths import RTL
from verif.env.protocol import PROTOCOL_ERRORS
from verif.items.job import Job
from verif.items.program_item import ProgramItem
from verif.items.result import ProgramResult

PROGRAM = [
    ld(0, 0, 40),
    mm(400, 0, 10, 3, 4, 2, ldb=2),
    rq(420, 400, 6, 1 << 20, 25),
    vadd(440, 420, 0, 6),
    sm(460, 0, 5),
    amax(450, 400, 6),
    unpack(500, 0, 2),
    st(400, 200, 120),
    halt(),
]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> list[ProgramResult]:
    """One program after the other: sound, rule 1 broken, sound, rule 2 broken, ..."""
    rtl = kept(plant(RTL, tmp_path_factory.mktemp("rules") / "rtl"))
    image = np.random.default_rng(1).integers(0, 2**32, 64, dtype=np.uint32)
    spad = np.zeros(4096, dtype=np.uint32)
    program = [encode(instruction) for instruction in PROGRAM]
    items = [
        ProgramItem(str(n), program, image, spad=spad, depth=512, idle_after=4)
        for n in range(2 * max(WRONG) + 1)
    ]
    return simulate("icarus", Job(items=items), rtl=rtl).results


def test_every_rule_is_broken_once() -> None:
    assert set(WRONG) == set(PROTOCOL_ERRORS)


@pytest.mark.parametrize("rule", PROTOCOL_ERRORS)
def test_a_broken_rule_is_named(results: list[ProgramResult], rule: int) -> None:
    broken = results[2 * rule - 1]
    said = [mismatch.message for mismatch in broken.mismatches]
    assert any(PROTOCOL_ERRORS[rule] in message for message in said), failure_text(broken)
    before, after = results[2 * rule - 2], results[2 * rule]
    assert before.passed, failure_text(before)
    assert after.passed, failure_text(after)
