"""What holds for all tests.

A file's tests share a worker of xdist, so the files that take longest begin.

Profiles of Hypothesis: pytest --hypothesis-profile=nightly draws many more examples. A shell
starts what it puts into the background deaf to Ctrl-C; tests that press it need ears.
"""

from __future__ import annotations

import gc
import signal
from typing import TYPE_CHECKING

from hypothesis import settings

if TYPE_CHECKING:
    import pytest

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("nightly", max_examples=500, deadline=None)

LONGEST_FIRST = (
    *("test_lint", "test_coverage_functional", "test_save_file", "test_cli"),  # compile most
    *("test_gls", "test_formal", "test_regress_engine", "test_simulated_programs"),
    *("test_mutate_campaign", "test_mutate_schema", "test_shrink", "test_testbench_faults"),
    *("test_directed_programs", "test_trained_figures", "test_simulator_ends", "test_units"),
    *("test_realistic_faults", "test_regress_workloads", "test_results", "test_setup"),
    *("test_serving_trained", "test_mutate_model", "test_main_program", "test_plain_testbench"),
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files that take longest first, the others in their order."""
    place = {name: number for number, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: place.get(item.path.stem, len(place)))


def pytest_collection_finish() -> None:
    """Leave what the tests' modules hold out of every later collection of garbage."""
    gc.collect()
    gc.freeze()
