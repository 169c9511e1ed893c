"""What the second-order classes look at in a module: signals, clocked assignments, reads, sums."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pyslang import ast

from sim.mutate.rtl.mutant import Edit, Form, Mutant
from sim.mutate.rtl.source import Info, ParsedDesign, Span, children, compile_texts
from sim.mutate.rtl.syntax_visitor import RESET, Context, SyntaxVisitor, kind_of, span_of

CLOCK = "clk"
START = "start"
"""By convention of this design's units: a cycle of it begins their work, they are idle in it."""

SUMS = {"AddExpression": "+", "SubtractExpression": "-"}
NAMES = ("IdentifierName", "IdentifierSelectName")


@dataclass(frozen=True)
class Signal:
    """A net or variable; ``states`` are the members when it is of an enumeration."""

    name: str
    width: int
    signed: bool
    states: tuple[str, ...]
    is_input: bool


@dataclass(frozen=True)
class Guard:
    """One condition on the way to a statement, and the signals in it.

    A label of a ``case`` has its ``selector`` and ``labels``; those of the default are empty.
    """

    text: str
    names: frozenset[str]
    selector: str = ""
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Update:
    """A clocked assignment to (a part of) the register ``target``: ``value`` is its right side."""

    span: Span
    text: str
    target: str
    whole: bool
    value: Span
    value_node: Any
    guards: tuple[Guard, ...]
    in_reset: bool

    @property
    def starts(self) -> bool:
        """Whether it belongs to the cycle in which the unit starts."""
        return any(guard.text == START for guard in self.guards)

    @property
    def guarded_by(self) -> frozenset[str]:
        """The signals that decide whether it happens."""
        return frozenset().union(*(guard.names for guard in self.guards))


@dataclass(frozen=True)
class Read:
    """A place where a signal, or a part of it, is read.

    ``block`` as that of a context; ``sink`` is the signal that a continuous assignment drives.
    """

    span: Span
    text: str
    name: str
    block: str
    in_condition: bool
    guards: tuple[Guard, ...]


@dataclass(frozen=True)
class Operation:
    """A binary operator: its operands' texts, and the types of these and of its result.

    ``constant``: no signal is in the right operand.
    """

    span: Span
    kind: str
    left: str
    right: str
    left_info: Info
    right_info: Info
    info: Info
    constant: bool


@dataclass(frozen=True)
class Shadow:
    """State that only mutants need: a declaration behind the ports, a process at the end."""

    name: str
    declaration: str
    process: str


