"""The plan of a campaign over the project's own design, which takes seconds to make."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from sim.engine.design import own_design
from sim.mutate.rtl.plan import Plan, every, make_plan
from verif.mutation.test_series import TestSeries

MOST_PROGRAMS = 30  # of a test that a small campaign has: more take most of the time


@cache
def _plan() -> Plan:
    return make_plan(own_design(), every)


def own_plan() -> Plan:
    """All mutants of the project's own design; what is put into the copy is seen by nobody else."""
    plan = _plan()
    return replace(plan, mutants=dict(plan.mutants), keys=dict(plan.keys), tests=[*plan.tests])


def short(tests: list[TestSeries]) -> list[TestSeries]:
    """Those that are played, and predicted before that, in no time."""
    return [test for test in tests if not test.slow and len(test.items) <= MOST_PROGRAMS]
