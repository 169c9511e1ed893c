"""Writes the instrumented copy of the RTL: all mutants in one design, each behind its number."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sim.mutate.rtl.mutant import Edit, Form, Mutant
from sim.mutate.rtl.source import SourceError

PACKAGE = "ga2_mutant_pkg"
PACKAGE_FILE = f"{PACKAGE}.sv"
SELECTOR = f"{PACKAGE}::id"
TOP_FILE = "ga2.sv"
CONTROL = "mutant_next"
"""The testbench writes a mutant's number to ``dut.mutant_next``; it counts from the next clock."""

MUTANTS = "GA2_MUTANTS"
"""Macro with which the unit bench has the same control."""

_PACKAGE_TEXT = f"""\
// Generated: which mutant is alive. 0 is the design as it was written.
package {PACKAGE};
  logic [31:0] id;
endpackage
"""

# Through a register: every simulator then sees the number change on a clock edge, like any state.
_CONTROL_TEXT = f"""
  logic [31:0] {CONTROL} /* verilator public_flat_rw */;
  always_ff @(posedge clk) {SELECTOR} <= {CONTROL};

"""


class SchemaError(ValueError):
    """Mutants overlap in a way that cannot be nested."""


@dataclass
class _Site:
    """One range of source with the mutants that replace it, and the sites inside it."""

    start: int
    end: int
    form: Form
    arms: list[tuple[int, str]] = field(default_factory=list)
    inner: list[_Site] = field(default_factory=list)


def instrument(
    sources: Mapping[str, str], numbered: Mapping[int, Mutant], selector: str = SELECTOR
) -> dict[str, str]:
    """Return the sources with every mutant switched by ``selector == number``.

    Args:
        sources: file name to text.
        numbered: mutant number (1 or more) to mutant; all must be expressible as a schema.
        selector: an expression for the number of the mutant that is alive.

    Raises:
        SchemaError: an edit is not switchable, or two edits overlap without nesting.
    """
    edits: dict[str, list[tuple[int, Edit]]] = defaultdict(list)
    for number, mutant in numbered.items():
        for edit in mutant.edits:
            edits[edit.file].append((number, edit))
    return {
        file: _render(text, 0, len(text), _sites(edits[file]), selector)
        for file, text in sources.items()
    }


def write(folder: Path, sources: Mapping[str, str], mutants: Mapping[int, Mutant]) -> None:
    """Write the instrumented RTL and its file list into a folder, beside a package for the number.

    Raises:
        SourceError: the top file has no end of a module to put the control in.
    """
    folder.mkdir(parents=True, exist_ok=True)
    texts = instrument(sources, mutants)
    top = texts[TOP_FILE]
    at = top.rfind("endmodule")
    if at < 0:
        raise SourceError(f"{TOP_FILE} has no endmodule")
    texts[TOP_FILE] = top[:at] + _CONTROL_TEXT + top[at:]
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="latin-1")
    (folder / PACKAGE_FILE).write_text(_PACKAGE_TEXT)
    (folder / "ga2.f").write_text("\n".join([PACKAGE_FILE, *sources]) + "\n")


def _sites(edits: Sequence[tuple[int, Edit]]) -> list[_Site]:
    """Gather edits of the same range and nest the ranges.

    Raises:
        SchemaError: as ``instrument``.
    """
    by_range: dict[tuple[int, int], _Site] = {}
    for number, edit in edits:
        if edit.form is Form.TEXT:
            raise SchemaError(f"mutant {number} needs a build of its own")
        site = by_range.setdefault((edit.start, edit.end), _Site(edit.start, edit.end, edit.form))
        if site.form is not edit.form:
            raise SchemaError(f"{edit.file}:{edit.start}: both an expression and a statement")
        site.arms.append((number, edit.text))
    roots: list[_Site] = []
    stack: list[_Site] = []
    for site in sorted(by_range.values(), key=lambda s: (s.start, -s.end)):
        while stack and stack[-1].end <= site.start:
            stack.pop()
        if stack and site.end > stack[-1].end:
            raise SchemaError(f"ranges {stack[-1].start} and {site.start} overlap")
        (stack[-1].inner if stack else roots).append(site)
        stack.append(site)
    return roots


def _render(text: str, start: int, end: int, sites: Sequence[_Site], selector: str) -> str:
    """Return ``text[start:end]`` with the sites in it switched."""
    parts = []
    at = start
    for site in sites:
        parts.append(text[at : site.start])
        if site.form is Form.DECLARATION:
            parts += dict.fromkeys(inserted for _, inserted in site.arms)
        else:
            original = _render(text, site.start, site.end, site.inner, selector)
            switch = _expression if site.form is Form.EXPR else _statement
            parts.append(switch(site, original, selector))
        at = site.end
    parts.append(text[at:end])
    return "".join(parts)


def _alive(site: _Site, selector: str) -> str:
    """Return the condition under which any mutant of a site is alive: a comparison a range."""
    numbers = sorted({number for number, _ in site.arms})
    starts = [n for n in numbers if n - 1 not in numbers]
    ends = [n for n in numbers if n + 1 not in numbers]
    return " || ".join(
        f"({selector} - 32'd{low}) <= 32'd{high - low}"
        if high > low
        else f"{selector} == 32'd{low}"
        for low, high in zip(starts, ends, strict=True)
    )


def _expression(site: _Site, original: str, selector: str) -> str:
    *others, (_, last) = site.arms
    arms = "".join(f"({selector} == 32'd{number}) ? ({text}) : " for number, text in others)
    return f"(({_alive(site, selector)}) ? ({arms}({last})) : ({original}))"


def _statement(site: _Site, original: str, selector: str) -> str:
    arms = " ".join(
        f"if ({selector} == 32'd{number}) begin {'' if text == ';' else text} end"
        for number, text in site.arms
    )
    return f"begin if ({_alive(site, selector)}) begin {arms} end else begin {original} end end"
