"""Which unit tests judge a mutant: those that drive the module it is in."""

from __future__ import annotations

UNIT_TESTS_OF = {
    "ga2_load": ("dma",),
    "ga2_store": ("dma",),
    "ga2_matmul": ("matmul",),
    "ga2_operand_bank": ("matmul",),
    "ga2_systolic_array": ("matmul",),
    "ga2_mac_row": ("matmul",),
    "ga2_requant": ("requantizer",),
    "ga2_requantizer": ("requantizer",),
    "ga2_softmax": ("softmax",),
    "ga2_exp_table": ("softmax",),
    "ga2_divider": ("divider", "softmax"),
    "ga2_vadd": ("vector",),
    "ga2_amax": ("vector",),
    "ga2_unpack": ("vector",),
    "ga2_counters": ("counters",),
    "ga2_fault_checker": ("fault_checker",),
    "ga2_scratchpad": ("scratchpad",),
}
"""Modules of the design, and the modules of ``verif.units`` that instantiate them."""


def units_for(file: str) -> list[str]:
    """Return the unit tests for mutants of a file; of others there are none."""
    return list(UNIT_TESTS_OF.get(file.removesuffix(".sv"), ()))
