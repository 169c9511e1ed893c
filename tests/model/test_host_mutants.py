"""Faults planted in the page table, the hosts and the windows must each fail a named check."""

from __future__ import annotations

import importlib
from dataclasses import dataclass

import pytest
from mutation import changed_source, model_with, source_of

SHADOW = "page table follows its shadow"
EXHAUSTED = "exhausted pool changes nothing"
PAGES = "exact pages in use at every step"
PLAIN = "paged host equals plain lists"
TOKENS = "window recomputed from token ids"
FLOAT = "float window recomputed from token ids"
WINDOWS = (None, 6, 3)


@dataclass(frozen=True)
class Fault:
    """One changed line, and the check that has to notice."""

    what: str
    module: str
    old: str
    new: str
    caught_by: str


FAULTS = [
    Fault(
        "a freed page is not returned",
        "decode.page_table",
        "            self.free.append(page)\n",
        "            pass\n",
        SHADOW,
    ),
    Fault(
        "a page is returned while still shared",
        "decode.page_table",
        "if self.owners[page] == 0:",
        "if self.owners[page] >= 0:",
        SHADOW,
    ),
    Fault(
        "fork does not count the new owner",
        "decode.page_table",
        "state.owners[page] += 1",
        "state.owners[page] += 0",
        SHADOW,
    ),
    Fault(
        "no copy before a write into a shared page",
        "decode.page_table",
        "if self.owners[page] > 1:",
        "if self.owners[page] > len(self.owners):",
        SHADOW,
    ),
    Fault(
        "the copy is empty",
        "decode.page_table",
        "self.slots[page] = self.slots[shared]",
        "self.slots[page] = [None] * self.page_rows",
        SHADOW,
    ),
    Fault(
        "the copy keeps the shared page's reference",
        "decode.page_table",
        "                self.drop(shared)\n",
        "                pass\n",
        SHADOW,
    ),
    Fault(
        "the page offset is one too far",
        "decode.page_table",
        "self.slots[page] = [*before, row, *after]",
        "self.slots[page] = [*before, *after, row]",
        PLAIN,
    ),
    Fault(
        "the lookup ignores dropped pages",
        "decode.page_table",
        "table.pages[index // self.page_rows - table.dropped]",
        "table.pages[index // self.page_rows]",
        PLAIN,
    ),
    Fault(
        "trim releases a page that is still needed",
        "decode.page_table",
        "keep_from // self.page_rows",
        "-(-keep_from // self.page_rows)",
        PLAIN,
    ),
    Fault(
        "trim keeps a page wholly outside the window",
        "decode.page_table",
        "keep_from // self.page_rows",
        "(keep_from - 1) // self.page_rows",
        PAGES,
    ),
    Fault(
        "release forgets the pages",
        "decode.page_table",
        "        for page in state.get(rid).pages:\n",
        "        for page in state.get(rid).pages[:0]:\n",
        SHADOW,
    ),
    Fault(
        "exhaustion is not reported",
        "decode.page_table",
        'raise OutOfPages(f"request {rid!r} needs a page and all {len(self.owners)} are in use")',
        "return len(self.owners) - 1",
        EXHAUSTED,
    ),
    Fault(
        "the float window keeps W rows",
        "decode.float_decode",
        "        context = context_size(step, window)\n        graph",
        "        context = context_size(step, window + 1 if window else None)\n        graph",
        FLOAT,
    ),
    Fault(
        "the chip's context is W + 1",
        "decode.float_decode",
        "return step if window is None else min(step, window)",
        "return step if window is None else min(step, window + 1)",
        TOKENS,
    ),
    Fault(
        "the host's context is W + 1",
        "decode.programs",
        "context = context_size(step, self.window)",
        "context = context_size(step, self.window + 1 if self.window else None)",
        PLAIN,
    ),
    Fault(
        "a gather starts one row late",
        "decode.paged_host",
        "past = self.table.rows(rid, step - context, step - 1)",
        "past = self.table.rows(rid, step - context + 1, step)",
        PLAIN,
    ),
    Fault(
        "a gather repeats its first row",
        "decode.paged_host",
        "past = self.table.rows(rid, step - context, step - 1)",
        "past = self.table.rows(rid, step - context, step - 1)[:1] * (context - 1)",
        PLAIN,
    ),
    Fault(
        "keys and values are swapped",
        "decode.paged_host",
        "KvRow(key, value)",
        "KvRow(value, key)",
        TOKENS,
    ),
    Fault(
        "pages are never released",
        "decode.paged_host",
        "self.table.append(rid, KvRow(key, value), keep_from)",
        "self.table.append(rid, KvRow(key, value))",
        PAGES,
    ),
    Fault(
        "the trim point is one token late",
        "decode.paged_host",
        "step + 1 - window",
        "step - window",
        PAGES,
    ),
]


def verdict_of(check: str) -> tuple[str, str]:
    """Verdict and detail of one check, by whatever model package is being imported now."""
    checks = importlib.import_module("model.checks.software_checks")
    subjects = importlib.import_module("model.checks.subject")
    decode = importlib.import_module("model.decode.workload")
    subject = subjects.Subject(decode.DecodeParams(model="random", seed=2, steps=12), WINDOWS)
    result = checks.run_check(check, subject)
    return result.verdict, result.detail


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.what)
def test_planted_fault_is_caught(fault: Fault) -> None:
    with model_with(fault.module, changed_source(fault.module, fault.old, fault.new)):
        verdict, detail = verdict_of(fault.caught_by)
    assert verdict == "fail", f"{fault.what}: {fault.caught_by!r} says {verdict} ({detail})"


@pytest.mark.parametrize("check", sorted({fault.caught_by for fault in FAULTS}))
def test_the_same_check_passes_without_a_fault(check: str) -> None:
    with model_with("decode.page_table", source_of("decode.page_table").read_text()):
        verdict, detail = verdict_of(check)
    assert verdict == "pass", detail


def test_a_change_that_does_not_apply_is_an_error() -> None:
    with pytest.raises(AssertionError, match="occurs 0 times"):
        changed_source("decode.page_table", "no such text", "")
    with pytest.raises(AssertionError, match="changes nothing"):
        changed_source(
            "decode.page_table", "if self.owners[page] == 0:", "if self.owners[page] == 0:"
        )
