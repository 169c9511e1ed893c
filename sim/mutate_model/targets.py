"""Which tests judge which module, and how well they have to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """One module of the model.

    Attributes:
        module: name below ``model``.
        tests: files for pytest, relative to the project's folder.
        strict: run every mutant; none may survive without a reason written down.
    """

    module: str
    tests: tuple[str, ...]
    strict: bool = False


_COMPILER = (
    "tests/test_compiler_scales.py",
    "tests/test_compiler_allocator.py",
    "tests/test_compiler.py",
)

TARGETS = (
    Target("page_table", ("tests/test_page_table.py",), strict=True),
    Target("paged_host", ("tests/test_paged_host.py",), strict=True),
    Target("fixed_point", ("tests/test_fixed_point.py",), strict=True),
    Target("allocator", _COMPILER),
    Target("placement", _COMPILER),
    Target("codegen", _COMPILER),
    Target("scales", _COMPILER),
    Target("machine", ("tests/test_machine.py",)),
    Target("operations", ("tests/test_machine.py",)),
    Target("timing", ("tests/test_timing.py", "tests/test_machine.py")),
)
