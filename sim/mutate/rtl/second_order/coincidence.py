"""Two events in one cycle, of which only one is counted, or one twice."""

from __future__ import annotations

from collections.abc import Iterator

from sim.mutate.rtl.mutant import Mutant
from sim.mutate.rtl.rules import short
from sim.mutate.rtl.second_order.module_view import SUMS, Module, Update
from sim.mutate.rtl.syntax_visitor import kind_of, span_of


def coincidence(module: Module) -> Iterator[Mutant]:
    """Yield counters that lose a tick, or take two, when another one ticks in the same cycle."""
    ticks = [update for updates in module.counters().values() for update in updates]
    for mine in ticks:
        for other in ticks:
            condition = _beside(mine, other)
            if other.target == mine.target or not condition:
                continue
            when = f"when {other.target} ticks"
            text = f"begin if (!({condition})) {mine.text} end"
            what = f"{short(mine.text)} lost {when}"
            yield module.mutant("coincidence", mine.span, text, what)
            value = mine.value_node
            sign = SUMS[kind_of(value)]
            step = module.design.text(span_of(mine.span[0], value.right))
            twice = f"{mine.target} <= {mine.target} {sign} ({step}) {sign} ({step});"
            text = f"begin if ({condition}) {twice} else {mine.text} end"
            what = f"{short(mine.text)} twice {when}"
            yield module.mutant("coincidence", mine.span, text, what)


def _beside(mine: Update, other: Update) -> str:
    """Return what must hold for the other to happen, beyond what holds for the first.

    Empty when that is nothing, or when the two exclude each other.
    """
    have = {guard.text for guard in mine.guards}
    more = [guard for guard in other.guards if guard.text not in have]
    for guard in other.guards:
        opposite = guard.text[2:-1] if guard.text.startswith("!(") else f"!({guard.text})"
        if opposite in have:
            return ""
        if guard.selector and any(
            guard.selector == one.selector and guard.text != one.text for one in mine.guards
        ):
            return ""
    return " && ".join(f"({guard.text})" for guard in more)
