"""Which tests judge which module, and how well they have to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """One module of the model.

    Attributes:
        module: dotted name below ``model``.
        tests: files for pytest, relative to the project's folder.
        strict: run every mutant; none may survive without a reason written down.
    """

    module: str
    tests: tuple[str, ...]
    strict: bool = False

    @property
    def name(self) -> str:
        """The module without its package."""
        return self.module.rpartition(".")[2]


_COMPILER = (
    "tests/model/test_compiler_scales.py",
    "tests/model/test_compiler_allocator.py",
    "tests/model/test_compiler.py",
)

_SERVING = ("tests/model/test_serving.py", "tests/model/test_batch_invariance.py")

_KERNELS = (*_SERVING, "tests/model/test_serving_trained.py")

_TRAINED = ("tests/model/test_trained.py",)

TARGETS = (
    Target("decode.page_table", ("tests/model/test_page_table.py",), strict=True),
    Target("decode.page_pool", ("tests/model/test_page_table.py",), strict=True),
    Target("decode.visible", ("tests/model/test_page_table.py",), strict=True),
    Target("decode.paged_host", ("tests/model/test_paged_host.py",), strict=True),
    Target("chip.fixed_point", ("tests/model/test_fixed_point.py",), strict=True),
    Target("compiler.allocator", _COMPILER),
    Target("compiler.placement", _COMPILER),
    Target("compiler.codegen", _COMPILER),
    Target("compiler.kernel", ("tests/model/test_kernels.py",)),
    Target("compiler.generator", _COMPILER),
    Target("compiler.packing", _COMPILER, strict=True),
    Target("compiler.integers", _COMPILER, strict=True),
    Target("compiler.scales", _COMPILER),
    Target("serving.scheduler", _SERVING, strict=True),
    Target("serving.engine", _SERVING, strict=True),
    Target("serving.step", _SERVING),
    Target("serving.kernels", _KERNELS),
    Target("serving.compilation", _KERNELS),
    Target("serving.residence", _KERNELS),
    Target("trained.shape", _TRAINED, strict=True),
    Target("trained.lm", _TRAINED, strict=True),
    Target("trained.network", _TRAINED),
    Target("chip.machine", ("tests/model/test_machine.py",)),
    Target("chip.operations", ("tests/model/test_machine.py",)),
    Target("chip.timing", ("tests/model/test_timing.py", "tests/model/test_machine.py")),
)
