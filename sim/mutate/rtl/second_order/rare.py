"""A value that is wrong only under a rare condition."""

from __future__ import annotations

from collections.abc import Iterator

from sim.mutate.rtl.literals import one
from sim.mutate.rtl.mutant import Mutant
from sim.mutate.rtl.rules import short
from sim.mutate.rtl.second_order.module_view import (
    START,
    SUMS,
    Module,
    Operation,
    Shadow,
    Signal,
    Update,
)
from sim.mutate.rtl.source import Span

COMPARISONS = {
    "EqualityExpression", "InequalityExpression", "LessThanExpression", "LessThanEqualExpression",
    "GreaterThanExpression", "GreaterThanEqualExpression",
}  # fmt: skip
WIDEST_SUM = 16
"""Sums wider than this hardly become all ones in a program."""

LATENCIES = (2, 7, 15, 40)
"""Cycles without an answer, above each of which an answer may be taken wrongly."""

VALID = "_valid"
WAITED = Signal("waited_q", 8, False, (), False)


def rare(module: Module) -> Iterator[Mutant]:
    """Yield values that are wrong under a condition on themselves, their operands or a counter."""
    for update in module.updates:
        if not update.in_reset and module.varies(update.value_node):
            yield from _update(module, update)
    for span, name in module.wires:
        if name in module.signals:
            yield from _value(module, span, name)
    for operation in module.operations:
        yield from _operands(module, operation)


def _wrong(module: Module, span: Span, condition: str, words: str, *more: Shadow) -> Mutant | None:
    """Return a value with its lowest bit flipped under a condition."""
    info, text = module.design.infos.get(span), module.design.text(span)
    if info is None or not info.width:
        return None
    new = f"({condition}) ? (({text}) ^ {one(info.width, info.signed)}) : ({text})"
    return module.mutant("rare", span, new, f"{short(text)} is wrong {words}", *more)


def _value(module: Module, span: Span, name: str) -> Iterator[Mutant]:
    """Yield a value that is wrong when it is all ones, and when its parity is odd."""
    info, text = module.design.infos.get(span), module.design.text(span)
    signal = module.signals[name]
    if info is None or info.width < 2 or info.width != signal.width or signal.states:
        return
    computed = any(sign in text for sign in SUMS.values())
    tests = [(f"^({text})", "when its parity is odd")]
    if info.width <= WIDEST_SUM or not computed:
        ones = f"{info.width}'{'s' if info.signed else ''}h{(1 << info.width) - 1:x}"
        tests.append((f"({text}) == {ones}", "when it is all ones"))
    for condition, words in tests:
        if mutant := _wrong(module, span, condition, words):
            yield mutant


def _update(module: Module, update: Update) -> Iterator[Mutant]:
    if not update.whole or module.signals[update.target].states:
        return
    yield from _value(module, update.value, update.target)
    counters = module.counters()
    if START in module.signals and not update.starts and update.target not in counters:
        for counter in counters:
            for number, word in ((0, "first"), (1, "last")):
                condition = f"{counter} == {module.signals[counter].width}'d{number}"
                words = f"at the {word} element: {counter} is {number}"
                if mutant := _wrong(module, update.value, condition, words):
                    yield mutant
    for event in module.events:
        if event.is_input and event.name.endswith(VALID) and not update.starts:
            waited = Shadow(
                WAITED.name,
                f"\n  logic [7:0] {WAITED.name};",
                f"  always_ff @(posedge clk) begin if ({event.name}) {WAITED.name} <= '0;"
                f" else if ({WAITED.name} != '1) {WAITED.name} <= {WAITED.name} + 8'd1; end\n",
            )
            for cycles in LATENCIES:
                condition = f"{WAITED.name} > 8'd{cycles}"
                words = f"after more than {cycles} cycles without {event.name}"
                if mutant := _wrong(module, update.value, condition, words, waited):
                    yield mutant


def _operands(module: Module, operation: Operation) -> Iterator[Mutant]:
    """Yield a result that is wrong when the operands are equal, or one of them all ones."""
    left, right = operation.left_info, operation.right_info
    sums = operation.kind in SUMS or operation.kind == "MultiplyExpression"
    if operation.constant or not (sums or operation.kind in COMPARISONS):
        return
    if left.width < 2 or right.width < 2:
        return
    tests = []
    if sums:  # of a comparison that is another bound
        equal = f"({operation.left}) == ({operation.right})"
        tests.append((equal, "when the operands are equal"))
    for text, info, word in ((operation.left, left, "left"), (operation.right, right, "right")):
        ones = f"{info.width}'{'s' if info.signed else ''}h{(1 << info.width) - 1:x}"
        tests.append((f"({text}) == {ones}", f"when the {word} operand is all ones"))
    for condition, words in tests:
        if mutant := _wrong(module, operation.span, condition, words):
            yield mutant
