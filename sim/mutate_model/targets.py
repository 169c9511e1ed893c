"""Which tests judge which module, and how well they have to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """One module of the model.

    Attributes:
        module: name below ``model``.
        tests: for pytest, relative to the project's folder; those that kill most first.
        strict: run every mutant; none may survive without a reason written down.
    """

    module: str
    tests: tuple[str, ...]
    strict: bool = False


def _of(file: str, *tests: str) -> tuple[str, ...]:
    return tuple(f"tests/{file}::{test}" for test in tests)


TARGETS = (
    Target(
        "page_table",
        (
            *_of(
                "test_page_table.py",
                "test_fixed_sequence_of_400_operations",
                "test_pages_come_out_in_order_and_go_back_last_in_first_out",
                "test_bad_use_names_the_value_and_changes_nothing",
            ),
            "tests/test_page_table.py",
        ),
        strict=True,
    ),
    Target(
        "paged_host",
        _of(
            "test_paged_host.py",
            "test_requests_share_pages_after_a_fork_and_do_not_disturb_each_other",
            "test_bad_host_calls",
            "test_exhaustion_can_be_repeated_once_there_is_room",
            "test_running_past_the_compiled_contexts_is_an_error",
            "test_paged_equals_plain_lists_and_recomputation",
            "test_pages_are_exactly_what_the_formula_says",
        ),
        strict=True,
    ),
    Target(
        "fixed_point",
        (
            *_of(
                "test_fixed_point.py",
                "test_ties_go_away_from_zero",
                "test_requantize_is_symmetric_and_never_gives_minus_128",
                "test_softmax_refuses_what_is_not_int8",
                "test_softmax_of_one_score_is_exactly_one",
                "test_exponential_table",
                "test_every_pair_of_int8_adds_with_saturation",
                "test_known_mantissas",
            ),
            "tests/test_fixed_point.py",
        ),
        strict=True,
    ),
    Target("allocator", ("tests/test_compiler_allocator.py", "tests/test_compiler.py")),
    Target("codegen", ("tests/test_compiler.py",)),
    Target("scales", ("tests/test_compiler.py",)),
    Target("machine", ("tests/test_machine.py",)),
    Target("operations", ("tests/test_machine.py",)),
    Target("timing", ("tests/test_timing.py", "tests/test_machine.py")),
)
