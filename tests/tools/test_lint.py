"""The static checks of ``make lint`` are tests: they run beside the others and fail like them."""

from __future__ import annotations

import pytest

from sim.lint.__main__ import Lint, lints, run_lint


@pytest.mark.parametrize("lint", lints(), ids=lambda lint: lint.name)
def test_static_check(lint: Lint) -> None:
    if lint.left_out:
        pytest.skip(f"{lint.name} is not installed")
    passed, said = run_lint(lint)
    assert passed, said or f"exit code not 0: {' '.join(lint.command)}"
