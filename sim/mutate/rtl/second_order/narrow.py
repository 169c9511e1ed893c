"""A register, or a sum on a wire, that is one bit too narrow."""

from __future__ import annotations

from collections.abc import Iterator

from sim.mutate.rtl.mutant import Edit, Form, Mutant
from sim.mutate.rtl.second_order.module_view import Module


def narrow(module: Module) -> Iterator[Mutant]:
    """Yield a module's registers and computed wires without their top bit."""
    for name in dict.fromkeys(update.target for update in module.updates):
        signal = module.signals[name]
        if signal.width < 2 or signal.states:
            continue
        edits = tuple(
            Edit(
                *update.span,
                f"begin {update.text} {name}[{signal.width - 1}] <= 1'b0; end",
                Form.STMT,
            )
            for update in module.updates
            if update.target == name
        )
        line = module.design.line(module.file, edits[0].start)
        what = f"{name} has {signal.width - 1} bits"
        yield Mutant("narrow", module.file, line, what, edits)
    for span, name in module.wires:
        info, text = module.design.infos.get(span), module.design.text(span)
        wire = module.signals.get(name)
        computed = info is not None and info.width > 1 and not info.signed and text != name
        if computed and info and wire and wire.width == info.width:
            mask = f"{info.width}'h{(1 << (info.width - 1)) - 1:x}"
            what = f"{name} has {info.width - 1} bits"
            yield module.mutant("narrow", span, f"({text}) & {mask}", what)