@dataclass
class Module:
    """One module of the design."""

    design: ParsedDesign
    file: str
    name: str
    head: int
    tail: int
    signals: dict[str, Signal]
    updates: list[Update] = field(default_factory=list)
    reads: list[Read] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    conditions: list[tuple[Span, frozenset[str], tuple[Guard, ...]]] = field(default_factory=list)
    wires: list[tuple[Span, str]] = field(default_factory=list)

    @property
    def registers(self) -> set[str]:
        """Names of what clocked assignments write."""
        return {update.target for update in self.updates}

    @property
    def clocked(self) -> bool:
        """Whether there is a clock for a shadow."""
        return CLOCK in self.signals

    @property
    def events(self) -> list[Signal]:
        """Signals of one bit, clock and reset apart."""
        return [
            signal
            for signal in self.signals.values()
            if signal.width == 1 and signal.name not in (CLOCK, RESET) and not signal.states
        ]

    @property
    def state(self) -> Signal | None:
        """The register that holds the state of the module's machine, if it has one."""
        found = [s for name in sorted(self.registers) if (s := self.signals[name]).states]
        return found[0] if found else None

    def varies(self, node: Any) -> bool:
        """Whether a signal is in an expression."""
        return bool(_names(node) & self.signals.keys())

    def counters(self) -> dict[str, list[Update]]:
        """Return registers that count: with assignments of themselves plus or minus a constant."""
        found: dict[str, list[Update]] = {}
        for update in self.updates:
            node = update.value_node
            if not update.whole or kind_of(node) not in SUMS or self.varies(node.right):
                continue
            if str(node.left).strip() == update.target:
                found.setdefault(update.target, []).append(update)
        return found

    def shadow(self, name: str, like: Signal, value: str, when: str = "") -> Shadow:
        """Return a register of a signal's type that takes a value in every cycle, or in some."""
        sign = " signed" if like.signed else ""
        size = f" [{like.width - 1}:0]" if like.width > 1 else ""
        taken = f"{name} <= {value};"
        if when:
            taken = f"if ({when}) {taken}"
        if RESET in self.signals and like.name != RESET:
            taken = f"if ({RESET}) {name} <= '0; else {taken}"
        process = f"  always_ff @(posedge {CLOCK}) begin {taken} end\n"
        return Shadow(name, f"\n  logic{sign}{size} {name};", process)

    def before(self, name: str) -> Shadow:
        """Return the register that holds a signal's value of the cycle before."""
        return self.shadow(f"{name.removesuffix('_q')}_before_q", self.signals[name], name)

    def mutant(
        self, kind: str, span: Span, text: str, description: str, *shadows: Shadow
    ) -> Mutant:
        """Return a mutant of one place: a statement when the span ends with one, else a value."""
        file, start, end = span
        form = Form.STMT if self.design.text(span).endswith(";") else Form.EXPR
        edits = [Edit(file, start, end, text, form)]
        for shadow in shadows:
            edits.append(Edit(file, self.head, self.head, shadow.declaration, Form.DECLARATION))
            edits.append(Edit(file, self.tail, self.tail, shadow.process, Form.DECLARATION))
        return Mutant(kind, file, self.design.line(file, start), description, tuple(edits))


def modules(design: ParsedDesign) -> list[Module]:
    """Return the modules of a design in source order, packages left out."""
    types = _signals(design)
    found: dict[str, Module] = {}
    for file, tree in design.trees.items():
        root = tree.root
        for node in [root] if kind_of(root) == "ModuleDeclaration" else children(root.members):
            if kind_of(node) == "ModuleDeclaration" and (name := _name(node)) in types:
                head = span_of(file, node.header)[2]
                tail = span_of(file, node.endmodule)[1]
                found[name] = Module(design, file, name, head, tail, types[name])
    _Reader(design, found).read()
    return list(found.values())


def _name(node: Any) -> str:
    return str(node.header.name.valueText)


def _signals(design: ParsedDesign) -> dict[str, dict[str, Signal]]:
    """Return the nets and variables of every module that is elaborated."""
    compilation, _, _ = compile_texts(design.texts)
    found: dict[str, dict[str, Signal]] = {}

    def enter(instance: Any) -> None:
        name = instance.definition.name
        if name in found:
            return
        found[name] = {}
        ways = {port.name: port.direction for port in instance.body.portList}
        for member in instance.body:
            if isinstance(member, ast.InstanceSymbol):
                enter(member)
            elif isinstance(member, ast.VariableSymbol | ast.NetSymbol) and (
                member.type.isIntegral
            ):
                real = member.type.canonicalType
                states = tuple(value.name for value in real) if member.type.isEnum else ()
                is_input = ways.get(member.name) == ast.ArgumentDirection.In
                found[name][member.name] = Signal(
                    member.name, member.type.bitWidth, member.type.isSigned, states, is_input
                )

    for top in compilation.getRoot().topInstances:
        enter(top)
    return found


