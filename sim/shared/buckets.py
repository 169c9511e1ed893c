"""Failures that look alike: one bucket a cause, as far as a machine can tell.

Two failures share a bucket when their kinds, their messages without numbers, addresses, paths and
seeds, and the operations of their first divergent instructions are the same.
"""

from __future__ import annotations

import re

RULES = (
    (re.compile(r"(?:/[\w.+-]+){2,}"), "<path>"),
    (re.compile(r"\b0x[0-9a-fA-F]+\b|\b[0-9a-fA-F]{8,}\b"), "<n>"),
    (re.compile(r"\d+'[bdh][0-9a-fA-FxXzZ_]+"), "<n>"),
    (re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"), "<n>"),
    (re.compile(r"<n>(?:\s*,\s*<n>)+"), "<n>, ..."),
    (re.compile(r"\s+"), " "),
)
OPERATION = re.compile(r"\b[A-Z]{2,}\b")

Key = tuple[str, str, str]
"""Kind, message without what differs from run to run, operation."""


def bucket_key(kind: str, message: str, instruction: str) -> Key:
    """Return what failures of one bucket have in common."""
    return kind, normalize(message), operation(instruction)


def normalize(message: str) -> str:
    """Return a message without what differs from run to run.

    >>> normalize("word 0x1f40: expected -3, got 17")
    'word <n>: expected <n>, got <n>'
    """
    for pattern, text in RULES:
        message = pattern.sub(text, message)
    return message.strip()


def operation(instruction: str) -> str:
    """Return the operation named in the text of an instruction, "" when there is none.

    >>> operation("pc 7: MM dst=0x10 A=0 B=4")
    'MM'
    """
    found = OPERATION.search(instruction)
    return found.group() if found else ""
