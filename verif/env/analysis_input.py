"""An analysis export that hands what it receives to a function.

pyuvm's uvm_subscriber has one input; a component with several takes one of these for each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyuvm import uvm_analysis_export, uvm_component


class AnalysisInput(uvm_analysis_export):
    """Calls ``accept`` with every datum written to it."""

    def __init__(self, name: str, parent: uvm_component, accept: Callable[[Any], None]) -> None:
        super().__init__(name, parent)
        self.accept = accept

    def write(self, datum: Any) -> None:
        """Pass the datum on."""
        self.accept(datum)
