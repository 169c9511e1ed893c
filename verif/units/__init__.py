"""Unit-level tests: one module a unit, run by cocotb on the bench in ``hdl/unit_bench.sv``."""
