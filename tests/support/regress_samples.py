"""Jobs and plans of regressions that were never run."""

from __future__ import annotations

from typing import Any

from sim.regress.inputs import Inputs, Stamp
from sim.regress.records import JobSpec
from sim.regress.run_folder import Plan
from sim.regress.suites import Group, expand_group

DESIGN = Stamp("hw/rtl", "0123456789ab", "f" * 40, True)


def make_jobs(count: int, name: str = "g", simulator: str = "verilator") -> list[JobSpec]:
    """So many jobs of a group, which do nothing."""
    group = Group(name=name, kind="noop", seeds=count, simulator=[simulator])  # type: ignore[list-item]
    return expand_group(group, 1)


def make_plan(jobs: list[JobSpec], name: str = "s-1", **more: Any) -> Plan:
    """Return the plan of a regression of the suite ``s``."""
    fields = {"id": name, "suite": "s", "seed": 1, "started": 1.0, "revision": "abc", **more}
    return Plan(inputs=Inputs(DESIGN, {}, {}), jobs=jobs, **fields)
