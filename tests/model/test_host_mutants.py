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
        "decode.page_pool",
        "        self.free.append(page)\n",
        "        pass\n",
        SHADOW,
    ),
    Fault(
        "a page is returned while still shared",
        "decode.page_pool",
        "if self.owners[page] == 0:\n            self.in_use -= 1",
        "if self.owners[page] >= 0:\n            self.in_use -= 1",
        SHADOW,
    ),
    Fault(
        "fork does not count the new owner",
        "decode.page_table",
        "            state.hold(page)\n",
        "            pass\n",
        SHADOW,
    ),
    Fault(
        "no copy before a write into a shared page",
        "decode.page_pool",
        "elif self.owners[shared] > 1:",
        "elif self.owners[shared] > len(self.owners):",
        SHADOW,
    ),
    Fault(
        "the copy is empty",
        "decode.page_pool",
        "self.slots[page] = self.slots[shared]",
        "self.slots[page] = [None] * self.page_rows",
        SHADOW,
    ),
    Fault(
        "the copy keeps the shared page's reference",
        "decode.page_pool",
        "            self.drop(shared)\n",
        "            pass\n",
        SHADOW,
    ),
    Fault(
        "the page offset is one too far",
        "decode.page_pool",
        "[*self.slots[page][:offset], row]",
        "[*self.slots[page][: offset + 1], row]",
        PLAIN,
    ),
    Fault(
        "the lookup ignores dropped pages",
        "decode.page_pool",
        "page = self.tables[rid].pages[index // self.page_rows]",
        "page = [*self.tables[rid].held.values()][index // self.page_rows]",
        PLAIN,
    ),
    Fault(
        "trim releases a page that is still needed",
        "decode.page_pool",
        "keep_from // self.page_rows",
        "-(-keep_from // self.page_rows)",
        PLAIN,
    ),
    Fault(
        "trim keeps a page wholly outside the window",
        "decode.page_pool",
        "keep_from // self.page_rows",
        "(keep_from - 1) // self.page_rows",
        PAGES,
    ),
    Fault(
        "release forgets the pages",
        "decode.page_table",
        "        for page in state.get(rid).held.values():\n",
        "        for page in ():\n",
        SHADOW,
    ),
    Fault(
        "exhaustion is not reported",
        "decode.page_pool",
        "            if not cached:\n",
        "            if not cached:\n                return len(self.owners) - 1\n",
        EXHAUSTED,
    ),
    Fault(
        "a page is found by its own tokens alone",
        "decode.page_pool",
        "chain = tuple(tokens[:end])\n                for",
        "chain = tuple(tokens[end - self.page_rows : end])\n                for",
        SHADOW,
    ),
    Fault(
        "a page is still found when it is written again",
        "decode.page_pool",
        "            self.withdraw(page)  # its",
        "            pass  # its",
        SHADOW,
    ),
    Fault(
        "a page that is given away is still found",
        "decode.page_pool",
        "        self.withdraw(page)\n        self.slots",
        "        self.slots",
        SHADOW,
    ),
    Fault(
        "the beginning of a chain goes before its end",
        "decode.page_pool",
        "-len(self.chains[page])",
        "len(self.chains[page])",
        SHADOW,
    ),
    Fault(
        "the most recently used chain goes first",
        "decode.page_pool",
        "(self.used[page],",
        "(-self.used[page],",
        SHADOW,
    ),
    Fault(
        "all of a prompt is found, and nothing left to compute",
        "decode.page_pool",
        "range(self.page_rows, len(tokens), self.page_rows)",
        "range(self.page_rows, len(tokens) + 1, self.page_rows)",
        SHADOW,
    ),
    Fault(
        "truncate keeps pages without rows",
        "decode.page_pool",
        "self.give_up(rid, range(written, len(table.pages)))",
        "self.give_up(rid, ())",
        SHADOW,
    ),
    Fault(
        "truncate does not look whether rows are gone",
        "decode.page_pool",
        "for row in visible.rows(length)[:-1]:",
        "for row in visible.rows(length)[:0]:",
        SHADOW,
    ),
    Fault(
        "the page of a sink is released",
        "decode.visible",
        "page * page_rows < self.sinks",
        "(page + 1) * page_rows <= self.sinks",
        SHADOW,
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
        changed_source("decode.page_pool", "self.copies += 1", "self.copies += 1")
