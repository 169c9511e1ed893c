"""An enable or a clear that is lost in one state of the module's machine."""

from __future__ import annotations

from collections.abc import Iterator

from sim.mutate.rtl.mutant import Mutant
from sim.mutate.rtl.rules import short
from sim.mutate.rtl.second_order.module_view import START, Guard, Module, Update


def enable(module: Module) -> Iterator[Mutant]:
    """Yield assignments that do not happen in one state, and conditions that do not hold back."""
    state = module.state
    if state is not None:
        for update in module.updates:
            for member in _states(state.name, state.states, update):
                text = f"begin if ({state.name} != {member}) {update.text} end"
                word = "reset" if update.in_reset else "assignment"
                what = f"{word} lost in {member}: {short(update.text)}"
                yield module.mutant("enable", update.span, text, what)
    for span, names, guards in module.conditions:
        text = module.design.text(span)
        for condition in _phases(module, names, guards):
            what = f"{short(text)} holds nothing back while {condition}"
            yield module.mutant("enable", span, f"({text}) || {condition}", what)


def _states(state: str, members: tuple[str, ...], update: Update) -> tuple[str, ...]:
    """Return the states in which an assignment can happen, none when there is only one."""
    if update.starts:
        return ()
    for guard in update.guards:
        if guard.selector == state:
            return guard.labels if len(guard.labels) > 1 else ()
    return members


def _phases(module: Module, names: frozenset[str], guards: tuple[Guard, ...]) -> list[str]:
    """Return the states, or flags of the pipeline, in which a condition may stop to count."""
    around = frozenset().union(*(guard.names for guard in guards))
    if START in names or any(guard.text == START for guard in guards) or "rst" in names:
        return []
    state = module.state
    if state is not None:
        if state.name in names | around:
            return []
        return [f"{state.name} == {member}" for member in state.states]
    flags = {event.name for event in module.events} & module.registers
    return sorted(flags - names - around)
