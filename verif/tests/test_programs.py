"""The one module cocotb loads: it plays the job of this simulation."""

from __future__ import annotations

import pyuvm

from verif.tests.base_test import BaseTest


@pyuvm.test()
class ProgramTest(BaseTest):
    """Plays the job that ``GA2_JOB`` names."""
