"""Drafting by prompt lookup: what followed the last tokens when they came before."""

from __future__ import annotations

from collections.abc import Sequence


def draft(tokens: Sequence[int], count: int) -> list[int]:
    """At most ``count`` tokens that followed the longest earlier match of the last tokens.

    Of matches of one length the latest is taken; without any, or for a count below 1, there is no
    draft.
    """
    last = len(tokens) - 1
    longest, end = 0, 0
    for candidate in range(last - 1, -1, -1):
        length = 0
        while length <= candidate and tokens[candidate - length] == tokens[last - length]:
            length += 1
        if length > longest:
            longest, end = length, candidate + 1
    return list(tokens[end : end + count]) if longest and count > 0 else []
