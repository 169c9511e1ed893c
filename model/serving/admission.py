"""How many pages a request needs, and whom the pool admits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from model.decode.visible import Visible
from model.serving.request import NeverFits, Options, Request


@lru_cache(maxsize=4096)
def peak_pages(rows: int, page_rows: int, visible: Visible) -> int:
    """Most pages a request of so many rows holds at once, fed one row at a time."""
    return max(
        len(visible.pages(length, page_rows)) + (length % page_rows == 0) for length in range(rows)
    )


def check_fits(request: Request, options: Options, context: int) -> None:
    """Raise NeverFits for a request that could not run even alone, or with so long a context."""
    if request.rows > context and context != options.window:
        raise NeverFits(
            f"request {request.rid!r}: a context of {request.rows} rows, at most {context} fit; "
            "give a window or a shorter request"
        )
    pages = peak_pages(request.rows, options.page, options.visible)
    if pages > options.pool:
        raise NeverFits(
            f"request {request.rid!r}: {pages} pages of {options.page} rows, the pool has "
            f"{options.pool}"
        )


class Admission:
    """The pages that a rule promises to each request.

    "one page" promises one; "exact" what the request holds at most, "expected" what one of the mean
    length does, "longest" what the longest one does.
    """

    def __init__(self, options: Options, requests: Sequence[Request]) -> None:
        """``requests``: those whose lengths are known beforehand."""
        self._options = options
        lengths = [request.rows for request in requests] or [1]
        self._rows = {
            "expected": math.ceil(sum(lengths) / len(lengths)),
            "longest": max(lengths),
        }

    def need(self, request: Request) -> int:
        """Pages that have to be free or promised for this request, at most the whole pool."""
        options = self._options
        if options.admission == "one page":
            return 1
        rows = self._rows.get(options.admission, request.rows)
        return min(options.pool, peak_pages(rows, options.page, options.visible))
