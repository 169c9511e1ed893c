"""The first Python of a simulation: cocotb's own start, but without pytest.

cocotb imports pytest for its exceptions and matchers, which no test of this project raises, and
that takes a sixth of a simulation's start. Here cocotb is given something else by that name while
it is imported. A test that raised one of pytest's outcomes would fail.
"""

from __future__ import annotations

import importlib
import os
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

STARTED_BY = "PYGPI_USERS"
"""Variable that names ``run`` as what to start with."""


class _NeverRaised(BaseException):
    """In the place of what pytest raises."""


def run() -> None:
    """Import cocotb without pytest, then go on as cocotb does by itself."""
    stand_in: Any = ModuleType("pytest")
    for name in ("raises", "skip", "xfail"):
        setattr(stand_in, name, SimpleNamespace(Exception=_NeverRaised))
    sys.modules["pytest"] = stand_in
    try:
        regression = importlib.import_module("cocotb.regression")
    finally:
        del sys.modules["pytest"]
    # Assertions are not rewritten: that would take another second.
    regression.RegressionManager.setup_pytest_assertion_rewriting = lambda _: None
    del os.environ[STARTED_BY]
    importlib.import_module("pygpi.entry").load_entry()