class _Reader:
    """Files what the visitor of the syntax tree comes by."""

    def __init__(self, design: ParsedDesign, found: dict[str, Module]) -> None:
        self.design = design
        self.found = found

    def read(self) -> None:
        SyntaxVisitor(self.design, self._expression, self._statement).run()

    def _module(self, context: Context) -> Module | None:
        for node in context.parents:
            if kind_of(node) == "ModuleDeclaration":
                return self.found.get(_name(node))
        return None

    def _statement(self, node: Any, context: Context) -> None:
        module = self._module(context)
        if module is None or context.block != "ff" or kind_of(node) != "ExpressionStatement":
            return
        if kind_of(node.expr) != "NonblockingAssignmentExpression":
            return
        left = node.expr.left
        name = _identifier(left)
        if name not in module.signals:  # memories are no signals
            return
        span = span_of(context.file, node)
        module.updates.append(
            Update(
                span,
                self.design.text(span),
                name,
                kind_of(left) == "IdentifierName",
                span_of(context.file, node.expr.right),
                node.expr.right,
                _guards(self.design, context),
                context.in_reset,
            )
        )

    def _expression(self, node: Any, context: Context) -> None:
        module = self._module(context)
        if module is None or context.left_side or context.block == "function":
            return
        span = span_of(context.file, node)
        kind = kind_of(node)
        parent = kind_of(context.parents[-1])
        if parent in ("Declarator", "AssignmentExpression") and context.block == "assign":
            target = context.parents[-1]
            name = _identifier(target.left if parent == "AssignmentExpression" else target)
            module.wires.append((span, name))
        decides = any(kind_of(one) == "ConditionalPattern" for one in context.parents)
        guards = _guards(self.design, context)
        if parent == "ConditionalPattern" and context.block == "ff":
            module.conditions.append((span, _names(node), guards))
        if kind in NAMES and (name := _identifier(node)) in module.signals:
            text = self.design.text(span)
            module.reads.append(Read(span, text, name, context.block, decides, guards))
        if hasattr(node, "operatorToken") and hasattr(node, "right"):
            self._operation(module, node, span)

    def _operation(self, module: Module, node: Any, span: Span) -> None:
        infos = self.design.infos
        left, right = (span_of(span[0], part) for part in (node.left, node.right))
        if any(one not in infos for one in (span, left, right)):
            return
        module.operations.append(
            Operation(
                span,
                kind_of(node),
                self.design.text(left),
                self.design.text(right),
                infos[left],
                infos[right],
                infos[span],
                not _names(node.right) & module.signals.keys(),
            )
        )


def _identifier(node: Any) -> str:
    """Return the name in a reference, a select of one or a declarator; empty for others."""
    for part in ("identifier", "name"):
        if hasattr(node, part):
            return str(getattr(node, part).valueText)
    return ""


def _names(node: Any) -> frozenset[str]:
    """Return all names in an expression."""
    return frozenset(_identifiers(node))


def _identifiers(node: Any) -> Iterator[str]:
    if kind_of(node) in NAMES:
        yield _identifier(node)
    for child in children(node):
        yield from _identifiers(child)


def _guards(design: ParsedDesign, context: Context) -> tuple[Guard, ...]:
    """Return the conditions that a place in a process stands under, outermost first."""
    found = []
    for node, inner in zip(context.parents, (*context.parents[1:], None), strict=True):
        kind = kind_of(node)
        if kind == "ConditionalStatement" and kind_of(inner or node) != "ConditionalPredicate":
            text = design.text(span_of(context.file, node.predicate))
            in_else = inner is not None and kind_of(inner) == "ElseClause"
            shown = f"!({text})" if in_else else text
            found.append(Guard(shown, _names(node.predicate)))
        elif kind == "CaseStatement" and inner is not None and "CaseItem" in kind_of(inner):
            found.append(_label(design, context.file, node, inner))
    return tuple(found)


def _label(design: ParsedDesign, file: str, case: Any, item: Any) -> Guard:
    selector = design.text(span_of(file, case.expr))
    mine = item if kind_of(item) == "StandardCaseItem" else None
    labels: dict[int, tuple[str, ...]] = {}
    for at, other in enumerate(case.items):
        if kind_of(other) == "StandardCaseItem":
            texts = (design.text(span_of(file, label)) for label in children(other.expressions))
            labels[at] = tuple(texts)
    if mine is None:
        taken = " || ".join(f"{selector} == {one}" for some in labels.values() for one in some)
        return Guard(f"!({taken})", _names(case.expr), selector)
    chosen = tuple(design.text(span_of(file, label)) for label in children(mine.expressions))
    text = " || ".join(f"{selector} == {label}" for label in chosen)
    return Guard(f"({text})", _names(case.expr), selector, chosen)
