"""Checks of the software side, without a simulator: paging, windows, compiler, reference machine.

Each check has a name and a verdict; a check that raises has failed. They look at a decode run from
outside: against lists instead of pages, against recomputation from token ids, against floating
point, and against the formula for the number of pages.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from model.checks import cache_checks, number_checks
from model.checks.subject import Check, Skip, Subject
from model.decode.workload import DEFAULT_WINDOWS, DecodeParams

CHECKS: dict[str, Callable[[Subject], str]] = {
    "page table follows its shadow": cache_checks.check_page_table,
    "exhausted pool changes nothing": cache_checks.check_exhaustion,
    "exact pages in use at every step": cache_checks.check_pages,
    "paged host equals plain lists": cache_checks.check_plain_host,
    "window recomputed from token ids": cache_checks.check_recomputed,
    "float window recomputed from token ids": number_checks.check_float_window,
    "window >= steps is full attention": number_checks.check_wide_window,
    "tokens follow the rule": number_checks.check_rule,
    "chip within 15% of float": number_checks.check_accuracy,
    "one program per context": number_checks.check_programs,
    "counters add up": number_checks.check_counters,
    "buffer reuse changes nothing": number_checks.check_reuse,
}


def software_checks(
    params: DecodeParams | None = None, windows: Sequence[int | None] = DEFAULT_WINDOWS
) -> list[Check]:
    """Run every check for these parameters (the window in them is replaced by ``windows``)."""
    subject = Subject(params or DecodeParams(), windows)
    return [run_check(name, subject) for name in CHECKS]


def run_check(name: str, subject: Subject) -> Check:
    """Run one check by name. Never raises: whatever the check raises is its detail."""
    start = time.perf_counter()
    try:
        verdict, detail = "pass", CHECKS[name](subject)
    except Skip as skip:
        verdict, detail = "skip", str(skip)
    except Exception as error:
        verdict, detail = "fail", f"{type(error).__name__}: {error}"
    return Check(name, verdict, detail, time.perf_counter() - start)
